/* NonMaxSuppression: as with NonZero, the values decide the output's size. */
#include "graph/op/window/suppression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/window/params.h"

/* From @low to @high on each axis. */
struct box {
	float low[2];
	float high[2];
};

static struct box box_of(const struct msd_op_boxes *b, size_t i)
{
	const float *p = b->boxes + 4 * i;
	struct box ret;

	for (size_t k = 0; k < 2; k++) {
		const float from = b->is_center ? p[k] - p[k + 2] / 2 : p[k];
		const float to = b->is_center ? p[k] + p[k + 2] / 2 : p[k + 2];

		ret.low[k] = from < to ? from : to;
		ret.high[k] = from < to ? to : from;
	}
	return ret;
}

static float area(const struct box *x)
{
	return (x->high[0] - x->low[0]) * (x->high[1] - x->low[1]);
}

enum { BLOCK = 16, KEPT = 256 };

/* Boxes that were kept, their limits and areas in arrays for the vector unit. The rest
 * of a block is NaN, which overlaps nothing. */
struct kept {
	size_t n; /* at most KEPT */
	float low[2][KEPT];
	float high[2][KEPT];
	float area[KEPT];
};

static void keep(struct kept *kept, const struct box *x)
{
	const size_t n = kept->n;

	if (n == KEPT)
		return;
	if (n % BLOCK == 0) {
		for (size_t i = n; i < n + BLOCK; i++) {
			kept->low[0][i] = kept->low[1][i] = NAN;
			kept->high[0][i] = kept->high[1][i] = 0;
			kept->area[i] = 0;
		}
	}
	for (size_t a = 0; a < 2; a++) {
		kept->low[a][n] = x->low[a];
		kept->high[a][n] = x->high[a];
	}
	kept->area[n] = area(x);
	kept->n++;
}

/* True if the intersection of two boxes is too large a share of their union. */
static bool overlap(const struct box *x, const struct box *y, float most)
{
	struct box common;

	for (size_t a = 0; a < 2; a++) {
		common.low[a] = x->low[a] > y->low[a] ? x->low[a] : y->low[a];
		common.high[a] = x->high[a] < y->high[a] ? x->high[a] : y->high[a];
		if (!(common.high[a] > common.low[a]))
			return false;
	}
	const float shared = area(&common);
	return shared / (area(x) + area(y) - shared) > most;
}

/* The same as overlap() with one of the kept boxes. */
static bool overlaps_kept(const struct kept *kept, const struct box *x, float most)
{
	const float own = area(x);

	for (size_t i = 0; i < kept->n; i += BLOCK) {
		int n = 0;

		for (size_t k = i; k < i + BLOCK; k++) {
			float low[2];
			float high[2];

			for (size_t a = 0; a < 2; a++) {
				const float from = kept->low[a][k];
				const float to = kept->high[a][k];

				low[a] = x->low[a] > from ? x->low[a] : from;
				high[a] = x->high[a] < to ? x->high[a] : to;
			}
			const float shared = (high[0] - low[0]) * (high[1] - low[1]);
			const float share = shared / (own + kept->area[k] - shared);
			n += (high[0] > low[0]) & (high[1] > low[1]) & (share > most);
		}
		if (n > 0)
			return true;
	}
	return false;
}

/* Keys sort by falling scores; of equal scores the earlier box is first. */
static uint64_t key_of(float score, size_t box)
{
	const float v = score + 0; /* one zero */
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	bits = (bits >> 31) != 0 ? bits : ~(bits | UINT32_C(1) << 31);
	return (uint64_t)bits << 32 | box;
}

/* Place @key at @root of a heap of @n, whose root is the largest. */
static void sift(uint64_t *heap, size_t n, size_t root, uint64_t key)
{
	for (size_t child = 2 * root + 1; child < n; child = 2 * root + 1) {
		child += child + 1 < n && heap[child + 1] > heap[child] ? 1 : 0;
		if (heap[child] < key)
			break;
		heap[root] = heap[child];
		root = child;
	}
	heap[root] = key;
}

static void sort_keys(uint64_t *keys, size_t n)
{
	for (size_t i = n / 2; i > 0; i--)
		sift(keys, n, i - 1, keys[i - 1]);
	for (size_t i = n; i > 1; i--) {
		const uint64_t last = keys[i - 1];

		keys[i - 1] = keys[0];
		sift(keys, i - 1, 0, last);
	}
}

/* Collect the boxes whose scores are high enough, the best first. NaN is never high
 * enough. */
static size_t sort(const struct msd_op_boxes *b, const float *scores, uint64_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_boxes; i++) {
		if (b->has_least ? scores[i] > b->least : scores[i] == scores[i])
			ret[n++] = key_of(scores[i], i);
	}
	sort_keys(ret, n);
	for (size_t i = 0; i < n; i++)
		ret[i] &= UINT32_MAX;
	return n;
}

/* Move the remaining ones of the @n boxes of @image at @ret to its front. */
static size_t leave(const struct msd_op_boxes *b, size_t image, size_t n, uint64_t *ret)
{
	const size_t first = image * b->n_boxes;
	struct kept kept;
	size_t left = 0;

	kept.n = 0;
	for (size_t i = 0; i < n && (int64_t)left < b->most; i++) {
		const struct box x = box_of(b, first + ret[i]);
		bool is_left = !overlaps_kept(&kept, &x, b->overlap);

		for (size_t k = KEPT; is_left && k < left; k++) {
			const struct box y = box_of(b, first + ret[k]);

			is_left = !overlap(&x, &y, b->overlap);
		}
		if (is_left) {
			keep(&kept, &x);
			ret[left++] = ret[i];
		}
	}
	return left;
}

size_t msd_op_suppress(const struct msd_op_boxes *b, uint64_t *scratch,
		       int64_t (*ret_places)[3])
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_images * b->n_classes; i++) {
		const size_t image = i / b->n_classes;
		const size_t sorted = sort(b, b->scores + i * b->n_boxes, scratch);
		const size_t left = leave(b, image, sorted, scratch);

		for (size_t k = 0; ret_places != NULL && k < left; k++) {
			ret_places[n + k][0] = (int64_t)image;
			ret_places[n + k][1] = (int64_t)(i % b->n_classes);
			ret_places[n + k][2] = (int64_t)scratch[k];
		}
		n += left;
	}
	return n;
}

int msd_op_boxes_of(const modser_sg_node *node, struct msd_op_boxes *ret)
{
	const int64_t *boxes = msd_infer_dims(node, 0);
	const int64_t *scores = msd_infer_dims(node, 1);
	double numbers[5] = {0};

	*ret = (struct msd_op_boxes){
		.boxes = msd_infer_value(node, 0),
		.scores = msd_infer_value(node, 1),
		.n_images = (size_t)boxes[0],
		.n_classes = (size_t)scores[1],
		.n_boxes = (size_t)boxes[1],
		.has_least = msd_infer_has(node, 4),
		.is_center = msd_params_non_max_suppression(node).center_point_box != 0,
	};
	for (size_t i = 2; i < 5; i++) {
		const int result = msd_infer_has(node, i)
					   ? msd_infer_number(node, i, &numbers[i])
					   : 0;

		if (result != 0)
			return result;
	}
	ret->most = numbers[2] >= 0x1p53 ? INT64_MAX : (int64_t)numbers[2];
	ret->overlap = (float)numbers[3];
	ret->least = (float)numbers[4];
	if (ret->n_images * ret->n_classes * ret->n_boxes > 0 &&
	    (ret->boxes == NULL || ret->scores == NULL))
		return MSD_INFER_LATER;
	return 0;
}

static int check(const modser_sg_node *node)
{
	const struct msd_dtype single = {MSD_DT_FLOAT, 32, 1};

	if (msd_infer_rank(node, 0, 3) != 0 || msd_infer_rank(node, 1, 3) != 0 ||
	    msd_infer_alike(node, 0, 2) != 0)
		return -1;
	if (!msd_dtype_eq(msd_infer_dtype_of(node, 0), single))
		return msd_infer_fail(node, "its boxes are not of float32");
	const int64_t *boxes = msd_infer_dims(node, 0);
	const int64_t *scores = msd_infer_dims(node, 1);
	if (boxes[1] > UINT32_MAX)
		return msd_infer_fail(node, "it has too many boxes");
	if (boxes[2] != 4 || boxes[0] != scores[0] || boxes[1] != scores[2])
		return msd_infer_fail(node, "its boxes and its scores do not fit");
	return 0;
}

static int infer(modser_sg_node *node)
{
	struct msd_op_boxes b;

	msd_infer_dtype(node, 0, OP_INT64); /* independent of its values */
	if (check(node) != 0)
		return -1;
	const int result = msd_op_boxes_of(node, &b);
	if (result != 0)
		return result;
	uint64_t *scratch = calloc(b.n_boxes + 1, sizeof(*scratch));
	if (scratch == NULL)
		return msd_sg_no_memory(node->graph);
	const int64_t dims[] = {(int64_t)msd_op_suppress(&b, scratch, NULL), 3};
	free(scratch);
	return msd_infer_set(node, dims, 2);
}

const modser_sg_op_schema msd_op_non_max_suppression = {
	.name = "NonMaxSuppression",
	OP_PARAMS(MSD_PARAMS_NON_MAX_SUPPRESSION),
	OP_IN(2, 5),
	.optional_in = 28,
	OP_OUT(1, 1),
	.infer = infer,
};

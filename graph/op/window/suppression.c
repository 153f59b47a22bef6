/* NonMaxSuppression: as with NonZero, the values decide the output's size. */
#include "graph/op/window/suppression.h"

#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/op/op.h"

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

/* True if the intersection of two boxes is too large a share of their union. */
static bool overlap(const struct msd_op_boxes *b, size_t i, size_t k)
{
	const struct box x = box_of(b, i);
	const struct box y = box_of(b, k);
	struct box common;

	for (size_t a = 0; a < 2; a++) {
		common.low[a] = x.low[a] > y.low[a] ? x.low[a] : y.low[a];
		common.high[a] = x.high[a] < y.high[a] ? x.high[a] : y.high[a];
		if (!(common.high[a] > common.low[a]))
			return false;
	}
	const float shared = area(&common);
	return shared / (area(&x) + area(&y) - shared) > b->overlap;
}

/* The higher score first; of equal scores the earlier box. */
static int compare(const void *a, const void *b, void *ctx)
{
	const float *scores = ctx;
	const size_t x = *(const size_t *)a;
	const size_t y = *(const size_t *)b;

	if (scores[x] != scores[y])
		return scores[x] > scores[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Collect the boxes whose scores are high enough, the best first. NaN is never high
 * enough. */
static size_t sort(const struct msd_op_boxes *b, const float *scores, size_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_boxes; i++) {
		if (b->has_least ? scores[i] > b->least : scores[i] == scores[i])
			ret[n++] = i;
	}
	if (n > 0)
		qsort_r(ret, n, sizeof(*ret), compare, (void *)(uintptr_t)scores);
	return n;
}

/* Move the remaining ones of the @n boxes of @image at @ret to its front. */
static size_t leave(const struct msd_op_boxes *b, size_t image, size_t n, size_t *ret)
{
	const size_t first = image * b->n_boxes;
	size_t left = 0;

	for (size_t i = 0; i < n && (int64_t)left < b->most; i++) {
		bool is_left = true;

		for (size_t k = 0; is_left && k < left; k++)
			is_left = !overlap(b, first + ret[i], first + ret[k]);
		if (is_left)
			ret[left++] = ret[i];
	}
	return left;
}

size_t msd_op_suppress(const struct msd_op_boxes *b, size_t *scratch,
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
		.is_center = modser_sg_op_int(modser_sg_node_op(node),
					      "center_point_box") != 0,
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

static const modser_sg_op_field fields[] = {
	OP_OWN_INT("center_point_box", 0),
};

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
	size_t *scratch = calloc(b.n_boxes + 1, sizeof(*scratch));
	if (scratch == NULL)
		return msd_sg_no_memory(node->graph);
	const int64_t dims[] = {(int64_t)msd_op_suppress(&b, scratch, NULL), 3};
	free(scratch);
	return msd_infer_set(node, dims, 2);
}

const modser_sg_op_schema msd_op_non_max_suppression = {
	.name = "NonMaxSuppression",
	OP_FIELDS(fields),
	OP_IN(2, 5),
	.optional_in = 28,
	OP_OUT(1, 1),
	.infer = infer,
};

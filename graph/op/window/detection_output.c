/*
 * DetectionOutput. As with NonZero, the values decide the output's size. For each class
 * of an image the boxes with a high enough score are sorted, and each box is dropped
 * that overlaps a better one; then only the best of the image stay.
 */
#include <math.h>
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/window/detect.h"
#include "graph/op/window/params.h"

struct box {
	float low[2];
	float high[2];
};

struct found {
	size_t class;
	size_t prior;
	float score;
	size_t order; /* in which it was found */
};

struct work {
	const struct msd_op_detect *d;
	size_t image;
	struct found *found; /* of the image: room for all */
	size_t n_found;
	struct found *sorted; /* of a class */
	struct box *boxes;
};

static struct box decode(const struct work *w, size_t class, size_t prior)
{
	const struct msd_op_detect *d = w->d;
	const size_t n = d->shares_boxes ? 1 : d->n_classes;
	const float *by = d->offsets + 4 * ((w->image * d->n_priors + prior) * n +
					    (d->shares_boxes ? 0 : class));
	const float *at = d->priors + 4 * prior;
	const float *variances = d->priors + 4 * (d->n_priors + prior);
	struct box ret;

	for (size_t i = 0; i < 2; i++) {
		const float low = d->has_variance ? by[i] : variances[i] * by[i];
		const float high =
			d->has_variance ? by[i + 2] : variances[i + 2] * by[i + 2];
		const float size = at[i + 2] - at[i];

		if (d->code == MSD_BOX_CENTER) {
			const float center = (at[i] + at[i + 2]) / 2 + low * size;
			const float extent = expf(high) * size;

			ret.low[i] = center - extent / 2;
			ret.high[i] = center + extent / 2;
		} else {
			const float unit = d->code == MSD_BOX_CORNER ? 1 : size;

			ret.low[i] = at[i] + low * unit;
			ret.high[i] = at[i + 2] + high * unit;
		}
	}
	return ret;
}

static float area(const struct box *b)
{
	if (b->high[0] < b->low[0] || b->high[1] < b->low[1])
		return 0;
	return (b->high[0] - b->low[0]) * (b->high[1] - b->low[1]);
}

/* The share of the intersection in the union. */
static float overlap(const struct box *a, const struct box *b)
{
	struct box both;

	for (size_t i = 0; i < 2; i++) {
		both.low[i] = a->low[i] > b->low[i] ? a->low[i] : b->low[i];
		both.high[i] = a->high[i] < b->high[i] ? a->high[i] : b->high[i];
		if (!(both.high[i] > both.low[i]))
			return 0;
	}
	const float shared = area(&both);
	return shared / (area(a) + area(b) - shared);
}

static int compare_scores(const void *a, const void *b)
{
	const struct found *x = a;
	const struct found *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_orders(const void *a, const void *b)
{
	const struct found *x = a;
	const struct found *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

/* Add the boxes of one class to w->found. */
static void find_class(struct work *w, size_t class)
{
	const struct msd_op_detect *d = w->d;
	const float *scores = d->scores + w->image * d->n_priors * d->n_classes;
	float limit = d->overlap;
	const size_t first = w->n_found;
	size_t n = 0;

	for (size_t i = 0; i < d->n_priors; i++) {
		const float score = scores[i * d->n_classes + class];

		if (score > d->least)
			w->sorted[n++] = (struct found){class, i, score, i};
	}
	if (n > 0)
		qsort(w->sorted, n, sizeof(*w->sorted), compare_scores);
	if (d->most_of_class >= 0 && (uint64_t)d->most_of_class < n)
		n = (size_t)d->most_of_class;
	for (size_t i = 0; i < n; i++) {
		const struct box box = decode(w, class, w->sorted[i].prior);
		bool is_left = true;

		for (size_t k = first; is_left && k < w->n_found; k++)
			is_left = overlap(&box, &w->boxes[k - first]) <= limit;
		if (!is_left)
			continue;
		w->boxes[w->n_found - first] = box;
		w->found[w->n_found] = w->sorted[i];
		w->found[w->n_found].order = w->n_found;
		w->n_found++;
		if (d->eta < 1 && limit > 0.5f)
			limit *= d->eta;
	}
}

static void find_image(struct work *w)
{
	const struct msd_op_detect *d = w->d;

	w->n_found = 0;
	for (size_t c = 0; c < d->n_classes; c++) {
		if ((int64_t)c != d->background)
			find_class(w, c);
	}
	if (d->most_of_image < 0 || w->n_found <= (uint64_t)d->most_of_image)
		return;
	qsort(w->found, w->n_found, sizeof(*w->found), compare_scores);
	w->n_found = (size_t)d->most_of_image;
	if (w->n_found > 0)
		qsort(w->found, w->n_found, sizeof(*w->found), compare_orders);
}

static void put_row(const struct work *w, const struct found *f, float *row)
{
	const struct box box = decode(w, f->class, f->prior);

	row[0] = (float)w->image;
	row[1] = (float)f->class;
	row[2] = f->score;
	row[3] = box.low[0];
	row[4] = box.low[1];
	row[5] = box.high[0];
	row[6] = box.high[1];
}

bool msd_op_detect_run(const struct msd_op_detect *d,
		       float (*ret_rows)[MSD_DETECT_COLUMNS], size_t *ret_n)
{
	struct work w = {.d = d};
	size_t n = 0;

	*ret_n = 0;
	if (d->n_images == 0)
		return true;
	w.found = calloc(d->n_priors * d->n_classes + 1, sizeof(*w.found));
	w.sorted = calloc(d->n_priors + 1, sizeof(*w.sorted));
	w.boxes = calloc(d->n_priors + 1, sizeof(*w.boxes));
	const bool has_memory = w.found != NULL && w.sorted != NULL && w.boxes != NULL;
	for (; has_memory && w.image < d->n_images; w.image++) {
		find_image(&w);
		for (size_t i = 0; ret_rows != NULL && i < w.n_found; i++)
			put_row(&w, &w.found[i], ret_rows[n + i]);
		n += w.n_found;
	}
	free(w.found);
	free(w.sorted);
	free(w.boxes);
	*ret_n = n > 0 ? n : d->n_images;
	for (size_t i = 0; n == 0 && ret_rows != NULL && i < d->n_images; i++) {
		ret_rows[i][0] = (float)i;
		for (size_t k = 1; k < MSD_DETECT_COLUMNS; k++)
			ret_rows[i][k] = -1;
	}
	return has_memory;
}

int msd_op_detect_of(const modser_sg_node *node, struct msd_op_detect *ret)
{
	const struct msd_params_detection_output p = msd_params_detection_output(node);
	const size_t priors = msd_infer_ndim(node, 2);

	*ret = (struct msd_op_detect){
		.offsets = msd_infer_value(node, 0),
		.scores = msd_infer_value(node, 1),
		.priors = msd_infer_value(node, 2),
		.n_images = (size_t)msd_infer_dims(node, 0)[0],
		.n_priors = (size_t)(msd_infer_product(node, 2, 0, priors) / 8),
		.n_classes = (size_t)p.num_classes,
		.shares_boxes = p.share_location != 0,
		.background = p.background_label_id,
		.code = (enum msd_box_code)p.code_type,
		.has_variance = p.variance_encoded_in_target != 0,
		.least = p.confidence_threshold,
		.overlap = p.nms_threshold,
		.eta = p.eta,
		.most_of_class = p.nms_top_k,
		.most_of_image = p.keep_top_k,
	};
	if (ret->n_images * ret->n_priors > 0 &&
	    (ret->offsets == NULL || ret->scores == NULL || ret->priors == NULL))
		return MSD_INFER_LATER;
	return 0;
}

/* Offsets are [images, priors x 4], scores [images, priors x classes], priors
 * [1, 2, priors x 4], each with any axes of 1 behind it. */
static int check(const modser_sg_node *node)
{
	const struct msd_params_detection_output p = msd_params_detection_output(node);
	int64_t rest[3];
	int64_t boxes;
	int64_t scores;

	for (size_t i = 0; i < 3; i++) {
		if (msd_infer_ndim(node, i) < 2)
			return msd_infer_fail(node, "input %zu has one dimension", i);
		rest[i] = msd_infer_product(node, i, 1, msd_infer_ndim(node, i));
	}
	const int64_t classes = p.num_classes;
	const int64_t of_box = p.share_location != 0 ? 1 : classes;
	if (__builtin_mul_overflow(rest[2] / 8, 4 * of_box, &boxes) ||
	    __builtin_mul_overflow(rest[2] / 8, classes, &scores) || rest[2] % 8 != 0 ||
	    msd_infer_dims(node, 2)[0] != 1 || rest[0] != boxes || rest[1] != scores ||
	    msd_infer_dims(node, 0)[0] != msd_infer_dims(node, 1)[0])
		return msd_infer_fail(node, "its boxes, scores and priors do not fit");
	return 0;
}

static int infer(modser_sg_node *node)
{
	const struct msd_dtype single = {MSD_DT_FLOAT, 32, 1};
	struct msd_op_detect d;
	size_t n;

	if (msd_infer_alike(node, 0, 3) != 0 ||
	    MSD_PARAM_RANGE(node, detection_output, num_classes, 1, INT32_MAX) != 0 ||
	    MSD_PARAM_RANGE(node, detection_output, code_type, MSD_BOX_CORNER,
			    MSD_BOX_CORNER_SIZE) != 0 ||
	    check(node) != 0)
		return -1;
	if (!msd_dtype_eq(msd_infer_dtype_of(node, 0), single))
		return msd_infer_fail(node, "its boxes are not of float32");
	const int result = msd_op_detect_of(node, &d);
	if (result == MSD_INFER_LATER) { /* the other extents are known */
		const int64_t open[] = {1, 1, -1, MSD_DETECT_COLUMNS};

		return msd_infer_set(node, open, 4) == 0 ? MSD_INFER_LATER : -1;
	}
	if (result != 0)
		return result;
	if (!msd_op_detect_run(&d, NULL, &n))
		return msd_sg_no_memory(node->graph);
	const int64_t dims[] = {1, 1, (int64_t)n, MSD_DETECT_COLUMNS};
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_detection_output = {
	.name = "DetectionOutput",
	OP_PARAMS(MSD_PARAMS_DETECTION_OUTPUT),
	OP_IN(3, 3),
	OP_OUT(1, 1),
	.infer = infer,
};

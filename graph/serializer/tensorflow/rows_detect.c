/* Operators on boxes: the suppression of those that overlap, and crops of images. */
#include <float.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/build/compose.h"
#include "graph/serializer/tensorflow/layer.h"

/* Inputs are boxes, scores, the largest number, and perhaps two thresholds. Version 2
 * has no threshold of scores, version 5 has a sigma that must be 0. */
static modser_sg_tensor *suppress(struct tf_layer *x)
{
	struct msd_suppression s = {.boxes = tf_in(x, 0)};

	if (s.boxes == NULL || (s.scores = tf_in(x, 1)) == NULL ||
	    (s.max = tf_in(x, 2)) == NULL || (s.overlap = tf_in(x, 3)) == NULL ||
	    (x->n_in > 4 && (s.least = tf_in(x, 4)) == NULL))
		return NULL;
	if (x->n_in > 5) {
		const modser_sg_tensor *sigma = tf_in(x, 5);
		float v = 0;

		if (sigma == NULL)
			return NULL;
		if (!tf_is_const(sigma) || sigma->bytes != sizeof(v))
			return tf_fail(x, "its sigma is no constant");
		memcpy(&v, sigma->data, sizeof(v));
		if (v != 0) {
			return tf_fail(x, "its sigma is %g; only 0 can be read",
				       (double)v);
		}
	}
	return msd_build_suppress(&x->b, &s);
}

static modser_sg_tensor *load_suppression(struct tf_layer *x)
{
	return tf_cast(x, suppress(x), "int32");
}

/* The indices, in version 5 their scores, and their number. */
static int load_padded_suppression(struct tf_layer *x)
{
	const size_t n_out = x->row->type == 5 ? 3 : 2;
	modser_sg_tensor *at = suppress(x);
	modser_sg_tensor *scores = n_out == 3 && at != NULL ? tf_in(x, 1) : NULL;

	if (at == NULL || !tf_outs(x, n_out) ||
	    tf_out(x, n_out - 1, msd_build_count(&x->b, at, "int32")) != 0)
		return -1;
	if (scores != NULL)
		scores = msd_build_gather(&x->b, scores, at, 0);
	at = tf_cast(x, at, "int32");
	if (tf_bool(x, "pad_to_max_output_size", false)) {
		at = msd_build_fill(&x->b, at, tf_in(x, 2));
		scores = msd_build_fill(&x->b, scores, tf_in(x, 2));
	}
	if (n_out == 3 && tf_out(x, 1, scores) != 0)
		return -1;
	return tf_out(x, 0, at);
}

/* The places of the @n rows of each box's crop on an axis, from -1 to 1 over the image.
 * A box begins in column @low, and ends in the column after the next. */
static modser_sg_tensor *places(struct tf_layer *x, modser_sg_tensor *boxes,
				int64_t low, int64_t n)
{
	float steps[1024];
	const int64_t dims[] = {1, n};

	if (n < 1 || n > (int64_t)(sizeof(steps) / sizeof(steps[0]))) {
		return tf_fail(x, "its crops of %lld places cannot be read",
			       (long long)n);
	}
	for (int64_t i = 0; i < n; i++)
		steps[i] = n > 1 ? (float)i / (float)(n - 1) : 0.5f;
	modser_sg_tensor *from = msd_build_range(&x->b, boxes, 1, low, low + 1);
	modser_sg_tensor *to = msd_build_range(&x->b, boxes, 1, low + 2, low + 3);
	modser_sg_tensor *at =
		tf_two(x, "Mul", from != NULL ? tf_two(x, "Sub", to, from) : NULL,
		       msd_build_floats(&x->b, steps, dims, 2));
	at = tf_two(x, "Mul", tf_two(x, "Add", at, from), msd_build_number(&x->b, 2));
	return tf_two(x, "Sub", at, msd_build_number(&x->b, 1));
}

/* True outside of the image: beyond -1 and 1 by more than rounding. */
static modser_sg_tensor *outside(struct tf_layer *x, modser_sg_tensor *at)
{
	return msd_build_compare(&x->b, MSD_COMPARE_GREATER, tf_one(x, "Absval", at),
				 msd_build_number(&x->b, 1.000001f));
}

/* Inputs are images, boxes of corners from 0 to 1, the image of each box and the size
 * of a crop. The corners of a crop are those of its box. */
static modser_sg_tensor *load_crop(struct tf_layer *x)
{
	modser_sg_tensor *images = tf_in(x, 0);
	modser_sg_tensor *boxes = images != NULL ? tf_in(x, 1) : NULL;
	modser_sg_tensor *of = boxes != NULL ? tf_in(x, 2) : NULL;
	int64_t size[2];
	size_t n;

	if (of == NULL || !tf_known(x, 3, size, 2, &n))
		return NULL;
	if (n != 2 || images->ndim != 4 || images->dims[1] < 2 || images->dims[2] < 2)
		return tf_fail(x, "the extents of its images are not known");
	const int64_t as_h[] = {-1, size[0], 1, 1};
	const int64_t as_w[] = {-1, 1, size[1], 1};
	modser_sg_tensor *h = places(x, boxes, 0, size[0]);
	modser_sg_tensor *w = places(x, boxes, 1, size[1]);
	if (h == NULL || w == NULL)
		return NULL;
	h = tf_reshape(x, h, as_h, 4);
	w = tf_reshape(x, w, as_w, 4);
	modser_sg_tensor *const either[] = {outside(x, h), outside(x, w)};
	modser_sg_tensor *is_out = tf_done(
		msd_build_int(msd_build_node(&x->b, "Logical", either, 2), "type", 1));
	if (is_out == NULL || modser_sg_tensor_set_dtype(is_out, "bool") != 0)
		return NULL;
	/* both at each place: [boxes, height, width, (w, h)] */
	modser_sg_tensor *zero = msd_build_number(&x->b, 0);
	modser_sg_tensor *const both[] = {
		tf_two(x, "Add", w, tf_two(x, "Mul", h, zero)),
		tf_two(x, "Add", h, tf_two(x, "Mul", w, zero))};
	modser_sg_tensor *planes = tf_to_planes(x, tf_cast(x, images, "float32"));
	modser_sg_tensor *const in[] = {msd_build_gather(&x->b, planes, of, 0),
					tf_concat(x, both, 2, 3)};
	modser_sg_tensor *t = msd_build_node(&x->b, "GridSample", in, 2);
	t = msd_build_text(t, "mode",
			   tf_is(x, "method", "nearest") ? "nearest" : "bilinear");
	t = msd_build_text(t, "padding_mode", "border");
	t = tf_done(msd_build_int(t, "align_corners", 1));
	return msd_build_choose(
		&x->b, is_out,
		msd_build_number(&x->b, tf_float(x, "extrapolation_value", 0)),
		tf_to_nhwc(x, t));
}

/* ---- All classes of all images at once ---- */

/* The values of one image: the first places, the best scores first. */
struct combined {
	modser_sg_tensor *boxes;   /* [n, 1, 4], then [places, 4] */
	modser_sg_tensor *scores;  /* [n, classes], then [places] */
	modser_sg_tensor *classes; /* [places] */
	modser_sg_tensor *count;   /* [1] */
	modser_sg_tensor *per_class, *overlap, *least;
	int64_t places;
};

/* @t with @places rows behind it that have the number @v. */
static modser_sg_tensor *with_rest(const struct tf_layer *x, modser_sg_tensor *t,
				   float v, int64_t places, int64_t width)
{
	const int64_t dims[] = {places, width};
	modser_sg_tensor *const parts[] = {
		t, tf_two(x, "Expand", msd_build_number(&x->b, v),
			  msd_build_ints(&x->b, dims, width > 0 ? 2 : 1))};

	return t != NULL ? tf_concat(x, parts, 2, 0) : NULL;
}

static bool combine(const struct tf_layer *x, struct combined *c)
{
	static const int64_t boxes[] = {1, -1, 4};
	static const int64_t rows[] = {-1, 4};
	static const int64_t flat[] = {-1};
	static const int64_t turn[] = {1, 0};
	static const int64_t first = 0;
	modser_sg_tensor *const in[] = {
		tf_reshape(x, c->boxes, boxes, 3),
		tf_with_axes(x, "Unsqueeze", tf_transpose(x, c->scores, turn, 2),
			     &first, 1),
		c->per_class, c->overlap, c->least};
	modser_sg_tensor *found =
		tf_done(msd_build_node(&x->b, "NonMaxSuppression", in, 5));
	modser_sg_tensor *class = msd_build_range(&x->b, found, 1, 1, 2);
	modser_sg_tensor *box = msd_build_range(&x->b, found, 1, 2, 3);
	modser_sg_tensor *const both[] = {box, class};
	if (box == NULL || class == NULL)
		return false;
	modser_sg_tensor *scores =
		tf_two(x, "GatherND", c->scores, tf_concat(x, both, 2, 1));
	scores = with_rest(x, scores, -FLT_MAX, c->places, 0);
	modser_sg_tensor *const best[] = {scores, msd_build_ints(&x->b, &c->places, 1)};
	scores = msd_build_node(&x->b, "TopKV2", best, 2);
	modser_sg_tensor *at = msd_build_output(&x->b, scores);
	scores = msd_build_int(msd_build_int(scores, "axis", -1), "sorted", 1);
	scores = at != NULL ? tf_done(scores) : NULL;
	if (scores == NULL || modser_sg_tensor_set_dtype(at, "int64") != 0)
		return false;
	modser_sg_tensor *taken =
		msd_build_gather(&x->b, tf_reshape(x, c->boxes, rows, 2),
				 tf_reshape(x, box, flat, 1), 0);
	c->boxes = msd_build_gather(&x->b, with_rest(x, taken, 0, c->places, 4), at, 0);
	class = tf_cast(x, tf_reshape(x, class, flat, 1), "float32");
	c->classes =
		msd_build_gather(&x->b, with_rest(x, class, 0, c->places, 0), at, 0);
	modser_sg_tensor *is_one = msd_build_compare(&x->b, MSD_COMPARE_GREATER, scores,
						     msd_build_number(&x->b, -FLT_MAX));
	c->scores = msd_build_choose(&x->b, is_one, scores, msd_build_number(&x->b, 0));
	c->count = tf_cast(x, is_one, "int32");
	c->count = msd_build_node(&x->b, "Reduction", &c->count, 1); /* a sum */
	c->count = tf_done(msd_build_list(msd_build_int(c->count, "keepdim", 1), "axes",
					  &first, 1));
	return c->boxes != NULL && c->classes != NULL && c->scores != NULL &&
	       c->count != NULL;
}

/* Image @i of @t, without the axis of images. */
static modser_sg_tensor *image(const struct tf_layer *x, modser_sg_tensor *t, int64_t i)
{
	const int64_t first = 0;

	return tf_with_axes(x, "Squeeze", msd_build_range(&x->b, t, 0, i, i + 1),
			    &first, 1);
}

enum { MAX_IMAGES = 64 };

/* The inputs, and how many boxes an image gets. */
static bool read_combined(struct tf_layer *x, modser_sg_tensor *in[static 6],
			  int64_t *ret_places)
{
	int64_t per_class;

	for (size_t i = 0; i < 6; i++) {
		in[i] = tf_in(x, i);
		if (in[i] == NULL)
			return false;
	}
	if (!tf_known_one(x, 2, &per_class) || !tf_known_one(x, 3, ret_places))
		return false;
	const modser_sg_tensor *boxes = in[0];
	const modser_sg_tensor *scores = in[1];
	if (boxes->ndim != 4 || boxes->dims[2] != 1 || scores->ndim != 3 ||
	    boxes->dims[0] < 1 || boxes->dims[0] > MAX_IMAGES || scores->dims[2] < 1 ||
	    per_class < 1 || *ret_places < 1 || *ret_places > INT16_MAX) {
		(void)tf_fail(x, "it can be read with one box for all classes, and a "
				 "known number of images, at most 64");
		return false;
	}
	if (tf_bool(x, "pad_per_class", false) &&
	    per_class < *ret_places / scores->dims[2])
		*ret_places = per_class * scores->dims[2];
	return true;
}

enum { BOXES, SCORES, CLASSES, COUNT, PARTS };

/* The boxes of image @i. */
static bool combine_image(struct tf_layer *x, modser_sg_tensor *const *in,
			  int64_t places, int64_t i,
			  modser_sg_tensor *ret[static PARTS])
{
	static const int64_t one[] = {1};
	static const int64_t first = 0;
	struct combined c = {
		.boxes = image(x, in[0], i),
		.scores = image(x, in[1], i),
		.per_class = tf_reshape(x, tf_cast(x, in[2], "int64"), one, 1),
		.overlap = tf_reshape(x, in[4], one, 1),
		.least = tf_reshape(x, in[5], one, 1),
		.places = places,
	};

	if (!combine(x, &c))
		return false;
	if (tf_bool(x, "clip_boxes", true))
		c.boxes = tf_clip(x, c.boxes, 0, 1);
	ret[BOXES] = tf_with_axes(x, "Unsqueeze", c.boxes, &first, 1);
	ret[SCORES] = tf_with_axes(x, "Unsqueeze", c.scores, &first, 1);
	ret[CLASSES] = tf_with_axes(x, "Unsqueeze", c.classes, &first, 1);
	ret[COUNT] = c.count;
	return true;
}

static int load_combined(struct tf_layer *x)
{
	modser_sg_tensor *made[MAX_IMAGES][PARTS];
	modser_sg_tensor *parts[MAX_IMAGES];
	modser_sg_tensor *in[6];
	int64_t places;

	if (!read_combined(x, in, &places))
		return -1;
	const int64_t n = in[0]->dims[0];
	for (int64_t i = 0; i < n; i++) {
		if (!combine_image(x, in, places, i, made[i]))
			return -1;
	}
	if (!tf_outs(x, PARTS))
		return -1;
	for (size_t k = 0; k < PARTS; k++) {
		for (int64_t i = 0; i < n; i++)
			parts[i] = made[i][k];
		modser_sg_tensor *t = tf_concat(x, parts, (size_t)n, 0);

		if (t == NULL ||
		    modser_sg_tensor_set_dtype(t, k == COUNT ? "int32" : "float32") !=
			    0 ||
		    tf_out(x, k, t) != 0)
			return -1;
	}
	return 0;
}

const struct tf_row tf_rows_detect[] = {
	{"CombinedNonMaxSuppression", 6, 6, .run = load_combined},
	{"CropAndResize", 4, 4, .one = load_crop},
	{"NonMaxSuppressionV2", 4, 4, .one = load_suppression},
	{"NonMaxSuppressionV3", 5, 5, .one = load_suppression},
	{"NonMaxSuppressionV4", 5, 5, .run = load_padded_suppression, .type = 4},
	{"NonMaxSuppressionV5", 6, 6, .run = load_padded_suppression, .type = 5},
	{0},
};

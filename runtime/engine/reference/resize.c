/* Resize: each element is a sum over some places of each axis, with a weight for each.
 */
#include "graph/op/resize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/kernels.h"
#include "runtime/engine/walk.h"
#include "runtime/value/element.h"

#define MAX_TAPS 4

/* What one place of an axis of the output is made of. */
struct taps {
	size_t n; /* 0: it lies outside, and is extrapolation_value */
	int64_t at[MAX_TAPS];
	double weight[MAX_TAPS];
};

struct axis {
	struct taps *taps; /* one for each place of the output */
	int64_t step;      /* in the input */
};

struct resize {
	const struct msd_kernel_call *c;
	struct msd_dtype dtype;
	size_t ndim;
	struct axis axes[MODSER_GRAPH_MAX_NDIM];
	int64_t index[MODSER_GRAPH_MAX_NDIM];
};

static bool is_mode(const struct msd_kernel_call *c, const char *param,
		    const char *mode)
{
	return strcmp(msd_kernel_text(c, param), mode) == 0;
}

/* An end of the region that is looked at, input 1. */
static double region(const struct msd_kernel_call *c, size_t i, double otherwise)
{
	if (!msd_kernel_has(c, 1) || i >= msd_kernel_in_elements(c, 1))
		return otherwise;
	return msd_number_load(msd_kernel_in_dtype(c, 1), c->in[1], (int64_t)i).f;
}

/* Where place @i of the output lies in the input. */
static double coordinate(const struct msd_kernel_call *c, const struct msd_op_scale *s,
			 int64_t n, double i)
{
	const char *mode = msd_kernel_text(c, "coordinate_transformation_mode");
	const double in = (double)n;
	const double out = (double)s->out;
	const double long_out = s->scale * in;

	if (strcmp(mode, "align_corners") == 0)
		return out <= 1 ? 0 : i * (in - 1) / (long_out - 1);
	if (strcmp(mode, "asymmetric") == 0)
		return i / s->scale;
	if (strcmp(mode, "pytorch_half_pixel") == 0)
		return out <= 1 ? 0 : (i + 0.5) / s->scale - 0.5;
	if (strcmp(mode, "half_pixel_symmetric") == 0) {
		const double shift = in / 2 * (1 - out / long_out);

		return shift + (i + 0.5) / s->scale - 0.5;
	}
	if (strcmp(mode, "tf_half_pixel_for_nn") == 0)
		return (i + 0.5) / s->scale;
	if (strcmp(mode, "tf_crop_and_resize") == 0) {
		const size_t half = msd_kernel_in_elements(c, 1) / 2;
		const double from = region(c, s->place, 0);
		const double to = region(c, half + s->place, 1);

		if (out <= 1)
			return 0.5 * (from + to) * (in - 1);
		return from * (in - 1) + i * (to - from) * (in - 1) / (out - 1);
	}
	return (i + 0.5) / s->scale - 0.5; /* half_pixel */
}

static int64_t within(double v, int64_t n)
{
	return v < 0 ? 0 : v > (double)(n - 1) ? n - 1 : (int64_t)v;
}

static double nearest(const struct msd_kernel_call *c, double x)
{
	if (is_mode(c, "nearest_mode", "floor"))
		return floor(x);
	if (is_mode(c, "nearest_mode", "ceil"))
		return ceil(x);
	if (is_mode(c, "nearest_mode", "round_prefer_ceil"))
		return floor(x + 0.5);
	return ceil(x - 0.5);
}

/* The weight of a neighbour at distance @x, by the cubic of @a. */
static double cubic(double x, double a)
{
	x = fabs(x);
	if (x <= 1)
		return (a + 2) * x * x * x - (a + 3) * x * x + 1;
	if (x < 2)
		return a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a;
	return 0;
}

static void take_cubic(const struct msd_kernel_call *c, double x, int64_t n,
		       struct taps *ret)
{
	const bool excludes = msd_kernel_int(c, "exclude_outside") != 0;
	const double a = (double)msd_kernel_float(c, "cubic_coeff_a");
	const double low = floor(x);
	double sum = 0;

	ret->n = MAX_TAPS;
	for (size_t k = 0; k < MAX_TAPS; k++) {
		const double at = low - 1 + (double)k;
		const bool is_out = at < 0 || at > (double)(n - 1);

		ret->at[k] = within(at, n);
		ret->weight[k] = excludes && is_out ? 0 : cubic(x - at, a);
		sum += ret->weight[k];
	}
	for (size_t k = 0; excludes && k < MAX_TAPS; k++)
		ret->weight[k] /= sum;
}

static void take(const struct msd_kernel_call *c, const struct msd_op_scale *s,
		 int64_t n, int64_t i, struct taps *ret)
{
	const double x = coordinate(c, s, n, (double)i);

	*ret = (struct taps){.n = 1, .weight = {1}};
	if (is_mode(c, "coordinate_transformation_mode", "tf_crop_and_resize") &&
	    (x < 0 || x > (double)(n - 1))) {
		ret->n = 0;
	} else if (s->scale == 1 && s->out == n && s->place == SIZE_MAX) {
		ret->at[0] = i;
	} else if (is_mode(c, "mode", "nearest")) {
		ret->at[0] = within(nearest(c, x), n);
	} else if (is_mode(c, "mode", "linear")) {
		const double inside = x < 0                 ? 0
				      : x > (double)(n - 1) ? (double)(n - 1)
							    : x;

		ret->n = 2;
		ret->at[0] = (int64_t)inside;
		ret->at[1] = within(inside + 1, n);
		ret->weight[1] = inside - (double)ret->at[0];
		ret->weight[0] = 1 - ret->weight[1];
	} else {
		take_cubic(c, x, n, ret);
	}
}

/* The sum over axes from @axis on, of the elements that begin at @at. */
static double sum_axes(const struct resize *r, size_t axis, int64_t at)
{
	double sum = 0;

	if (axis == r->ndim)
		return msd_number_load(r->dtype, r->c->in[0], at).f;
	const struct taps *t = &r->axes[axis].taps[r->index[axis]];
	for (size_t k = 0; k < t->n; k++) {
		if (t->weight[k] != 0) {
			sum += t->weight[k] *
			       sum_axes(r, axis + 1,
					at + t->at[k] * r->axes[axis].step);
		}
	}
	return sum;
}

static bool is_outside(const struct resize *r)
{
	for (size_t i = 0; i < r->ndim; i++) {
		if (r->axes[i].taps[r->index[i]].n == 0)
			return true;
	}
	return false;
}

/* Integers can only be moved: their places have one element each. */
static void put(const struct resize *r, int64_t i)
{
	void *y = r->c->out[0];
	int64_t at = 0;

	if (msd_number_kind(r->dtype) == MSD_N_FLOAT) {
		const double v =
			is_outside(r)
				? (double)msd_kernel_float(r->c, "extrapolation_value")
				: sum_axes(r, 0, 0);

		msd_number_store_float(r->dtype, y, i, v);
		return;
	}
	for (size_t k = 0; k < r->ndim; k++)
		at += r->axes[k].taps[r->index[k]].at[0] * r->axes[k].step;
	msd_number_store(r->dtype, y, i, msd_number_load(r->dtype, r->c->in[0], at).i);
}

static msd_err check(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const bool is_float = msd_number_kind(msd_kernel_in_dtype(c, 0)) == MSD_N_FLOAT;
	const bool is_nearest = is_mode(c, "mode", "nearest");

	if (!is_nearest && !is_mode(c, "mode", "linear") &&
	    !is_mode(c, "mode", "cubic"))
		return msd_diag_set(d, MSD_UNSUPPORTED, "its mode is not known");
	if (!is_nearest && !is_float)
		return msd_diag_set(d, MSD_UNSUPPORTED, "integers have no means");
	if (msd_kernel_int(c, "antialias") != 0)
		return msd_diag_set(d, MSD_UNSUPPORTED, "antialias cannot be run");
	return MSD_OK;
}

static bool make_axes(struct resize *r, const struct msd_op_scale *scales)
{
	const int64_t *in = msd_kernel_in_dims(r->c, 0);

	for (size_t i = 0; i < r->ndim; i++) {
		r->axes[i].taps =
			calloc((size_t)scales[i].out + 1, sizeof(struct taps));
		if (r->axes[i].taps == NULL)
			return false;
		for (int64_t k = 0; k < scales[i].out; k++)
			take(r->c, &scales[i], in[i], k, &r->axes[i].taps[k]);
	}
	return true;
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t n = (int64_t)msd_kernel_out_elements(c, 0);
	struct resize r = {.c = c,
			   .dtype = msd_kernel_in_dtype(c, 0),
			   .ndim = msd_kernel_in_ndim(c, 0)};
	struct msd_op_scale scales[MODSER_GRAPH_MAX_NDIM];
	int64_t steps[MODSER_GRAPH_MAX_NDIM];
	msd_err err = check(c, d);

	if (err != MSD_OK)
		return err;
	if (msd_op_resize_scales(c->node, scales) != 0)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "its scales are not known");
	if (!make_axes(&r, scales))
		err = msd_diag_no_memory(d);
	msd_walk_steps(msd_kernel_in_dims(c, 0), r.ndim, steps);
	for (size_t i = 0; i < r.ndim; i++)
		r.axes[i].step = steps[i];
	for (int64_t i = 0; err == MSD_OK && i < n; i++) {
		put(&r, i);
		for (size_t k = r.ndim; k > 0; k--) {
			if (++r.index[k - 1] < scales[k - 1].out)
				break;
			r.index[k - 1] = 0;
		}
	}
	for (size_t i = 0; i < r.ndim; i++)
		free(r.axes[i].taps);
	return err;
}

const struct msd_kernel msd_kernel_resize = {"Resize", run, MSD_TAKES_NUMBERS};

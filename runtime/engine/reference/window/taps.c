/*
 * An output position of a resized axis has an input coordinate, which the coordinate
 * mode determines. It uses the nearest position, two or four neighbours, or as many
 * as a filter covers. With antialias the filter is wider by the factor by which the
 * axis shrinks.
 */
#include "runtime/engine/reference/window/taps.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op/move/params.h"
#include "runtime/value/element.h"

/* Parameters of the Resize whose axis it is. */
static struct msd_params_resize params(const struct msd_kernel_call *c)
{
	return msd_params_resize(c->node);
}

static bool is(const char *mode, const char *text)
{
	return strcmp(mode, text) == 0;
}

/* An end of the region of interest, input 1. */
static double region(const struct msd_kernel_call *c, size_t i, double otherwise)
{
	if (!msd_kernel_has(c, 1) || i >= msd_kernel_in_elements(c, 1))
		return otherwise;
	return msd_number_load(msd_kernel_in_dtype(c, 1), c->in[1], (int64_t)i).f;
}

/* Input coordinate of output position @i. Computed in float32, as in ONNX's evaluator
 * and ONNX Runtime: there (1 + 0.5) / 0.6 is 2.5, exactly between two positions. */
static double coordinate(const struct msd_kernel_call *c, const struct msd_op_scale *s,
			 int64_t n, double i)
{
	const char *mode = params(c).coordinate_transformation_mode;
	const double in = (double)n;
	const double out = (double)s->out;
	const double long_out = s->scale * in;
	const float from_edge = ((float)i + 0.5f) / (float)s->scale;

	if (strcmp(mode, "align_corners") == 0)
		return out <= 1 ? 0 : i * (in - 1) / (long_out - 1);
	if (strcmp(mode, "asymmetric") == 0)
		return (double)((float)i / (float)s->scale);
	if (strcmp(mode, "pytorch_half_pixel") == 0)
		return out <= 1 ? 0 : (double)(from_edge - 0.5f);
	if (strcmp(mode, "half_pixel_symmetric") == 0) {
		const float reached = (float)out / ((float)s->scale * (float)in);

		return (double)((float)(in / 2) * (1 - reached) + from_edge - 0.5f);
	}
	if (strcmp(mode, "tf_half_pixel_for_nn") == 0)
		return (double)from_edge;
	if (strcmp(mode, "tf_crop_and_resize") == 0) {
		const size_t half = msd_kernel_in_elements(c, 1) / 2;
		const double from = region(c, s->place, 0);
		const double to = region(c, half + s->place, 1);

		if (out <= 1)
			return 0.5 * (from + to) * (in - 1);
		return from * (in - 1) + i * (to - from) * (in - 1) / (out - 1);
	}
	return (double)(from_edge - 0.5f); /* half_pixel */
}

static int64_t within(double v, int64_t n)
{
	return v < 0 ? 0 : v > (double)(n - 1) ? n - 1 : (int64_t)v;
}

/*
 * Few midpoints are exact in float32. A coordinate that is off by no more than its
 * rounding error is rounded like a midpoint, as in ONNX Runtime. The tolerance is
 * limited, because for large coordinates the error would be a large part of the
 * distance between positions.
 */
static double nearest(const struct msd_kernel_call *c, double x)
{
	const double rounding = 4 * (double)FLT_EPSILON * (fabs(x) + 1);
	const double half = 0.5 + fmin(rounding, 1.0 / 1024);

	if (is(params(c).nearest_mode, "floor"))
		return floor(x);
	if (is(params(c).nearest_mode, "ceil"))
		return ceil(x);
	if (is(params(c).nearest_mode, "round_prefer_ceil"))
		return floor(x + half);
	return ceil(x - half);
}

/* The weight of a neighbour at distance @x, with cubic coefficient @a. */
static double cubic(double x, double a)
{
	x = fabs(x);
	if (x <= 1)
		return (a + 2) * x * x * x - (a + 3) * x * x + 1;
	if (x < 2)
		return a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a;
	return 0;
}

/* The weight of a neighbour at distance @x. */
static double weigh(const struct msd_kernel_call *c, double x)
{
	if (is(params(c).mode, "linear"))
		return fabs(x) < 1 ? 1 - fabs(x) : 0;
	return cubic(x, (double)params(c).cubic_coeff_a);
}

/* Reach of the filter to each side, in input positions. */
static double reach_of(const struct msd_kernel_call *c, double shrink)
{
	return (is(params(c).mode, "linear") ? 1 : 2) / shrink;
}

/* Factor between 0 and 1 by which antialias scales distances: the filter is wider by
 * its inverse, and 1 is normal width. */
static double shrink_of(const struct msd_kernel_call *c, const struct msd_op_scale *s)
{
	return params(c).antialias != 0 && s->scale < 1 ? s->scale : 1;
}

/* The maximum number of input positions per output position. If the output is not
 * empty, this is bounded by a small multiple of the input axis. */
static size_t most_of(const struct msd_kernel_call *c, const struct msd_op_scale *s)
{
	if (s->out == 0 || is(params(c).mode, "nearest"))
		return 1;
	return 2 * (size_t)ceil(reach_of(c, shrink_of(c, s)));
}

static void divide(struct msd_taps *t, double by)
{
	for (size_t k = 0; k < t->n; k++)
		t->weight[k] /= by;
}

/* Neighbours outside are replaced by the ends, or excluded. */
static void take_around(const struct msd_kernel_call *c, const struct msd_op_scale *s,
			double x, int64_t n, struct msd_taps *ret)
{
	const bool excludes = params(c).exclude_outside != 0;
	const double shrink = shrink_of(c, s);
	const size_t half = most_of(c, s) / 2;
	double sum = 0;

	ret->n = 2 * half;
	for (size_t k = 0; k < ret->n; k++) {
		const double at = floor(x) + 1 - (double)half + (double)k;
		const bool is_out = at < 0 || at > (double)(n - 1);

		ret->at[k] = within(at, n);
		ret->weight[k] = excludes && is_out ? 0 : weigh(c, (x - at) * shrink);
		sum += ret->weight[k];
	}
	if (excludes || shrink < 1)
		divide(ret, sum);
}

static void take_linear(double x, int64_t n, struct msd_taps *ret)
{
	const double inside = x < 0 ? 0 : x > (double)(n - 1) ? (double)(n - 1) : x;

	ret->n = 2;
	ret->at[0] = (int64_t)inside;
	ret->at[1] = within(inside + 1, n);
	ret->weight[1] = inside - (double)ret->at[0];
	ret->weight[0] = 1 - ret->weight[1];
}

static void take(const struct msd_kernel_call *c, const struct msd_op_scale *s,
		 int64_t n, int64_t i, struct msd_taps *ret)
{
	const double x = coordinate(c, s, n, (double)i);

	ret->n = 1;
	ret->weight[0] = 1;
	if (is(params(c).coordinate_transformation_mode, "tf_crop_and_resize") &&
	    (x < 0 || x > (double)(n - 1))) {
		ret->n = 0;
	} else if (s->scale == 1 && s->out == n && s->place == SIZE_MAX) {
		ret->at[0] = i;
	} else if (is(params(c).mode, "nearest")) {
		ret->at[0] = within(nearest(c, x), n);
	} else if (is(params(c).mode, "linear") && shrink_of(c, s) == 1) {
		take_linear(x, n, ret);
	} else {
		take_around(c, s, x, n, ret);
	}
}

bool msd_taps_make(const struct msd_kernel_call *c, const struct msd_op_scale *s,
		   int64_t n, struct msd_taps_axis *ret)
{
	const size_t n_out = (size_t)s->out;
	const size_t most = most_of(c, s);

	ret->places = calloc(n_out + 1, sizeof(*ret->places));
	ret->at = calloc(n_out * most + 1, sizeof(*ret->at));
	ret->weight = calloc(n_out * most + 1, sizeof(*ret->weight));
	if (ret->places == NULL || ret->at == NULL || ret->weight == NULL)
		return false;
	for (size_t i = 0; i < n_out; i++) {
		ret->places[i].at = ret->at + i * most;
		ret->places[i].weight = ret->weight + i * most;
		take(c, s, n, (int64_t)i, &ret->places[i]);
	}
	return true;
}

void msd_taps_finish(struct msd_taps_axis *axis)
{
	free(axis->places);
	free(axis->at);
	free(axis->weight);
}

/* Resize: each element is a weighted sum over positions along each axis. */
#include "graph/op/move/resize.h"

#include <math.h>
#include <string.h>

#include "graph/op/move/params.h"
#include "runtime/engine/reference/ranges.h"
#include "runtime/engine/reference/window/taps.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"
#include "runtime/kernel/walk.h"

struct axis {
	struct msd_taps_axis taps;
	int64_t step;     /* stride in the input */
	size_t taps_each; /* taps of each position, stored without gaps; 0: they differ
			   */
	bool is_plain;    /* each position has one tap with a weight of 1 */
};

struct resize {
	const struct msd_kernel_call *c;
	struct msd_dtype dtype;
	size_t ndim;
	bool is_nearest;
	bool is_cut;    /* integers are truncated; else they are rounded */
	double outside; /* the value of elements outside */
	struct axis axes[MODSER_GRAPH_MAX_NDIM];
	/* The row, and the position on the last axis where the block starts. */
	int64_t index[MODSER_GRAPH_MAX_NDIM];
};

/* Sums of @n positions with @taps taps each; @taps is a constant where it is inlined. A
 * tap without weight adds nothing, even if its element is infinite. */
static inline __attribute__((always_inline)) void
sum_equal(struct msd_dtype dtype, const void *x, int64_t from, const struct msd_taps *t,
	  const size_t taps, size_t n, double *ret)
{
	const int64_t *at = t->at;
	const double *weight = t->weight;

	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		for (size_t k = 0; k < taps; k++) {
			const double w = weight[i * taps + k];
			const double v =
				msd_row_at(dtype, x, (size_t)(from + at[i * taps + k]));

			sum += w != 0 ? w * v : 0;
		}
		ret[i] = sum;
	}
}

static double sum_taps(const struct resize *r, int64_t from, const struct msd_taps *t)
{
	double sum = 0;

	for (size_t k = 0; k < t->n; k++) {
		if (t->weight[k] != 0) {
			sum += t->weight[k] * msd_row_at(r->dtype, r->c->in[0],
							 (size_t)(from + t->at[k]));
		}
	}
	return sum;
}

/* A block of sums along the last axis. */
static void sum_last(const struct resize *r, int64_t at, size_t n, double *ret)
{
	const struct axis *axis = &r->axes[r->ndim - 1];
	const struct msd_taps *t = &axis->taps.places[r->index[r->ndim - 1]];
	const void *x = r->c->in[0];

	if (axis->taps_each == 1) {
		sum_equal(r->dtype, x, at, t, 1, n, ret);
	} else if (axis->taps_each == 2) {
		sum_equal(r->dtype, x, at, t, 2, n, ret);
	} else {
		for (size_t i = 0; i < n; i++)
			ret[i] = sum_taps(r, at, &t[i]);
	}
}

/* Sums over the axes from @axis on, of the elements at @at: a block of the last axis.
 */
static void sum_axes(const struct resize *r, size_t axis, int64_t at, size_t n,
		     double *ret)
{
	double more[MSD_ROW_BLOCK];

	if (axis + 1 == r->ndim) {
		sum_last(r, at, n, ret);
		return;
	}
	const struct axis *a = &r->axes[axis];
	const struct msd_taps *t = &a->taps.places[r->index[axis]];
	if (a->is_plain) { /* one weight of 1: the sum is that of the next axis */
		sum_axes(r, axis + 1, at + t->at[0] * a->step, n, ret);
		return;
	}
	for (size_t i = 0; i < n; i++)
		ret[i] = 0;
	for (size_t k = 0; k < t->n; k++) {
		if (t->weight[k] == 0)
			continue;
		sum_axes(r, axis + 1, at + t->at[k] * a->step, n, more);
		for (size_t i = 0; i < n; i++)
			ret[i] += t->weight[k] * more[i];
	}
}

/* The axes but the last. */
static bool is_row_outside(const struct resize *r)
{
	for (size_t i = 0; i + 1 < r->ndim; i++) {
		if (r->axes[i].taps.places[r->index[i]].n == 0)
			return true;
	}
	return false;
}

/*
 * Convert a sum of doubles to an integer. Linear sums are truncated, as in ONNX
 * Runtime. Other modes are rounded: ONNX Runtime rounds them or does not support
 * them, and ONNX's evaluator rounds. A value just below an integer is rounding error
 * of the sum and counts as that integer.
 */
static double whole(const struct resize *r, double v)
{
	const double rounding = ldexp(fabs(v) + 1, -40);

	return r->is_cut ? trunc(v + copysign(rounding, v)) : nearbyint(v);
}

/* A cubic may exceed the range of its inputs: clamp small integers. */
static double bounded(struct msd_dtype dtype, double v)
{
	const bool is_unsigned = dtype.code != MSD_DT_INT;
	const double end = ldexp(1, dtype.bits - (is_unsigned ? 0 : 1));
	const double low = is_unsigned ? 0 : -end;

	return v < low ? low : v > end - 1 ? end - 1 : v;
}

/* Start of the input row that the nearest positions are in. */
static int64_t row_of(const struct resize *r)
{
	int64_t row = 0;

	for (size_t k = 0; k + 1 < r->ndim; k++)
		row += r->axes[k].taps.places[r->index[k]].at[0] * r->axes[k].step;
	return row;
}

/* Floats that are only moved. They are sums, so a negative zero becomes 0. */
static void move_singles(const struct resize *r, const struct msd_taps *t, size_t to,
			 size_t n)
{
	const float *x = (const float *)r->c->in[0] + row_of(r);
	float *y = (float *)r->c->out[0] + to;
	const int64_t *at = t->at;

	for (size_t i = 0; i < n; i++)
		y[i] = 0 + x[at[i]];
}

/* Elements that are only moved are copied, exactly to the last bit of an int64. */
static void move(const struct resize *r, const struct msd_taps *t, size_t to, size_t n)
{
	const size_t size = r->dtype.bits / 8u;
	const int64_t row = row_of(r);

	for (size_t i = 0; i < n; i++) {
		if (t[i].n == 0) {
			msd_row_put(r->dtype, r->c->out[0], to + i, r->outside);
		} else {
			memcpy((uint8_t *)r->c->out[0] + (to + i) * size,
			       (const uint8_t *)r->c->in[0] +
				       (size_t)(row + t[i].at[0]) * size,
			       size);
		}
	}
}

/* Elements @to and on of the output, from the position of @r. */
static void put(const struct resize *r, size_t to, size_t n)
{
	const bool is_float = msd_number_kind(r->dtype) == MSD_N_FLOAT;
	const bool is_out = is_row_outside(r);
	const struct msd_taps *t =
		&r->axes[r->ndim - 1].taps.places[r->index[r->ndim - 1]];
	double v[MSD_ROW_BLOCK];

	if (!is_float && r->is_nearest && !is_out) {
		move(r, t, to, n);
		return;
	}
	if (r->is_nearest && !is_out && msd_row_is_single(r->dtype) &&
	    r->axes[r->ndim - 1].taps_each == 1) {
		move_singles(r, t, to, n);
		return;
	}
	if (!is_out)
		sum_axes(r, 0, 0, n, v);
	for (size_t i = 0; !is_out && !is_float && i < n; i++)
		v[i] = bounded(r->dtype, whole(r, v[i]));
	for (size_t i = 0; i < n; i++) {
		if (is_out || t[i].n == 0)
			v[i] = r->outside;
	}
	msd_row_store(r->dtype, r->c->out[0], to, n, v);
}

/* Rows of the output. */
static void run_rows(const void *ctx, size_t first, size_t count)
{
	const int64_t *out = msd_kernel_out_dims(((const struct resize *)ctx)->c, 0);
	struct resize r = *(const struct resize *)ctx;
	const size_t last = r.ndim - 1;

	for (size_t row = first; row < first + count; row++) {
		size_t left = row;

		for (size_t k = last; k > 0; k--) {
			r.index[k - 1] = (int64_t)(left % (size_t)out[k - 1]);
			left /= (size_t)out[k - 1];
		}
		for (int64_t i = 0; i < out[last]; i += MSD_ROW_BLOCK) {
			const int64_t n = out[last] - i;

			r.index[last] = i;
			put(&r, row * (size_t)out[last] + (size_t)i,
			    n < MSD_ROW_BLOCK ? (size_t)n : MSD_ROW_BLOCK);
		}
	}
}

static msd_err check(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_resize p = msd_params_resize(c->node);

	if (strcmp(p.mode, "nearest") != 0 && strcmp(p.mode, "linear") != 0 &&
	    strcmp(p.mode, "cubic") != 0)
		return msd_diag_set(d, MSD_UNSUPPORTED, "its mode is not known");
	return MSD_OK;
}

static void set_kind(struct axis *a, size_t n)
{
	const struct msd_taps *t = a->taps.places;

	a->is_plain = true;
	a->taps_each = n > 0 ? t[0].n : 0;
	for (size_t i = 0; i < n; i++) {
		a->is_plain = a->is_plain && t[i].n == 1 && t[i].weight[0] == 1;
		if (t[i].n != a->taps_each || t[i].at != t[0].at + i * a->taps_each)
			a->taps_each = 0;
	}
}

static bool make_axes(struct resize *r, const struct msd_op_scale *scales)
{
	const int64_t *in = msd_kernel_in_dims(r->c, 0);

	for (size_t i = 0; i < r->ndim; i++) {
		struct axis *a = &r->axes[i];

		if (!msd_taps_make(r->c, &scales[i], in[i], &a->taps))
			return false;
		set_kind(a, (size_t)scales[i].out);
	}
	return true;
}

enum { COST_NS = 4 }; /* of an element */

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_resize p = msd_params_resize(c->node);
	const size_t n = msd_kernel_out_elements(c, 0);
	struct resize r = {.c = c,
			   .dtype = msd_kernel_in_dtype(c, 0),
			   .ndim = msd_kernel_in_ndim(c, 0),
			   .is_nearest = strcmp(p.mode, "nearest") == 0,
			   .is_cut = strcmp(p.mode, "linear") == 0 && p.antialias == 0};
	struct msd_op_scale scales[MODSER_GRAPH_MAX_NDIM];
	int64_t steps[MODSER_GRAPH_MAX_NDIM];
	msd_err err = check(c, d);

	r.outside = (double)p.extrapolation_value;
	if (msd_number_kind(r.dtype) != MSD_N_FLOAT)
		r.outside = bounded(r.dtype, r.outside);
	if (err != MSD_OK)
		return err;
	if (r.ndim == 0) {
		memcpy(c->out[0], c->in[0], msd_kernel_size(c));
		return MSD_OK;
	}
	if (msd_op_resize_scales(c->node, scales) != 0)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "its scales are not known");
	if (!make_axes(&r, scales))
		err = msd_diag_no_memory(d);
	msd_walk_steps(msd_kernel_in_dims(c, 0), r.ndim, steps);
	for (size_t i = 0; i < r.ndim; i++)
		r.axes[i].step = steps[i];
	if (err == MSD_OK && n > 0) {
		const size_t width = (size_t)scales[r.ndim - 1].out;

		msd_ranges_each(n / width, width * COST_NS, run_rows, &r);
	}
	for (size_t i = 0; i < r.ndim; i++)
		msd_taps_finish(&r.axes[i].taps);
	return err;
}

const struct msd_kernel msd_kernel_resize = {"Resize", run, MSD_TAKES_NUMBERS};

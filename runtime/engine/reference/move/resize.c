/* Resize: each element is a weighted sum over positions along each axis. */
#include "graph/op/move/resize.h"

#include <math.h>
#include <string.h>

#include "runtime/engine/reference/window/taps.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"
#include "runtime/kernel/walk.h"

struct axis {
	struct msd_taps_axis taps;
	int64_t step; /* stride in the input */
};

struct resize {
	const struct msd_kernel_call *c;
	struct msd_dtype dtype;
	size_t ndim;
	bool is_nearest;
	bool is_cut; /* integers are truncated; else they are rounded */
	struct axis axes[MODSER_GRAPH_MAX_NDIM];
	int64_t index[MODSER_GRAPH_MAX_NDIM];
};

static bool is_mode(const struct msd_kernel_call *c, const char *param,
		    const char *mode)
{
	return strcmp(msd_kernel_text(c, param), mode) == 0;
}

/* The sum over the axes from @axis on, of the elements at @at. */
static double sum_axes(const struct resize *r, size_t axis, int64_t at)
{
	double sum = 0;

	if (axis == r->ndim)
		return msd_row_at(r->dtype, r->c->in[0], (size_t)at);
	const struct msd_taps *t = &r->axes[axis].taps.places[r->index[axis]];
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

/* Copy elements that are only moved, exactly to the last bit of an int64. */
static void move(const struct resize *r, int64_t i)
{
	int64_t at = 0;

	for (size_t k = 0; k < r->ndim; k++)
		at += r->axes[k].taps.places[r->index[k]].at[0] * r->axes[k].step;
	msd_number_store(r->dtype, r->c->out[0], i,
			 msd_number_load(r->dtype, r->c->in[0], at).i);
}

static void put(const struct resize *r, int64_t i)
{
	const bool is_float = msd_number_kind(r->dtype) == MSD_N_FLOAT;
	const bool is_out = is_outside(r);

	if (!is_float && !is_out && r->is_nearest) {
		move(r, i);
		return;
	}
	double v = is_out ? (double)msd_kernel_float(r->c, "extrapolation_value")
			  : sum_axes(r, 0, 0);
	if (!is_float)
		v = bounded(r->dtype, is_out ? v : whole(r, v));
	msd_row_put(r->dtype, r->c->out[0], (size_t)i, v);
}

static msd_err check(const struct msd_kernel_call *c, struct msd_diag *d)
{
	if (!is_mode(c, "mode", "nearest") && !is_mode(c, "mode", "linear") &&
	    !is_mode(c, "mode", "cubic"))
		return msd_diag_set(d, MSD_UNSUPPORTED, "its mode is not known");
	return MSD_OK;
}

static bool make_axes(struct resize *r, const struct msd_op_scale *scales)
{
	const int64_t *in = msd_kernel_in_dims(r->c, 0);

	for (size_t i = 0; i < r->ndim; i++) {
		if (!msd_taps_make(r->c, &scales[i], in[i], &r->axes[i].taps))
			return false;
	}
	return true;
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t n = (int64_t)msd_kernel_out_elements(c, 0);
	struct resize r = {.c = c,
			   .dtype = msd_kernel_in_dtype(c, 0),
			   .ndim = msd_kernel_in_ndim(c, 0),
			   .is_nearest = is_mode(c, "mode", "nearest"),
			   .is_cut = is_mode(c, "mode", "linear") &&
				     msd_kernel_int(c, "antialias") == 0};
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
		msd_taps_finish(&r.axes[i].taps);
	return err;
}

const struct msd_kernel msd_kernel_resize = {"Resize", run, MSD_TAKES_NUMBERS};

/* Resize: each element is a sum over some places of each axis, with a weight for each.
 */
#include "graph/op/resize.h"

#include <string.h>

#include "runtime/engine/kernels.h"
#include "runtime/engine/reference/taps.h"
#include "runtime/engine/walk.h"
#include "runtime/value/element.h"

struct axis {
	struct msd_taps_axis taps;
	int64_t step; /* in the input */
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

/* The sum over axes from @axis on, of the elements that begin at @at. */
static double sum_axes(const struct resize *r, size_t axis, int64_t at)
{
	double sum = 0;

	if (axis == r->ndim)
		return msd_number_load(r->dtype, r->c->in[0], at).f;
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
		at += r->axes[k].taps.places[r->index[k]].at[0] * r->axes[k].step;
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
		msd_taps_finish(&r.axes[i].taps);
	return err;
}

const struct msd_kernel msd_kernel_resize = {"Resize", run, MSD_TAKES_NUMBERS};

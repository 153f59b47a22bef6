/* Gather, and Pad. */
#include <string.h>

#include "graph/op/move/pad.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/walk.h"
#include "runtime/value/element.h"

static msd_err run_gather(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_kernel_int(c, "axis"), ndim);
	const size_t row = msd_kernel_inner(dims, ndim, axis) * msd_kernel_size(c);
	const size_t outer = msd_kernel_outer(dims, axis);
	const int64_t n = (int64_t)msd_kernel_in_elements(c, 1);
	const uint8_t *x = c->in[0];
	uint8_t *y = c->out[0];

	for (size_t o = 0; o < outer; o++) {
		for (int64_t k = 0; k < n; k++, y += row) {
			int64_t i;
			const msd_err err =
				msd_kernel_index(c, 1, k, dims[axis], &i, d);

			if (err != MSD_OK)
				return err;
			if (row > 0) {
				memcpy(y,
				       x + (o * (size_t)dims[axis] + (size_t)i) * row,
				       row);
			}
		}
	}
	return MSD_OK;
}

/* Map index @i, which may be out of range, to an element of an axis of @n; -1: none. */
static int64_t inside(int64_t i, int64_t n, int64_t mode)
{
	const int64_t turn = 2 * (n - 1);

	if (i >= 0 && i < n)
		return i;
	switch (mode) {
	case MSD_PAD_EDGE:
		return i < 0 ? 0 : n - 1;
	case MSD_PAD_REFLECT:
		if (n == 1)
			return 0;
		i = (i % turn + turn) % turn;
		return i < n ? i : turn - i;
	case MSD_PAD_WRAP:
		return (i % n + n) % n;
	default:
		return -1;
	}
}

/* Source of output element @i; -1: padding. */
static int64_t source_of(const struct msd_kernel_call *c,
			 const struct msd_op_pads *pads, const int64_t *steps,
			 const int64_t *out_steps, size_t i)
{
	const int64_t mode = msd_kernel_int(c, "mode");
	int64_t left = (int64_t)i;
	int64_t at = 0;

	for (size_t k = 0; k < msd_kernel_in_ndim(c, 0); k++) {
		const int64_t place = inside(left / out_steps[k] - pads->before[k],
					     msd_kernel_in_dims(c, 0)[k], mode);

		if (place < 0)
			return -1;
		at += place * steps[k];
		left %= out_steps[k];
	}
	return at;
}

static msd_err run_pad(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t size = msd_kernel_size(c);
	const size_t n = msd_kernel_out_elements(c, 0);
	int64_t steps[MODSER_GRAPH_MAX_NDIM];
	int64_t out_steps[MODSER_GRAPH_MAX_NDIM];
	struct msd_op_pads pads;
	uint64_t padding[2] = {0}; /* room for an element of any type */

	if (msd_op_pad_amounts(c->node, &pads) != 0)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "what it adds is not known");
	if (msd_kernel_has(c, 2)) {
		memcpy(padding, c->in[2], size);
	} else if (msd_number_kind(dtype) == MSD_N_FLOAT) {
		msd_number_store_float(dtype, padding, 0,
				       (double)msd_kernel_float(c, "value"));
	}
	msd_walk_steps(msd_kernel_in_dims(c, 0), ndim, steps);
	msd_walk_steps(msd_kernel_out_dims(c, 0), ndim, out_steps);
	for (size_t i = 0; i < n; i++) {
		const int64_t at = source_of(c, &pads, steps, out_steps, i);
		const void *x = at < 0 ? (const void *)padding
				       : (const uint8_t *)c->in[0] + (size_t)at * size;

		memcpy((uint8_t *)c->out[0] + i * size, x, size);
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_gather = {"Gather", run_gather, MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_pad = {"Pad", run_pad, MSD_TAKES_BYTES};

/* GatherElements and GatherND: an index for each element, or tuples of indices. */
#include <string.h>

#include "graph/op/index/params.h"
#include "runtime/engine/reference/index/index.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/walk.h"

static msd_err run_elements(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t size = msd_kernel_size(c);
	uint8_t *y = c->out[0];
	struct msd_walk w;
	int64_t step;
	int64_t n;
	int64_t at = 0;

	msd_index_walk(c, msd_params_gather_elements(c->node).axis, &w, &step, &n);
	for (msd_walk_begin(&w); w.row < w.n_rows; msd_walk_next(&w)) {
		for (int64_t k = 0; k < w.n; k++, at++, y += size) {
			int64_t i;
			const msd_err err = msd_kernel_index(c, 1, at, n, &i, d);

			if (err != MSD_OK)
				return err;
			i = w.at[0] + k * msd_walk_step(&w, 0) + i * step;
			memcpy(y, (const uint8_t *)c->in[0] + (size_t)i * size, size);
		}
	}
	return MSD_OK;
}

static msd_err run_nd(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t stacked = (size_t)msd_params_gather_nd(c->node).batch_dims;
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t n_indices = msd_kernel_in_ndim(c, 1);
	const size_t wide = (size_t)msd_kernel_in_dims(c, 1)[n_indices - 1];
	const size_t n = msd_kernel_outer(msd_kernel_in_dims(c, 1), n_indices - 1);
	const size_t stacks = msd_kernel_outer(dims, stacked);
	const size_t stack = msd_kernel_inner(dims, ndim, stacked) *
			     (stacked < ndim ? (size_t)dims[stacked] : 1);
	const size_t row =
		msd_kernel_outer(dims + stacked + wide, ndim - stacked - wide) *
		msd_kernel_size(c);
	uint8_t *y = c->out[0];

	for (size_t i = 0; i < n && row > 0; i++, y += row) {
		const uint8_t *x = (const uint8_t *)c->in[0] +
				   i / (n / stacks) * stack * msd_kernel_size(c);
		int64_t at;
		const msd_err err = msd_index_tuple(c, i, stacked, &at, d);

		if (err != MSD_OK)
			return err;
		memcpy(y, x + (size_t)at * row, row);
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_gather_elements = {"GatherElements", run_elements,
						      MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_gather_nd = {"GatherND", run_nd, MSD_TAKES_BYTES};

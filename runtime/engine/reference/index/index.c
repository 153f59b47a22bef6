#include "runtime/engine/reference/index/index.h"

void msd_index_walk(const struct msd_kernel_call *c, int64_t own_axis,
		    struct msd_walk *ret, int64_t *ret_step, int64_t *ret_n)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(own_axis, ndim);
	int64_t steps[MODSER_GRAPH_MAX_NDIM] = {0};

	msd_walk_steps(msd_kernel_in_dims(c, 0), ndim, steps);
	*ret_step = steps[axis];
	*ret_n = msd_kernel_in_dims(c, 0)[axis];
	steps[axis] = 0;
	msd_walk_init(ret, msd_kernel_in_dims(c, 1), ndim);
	msd_walk_operand(ret, steps, 0);
}

msd_err msd_index_tuple(const struct msd_kernel_call *c, size_t i, size_t stacked,
			int64_t *ret, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const int64_t wide = msd_kernel_in_dims(c, 1)[msd_kernel_in_ndim(c, 1) - 1];
	int64_t row = 0;

	for (int64_t k = 0; k < wide; k++) {
		const int64_t n = dims[stacked + (size_t)k];
		int64_t at;
		const msd_err err =
			msd_kernel_index(c, 1, (int64_t)i * wide + k, n, &at, d);

		if (err != MSD_OK)
			return err;
		row = row * n + at;
	}
	*ret = row;
	return MSD_OK;
}

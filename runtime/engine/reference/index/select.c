/* NonZero and Compress: outputs with a size that depends on values. */
#include "graph/op/index/select.h"

#include <string.h>

#include "graph/op/index/params.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/walk.h"

/* One column for each nonzero element with its index, one row per axis. */
static msd_err run_non_zero(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, 0);
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t n = msd_kernel_in_elements(c, 0);
	const size_t found = (size_t)msd_kernel_out_dims(c, 0)[1];
	int64_t steps[MODSER_GRAPH_MAX_NDIM];
	int64_t *y = c->out[0];
	size_t k = 0;

	(void)d;
	msd_walk_steps(dims, ndim, steps);
	for (size_t i = 0; i < n && k < found; i++) {
		if (msd_op_is_zero(dtype, c->in[0], i))
			continue;
		y[k] = 0; /* for a scalar */
		for (size_t a = 0; a < ndim; a++)
			y[a * found + k] = (int64_t)i / steps[a] % dims[a];
		k++;
	}
	return MSD_OK;
}

static msd_err run_compress(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_compress p = msd_params_compress(c->node);
	const bool is_flat = p.axis == MSD_OP_FLAT;
	const int64_t flat[] = {(int64_t)msd_kernel_in_elements(c, 0)};
	const int64_t *dims = is_flat ? flat : msd_kernel_in_dims(c, 0);
	const size_t ndim = is_flat ? 1 : msd_kernel_in_ndim(c, 0);
	const size_t axis = is_flat ? 0 : msd_kernel_axis(p.axis, ndim);
	const size_t row = msd_kernel_inner(dims, ndim, axis) * msd_kernel_size(c);
	const size_t outer = msd_kernel_outer(dims, axis);
	const int64_t n = msd_kernel_in_dims(c, 1)[0];
	const uint8_t *takes = c->in[1];
	const uint8_t *x = c->in[0];
	uint8_t *y = c->out[0];

	(void)d;
	for (size_t o = 0; o < outer && row > 0; o++) {
		for (int64_t i = 0; i < dims[axis]; i++, x += row) {
			if (i >= n || takes[i] == 0)
				continue;
			memcpy(y, x, row);
			y += row;
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_non_zero = {"NonZero", run_non_zero,
					       MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_compress = {"Compress", run_compress,
					       MSD_TAKES_BYTES};

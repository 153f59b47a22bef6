/* Concat, and Slice, which takes apart what Concat puts together. */
#include <string.h>

#include "graph/op/slice.h"
#include "runtime/engine/kernels.h"

static msd_err run_concat(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_kernel_int(c, "axis"), ndim);
	const size_t outer = msd_kernel_outer(msd_kernel_out_dims(c, 0), axis);
	float *y = c->out[0];

	(void)d;
	for (size_t o = 0; o < outer; o++) {
		for (size_t i = 0; i < modser_sg_node_input_count(c->node); i++) {
			const size_t n = msd_kernel_in_elements(c, i) / outer;

			memcpy(y, c->in[i] + o * n, n * sizeof(float));
			y += n;
		}
	}
	return MSD_OK;
}

static msd_err run_slice(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_kernel_int(c, "axis"), ndim);
	const size_t inner = msd_kernel_inner(dims, ndim, axis);
	const size_t outer = msd_kernel_outer(dims, axis);
	size_t begin = (size_t)msd_op_slice_begin(c->node);

	(void)d;
	for (size_t k = 0; k < modser_sg_node_output_count(c->node); k++) {
		const size_t n = (size_t)msd_kernel_out_dims(c, k)[axis];

		for (size_t o = 0; o < outer; o++) {
			memcpy(c->out[k] + o * n * inner,
			       c->in[0] + (o * (size_t)dims[axis] + begin) * inner,
			       n * inner * sizeof(float));
		}
		begin += n;
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_concat = {"Concat", run_concat};
const struct msd_kernel msd_kernel_slice = {"Slice", run_slice};

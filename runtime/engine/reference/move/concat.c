/* Concat, and its inverses Slice and Split. */
#include <string.h>

#include "graph/op/move/params.h"
#include "graph/op/move/slice.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/walk.h"

static msd_err run_concat(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_params_concat(c->node).axis, ndim);
	const size_t outer = msd_kernel_outer(msd_kernel_out_dims(c, 0), axis);
	const size_t size = msd_kernel_size(c);
	uint8_t *y = c->out[0];

	(void)d;
	for (size_t o = 0; o < outer; o++) {
		for (size_t i = 0; i < modser_sg_node_input_count(c->node); i++) {
			const size_t n = msd_kernel_in_elements(c, i) / outer * size;
			const uint8_t *x = c->in[i];

			if (n > 0 && x != y) /* it may lie in its place already */
				memcpy(y, x + o * n, n);
			y += n;
		}
	}
	return MSD_OK;
}

/* Copy consecutive pieces along one axis, the first from @begin on. */
static void take_pieces(const struct msd_kernel_call *c, int64_t own_axis, size_t begin)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(own_axis, ndim);
	const size_t inner = msd_kernel_inner(dims, ndim, axis) * msd_kernel_size(c);
	const size_t outer = msd_kernel_outer(dims, axis);

	for (size_t k = 0; k < modser_sg_node_output_count(c->node); k++) {
		const size_t n = (size_t)msd_kernel_out_dims(c, k)[axis];
		const uint8_t *x = c->in[0];
		uint8_t *y = c->out[k];

		for (size_t o = 0; n * inner > 0 && o < outer; o++) {
			memcpy(y + o * n * inner,
			       x + (o * (size_t)dims[axis] + begin) * inner, n * inner);
		}
		begin += n;
	}
}

static msd_err run_slice(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	struct msd_op_range ranges[MODSER_GRAPH_MAX_NDIM];
	int64_t steps[MODSER_GRAPH_MAX_NDIM];
	struct msd_walk w;
	int64_t from = 0;

	if (!msd_kernel_has(c, 1)) {
		take_pieces(c, msd_params_slice(c->node).axis,
			    (size_t)msd_op_slice_begin(c->node));
		return MSD_OK;
	}
	if (msd_op_slice_ranges(c->node, ranges) != 0)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "its ranges are not known");
	msd_walk_steps(msd_kernel_in_dims(c, 0), ndim, steps);
	for (size_t i = 0; i < ndim; i++) {
		from += ranges[i].n > 0 ? ranges[i].begin * steps[i] : 0;
		steps[i] *= ranges[i].step;
	}
	msd_walk_init(&w, msd_kernel_out_dims(c, 0), ndim);
	msd_walk_operand(&w, steps, from);
	msd_walk_merge(&w);
	msd_walk_copy(&w, c->out[0], c->in[0], msd_kernel_size(c));
	return MSD_OK;
}

static msd_err run_split(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	take_pieces(c, msd_params_split(c->node).axis, 0);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_concat = {"Concat", run_concat, MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_slice = {"Slice", run_slice, MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_split = {"Split", run_split, MSD_TAKES_BYTES};

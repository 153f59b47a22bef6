/* Operators of Tengine that move elements of any type: SwapAxis, Reverse, StridedSlice,
 * Reorg. */
#include <string.h>

#include "graph/op/move/params.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/walk.h"

static void copy(const struct msd_kernel_call *c, size_t to, size_t from)
{
	const size_t size = msd_kernel_size(c);

	memcpy((uint8_t *)c->out[0] + to * size,
	       (const uint8_t *)c->in[0] + from * size, size);
}

/* The output's elements lie at @steps in the input, the first of them at @from. */
static msd_err take(const struct msd_kernel_call *c, const int64_t *steps, int64_t from)
{
	struct msd_walk w;

	msd_walk_init(&w, msd_kernel_out_dims(c, 0), msd_kernel_in_ndim(c, 0));
	msd_walk_operand(&w, steps, from);
	msd_walk_merge(&w);
	msd_walk_copy(&w, c->out[0], c->in[0], msd_kernel_size(c));
	return MSD_OK;
}

static msd_err run_swap(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_swap_axis p = msd_params_swap_axis(c->node);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t a = msd_kernel_axis(p.dim_0, ndim);
	const size_t b = msd_kernel_axis(p.dim_1, ndim);
	int64_t steps[MODSER_GRAPH_MAX_NDIM];

	(void)d;
	msd_walk_steps(msd_kernel_in_dims(c, 0), ndim, steps);
	const int64_t step = steps[a];
	steps[a] = steps[b];
	steps[b] = step;
	return take(c, steps, 0);
}

static msd_err run_reverse(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const int64_t *in = msd_kernel_in_dims(c, 0);
	int64_t steps[MODSER_GRAPH_MAX_NDIM];
	int64_t axis;

	const msd_err err = msd_kernel_index(c, 1, 0, (int64_t)ndim, &axis, d);

	if (err != MSD_OK)
		return err;
	msd_walk_steps(in, ndim, steps);
	const int64_t from = in[axis] > 0 ? (in[axis] - 1) * steps[axis] : 0;
	steps[axis] = -steps[axis];
	return take(c, steps, from);
}

static msd_err run_strided_slice(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_strided_slice p = msd_params_strided_slice(c->node);
	const int64_t begins[] = {p.begin_n, p.begin_c, p.begin_h, p.begin_w};
	const int64_t strides[] = {p.stride_n, p.stride_c, p.stride_h, p.stride_w};
	int64_t steps[4];
	int64_t from = 0;

	(void)d;
	msd_walk_steps(msd_kernel_in_dims(c, 0), 4, steps);
	for (size_t k = 0; k < 4; k++) {
		from += begins[k] * steps[k];
		steps[k] *= strides[k];
	}
	return take(c, steps, from);
}

/* As Darknet has it: the elements of the input are read as if they were planes that are
 * @stride times as high and wide. */
static msd_err run_reorg(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *in = msd_kernel_in_dims(c, 0);
	const size_t stride = (size_t)msd_params_reorg(c->node).stride;
	const size_t channels = (size_t)in[1];
	const size_t height = (size_t)in[2];
	const size_t width = (size_t)in[3];
	const size_t few = channels / (stride * stride);

	(void)d;
	for (size_t i = 0; i < msd_kernel_out_elements(c, 0); i++) {
		const size_t x = i % width;
		const size_t y = i / width % height;
		const size_t k = i / width / height % channels;
		const size_t b = i / width / height / channels;
		const size_t offset = k / few;
		const size_t row = y * stride + offset / stride;
		const size_t column = x * stride + offset % stride;

		copy(c, i,
		     ((b * few + k % few) * height * stride + row) * width * stride +
			     column);
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_swap_axis = {"SwapAxis", run_swap, MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_reverse = {"Reverse", run_reverse, MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_strided_slice = {"StridedSlice", run_strided_slice,
						    MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_reorg = {"Reorg", run_reorg, MSD_TAKES_BYTES};

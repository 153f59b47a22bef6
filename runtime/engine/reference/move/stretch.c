/* Operators that copy elements by strides: Transpose, Expand, Tile, DepthToSpace and
 * SpaceToDepth. Also Shape, which copies extents, and Size, their product. */
#include <string.h>

#include "graph/op/move/params.h"
#include "graph/op/move/transpose.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/walk.h"

static msd_err run_transpose(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	size_t order[MODSER_GRAPH_MAX_NDIM];
	int64_t own[MODSER_GRAPH_MAX_NDIM];
	int64_t steps[MODSER_GRAPH_MAX_NDIM] = {0};
	struct msd_walk w;

	if (msd_op_transpose_order(c->node, order) != 0)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "its axes cannot be");
	msd_walk_steps(msd_kernel_in_dims(c, 0), ndim, own);
	for (size_t i = 0; i < ndim; i++)
		steps[i] = own[order[i]];
	msd_walk_init(&w, msd_kernel_out_dims(c, 0), ndim);
	msd_walk_operand(&w, steps, 0);
	msd_walk_merge(&w);
	msd_walk_copy(&w, c->out[0], c->in[0], msd_kernel_size(c));
	return MSD_OK;
}

static msd_err run_expand(const struct msd_kernel_call *c, struct msd_diag *d)
{
	struct msd_walk w;

	(void)d;
	msd_walk_init(&w, msd_kernel_out_dims(c, 0), msd_kernel_out_ndim(c, 0));
	msd_walk_stretch(&w, msd_kernel_in_dims(c, 0), msd_kernel_in_ndim(c, 0));
	msd_walk_merge(&w);
	msd_walk_copy(&w, c->out[0], c->in[0], msd_kernel_size(c));
	return MSD_OK;
}

/* Fill @total bytes with copies of the first @have. */
static void repeat(uint8_t *y, size_t have, size_t total)
{
	for (size_t n; have > 0 && have < total; have += n) {
		n = have < total - have ? have : total - have;
		memcpy(y + have, y, n);
	}
}

/*
 * Place the rows of the input where they belong, then repeat the blocks of each axis,
 * from the last axis to the first.
 */
static msd_err run_tile(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *in = msd_kernel_in_dims(c, 0);
	const int64_t *out = msd_kernel_out_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t size = msd_kernel_size(c);
	int64_t steps[MODSER_GRAPH_MAX_NDIM] = {0};
	const uint8_t *x = c->in[0];
	uint8_t *y = c->out[0];
	struct msd_walk w;

	(void)d;
	if (msd_kernel_out_elements(c, 0) == 0)
		return MSD_OK;
	msd_walk_steps(out, ndim, steps);
	msd_walk_init(&w, in, ndim);
	msd_walk_operand(&w, steps, 0);
	for (msd_walk_begin(&w); w.row < w.n_rows; msd_walk_next(&w)) {
		memcpy(y + (size_t)w.at[0] * size, x, (size_t)w.n * size);
		x += (size_t)w.n * size;
	}
	for (size_t k = ndim; k > 0; k--) {
		const size_t block = (size_t)steps[k - 1] * size;

		msd_walk_init(&w, in, k);
		msd_walk_operand(&w, steps, 0);
		if (out[k - 1] == in[k - 1])
			continue;
		for (msd_walk_begin(&w); w.row < w.n_rows; msd_walk_next(&w)) {
			repeat(y + (size_t)w.at[0] * size, (size_t)in[k - 1] * block,
			       (size_t)out[k - 1] * block);
		}
	}
	return MSD_OK;
}

/* Six axes: those of the output, with two of them split. */
static void run_blocks(const struct msd_kernel_call *c, const int64_t *dims,
		       const int64_t *steps)
{
	struct msd_walk w;

	msd_walk_init(&w, dims, 6);
	msd_walk_operand(&w, steps, 0);
	msd_walk_merge(&w);
	msd_walk_copy(&w, c->out[0], c->in[0], msd_kernel_size(c));
}

static msd_err run_depth(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_depth_to_space p = msd_params_depth_to_space(c->node);
	const int64_t b = p.block_size;
	const int64_t *in = msd_kernel_in_dims(c, 0);
	const int64_t depth = in[1] / (b * b);
	const int64_t plane = in[2] * in[3];
	const bool is_crd = strcmp(p.mode, "CRD") == 0;
	const int64_t dims[] = {in[0], depth, in[2], b, in[3], b};
	const int64_t crd[] = {in[1] * plane, b * b * plane, in[3], b * plane, 1,
			       plane};
	const int64_t dcr[] = {in[1] * plane,     plane, in[3],
			       b * depth * plane, 1,     depth * plane};

	(void)d;
	run_blocks(c, dims, is_crd ? crd : dcr);
	return MSD_OK;
}

static msd_err run_space(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_space_to_depth p = msd_params_space_to_depth(c->node);
	const int64_t b = p.block_size;
	const int64_t *in = msd_kernel_in_dims(c, 0);
	const int64_t plane = in[2] * in[3];
	const int64_t dcr[] = {in[0], b, b, in[1], in[2] / b, in[3] / b};
	const int64_t dcr_steps[] = {in[1] * plane, in[3], 1, plane, b * in[3], b};
	const int64_t crd[] = {in[0], in[1], b, b, in[2] / b, in[3] / b};
	const int64_t crd_steps[] = {in[1] * plane, plane, in[3], 1, b * in[3], b};
	const bool is_crd = strcmp(p.mode, "CRD") == 0;

	(void)d;
	run_blocks(c, is_crd ? crd : dcr, is_crd ? crd_steps : dcr_steps);
	return MSD_OK;
}

static msd_err run_shape(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t ndim = (int64_t)msd_kernel_in_ndim(c, 0);
	const size_t n = msd_kernel_out_elements(c, 0);
	int64_t start = msd_params_shape(c->node).start;

	(void)d;
	start = start < 0 ? start + ndim : start;
	start = start < 0 ? 0 : start;
	if (n > 0) {
		memcpy(c->out[0], msd_kernel_in_dims(c, 0) + start,
		       n * sizeof(int64_t));
	}
	return MSD_OK;
}

static msd_err run_size(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	*(int64_t *)c->out[0] = (int64_t)msd_kernel_in_elements(c, 0);
	return MSD_OK;
}

#define MOVES(id, op, run)                                                             \
	const struct msd_kernel msd_kernel_##id = {op, run, MSD_TAKES_BYTES}
MOVES(transpose, "Transpose", run_transpose);
MOVES(expand, "Expand", run_expand);
MOVES(tile, "Tile", run_tile);
MOVES(depth_to_space, "DepthToSpace", run_depth);
MOVES(space_to_depth, "SpaceToDepth", run_space);
MOVES(shape, "Shape", run_shape);
MOVES(size_of, "Size", run_size);

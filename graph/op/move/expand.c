/* Expand and Tile: repeat elements. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

/* The list from input 1, or from a parameter. */
static int read_list(const modser_sg_node *node, const char *param, struct msd_ints own,
		     int64_t *ret, size_t *ret_n)
{
	if (msd_infer_has(node, 1))
		return msd_infer_ints(node, 1, ret, ret_n);
	if (own.n > MSD_INFER_MAX_INTS)
		return msd_infer_fail(node, "%s is too long", param);
	if (own.n > 0)
		memcpy(ret, own.at, own.n * sizeof(*ret));
	*ret_n = own.n;
	return 0;
}

static int infer_expand(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t to[MSD_INFER_MAX_INTS];
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t n = 0;
	const int result =
		read_list(node, "shape", msd_params_expand(node).shape, to, &n);

	if (result != 0)
		return result;
	const size_t all = n > ndim ? n : ndim;
	if (all > MODSER_GRAPH_MAX_NDIM)
		return msd_infer_fail(node, "it has more than 32 dimensions");
	for (size_t i = 0; i < all; i++) {
		const size_t from_end = all - i;
		const int64_t a =
			from_end > ndim ? 1 : msd_infer_dims(node, 0)[ndim - from_end];
		const int64_t b = from_end > n ? 1 : to[n - from_end];

		if (b < 0 || (a != b && a != 1 && b != 1))
			return msd_infer_fail(node, "its shape does not fit its input");
		dims[i] = a == 1 ? b : a;
	}
	return msd_infer_set(node, dims, all);
}

const modser_sg_op_schema msd_op_expand = {
	.name = "Expand",
	OP_PARAMS(MSD_PARAMS_EXPAND),
	OP_IN(1, 2),
	OP_OUT(1, 1),
	.infer = infer_expand,
};

static int infer_tile(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t reps[MSD_INFER_MAX_INTS];
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t n = 0;
	const int result =
		read_list(node, "reps", msd_params_tile(node).reps, reps, &n);

	if (result != 0)
		return result;
	if (n != ndim)
		return msd_infer_fail(node, "%zu numbers for %zu axes", n, ndim);
	for (size_t i = 0; i < ndim; i++) {
		if (reps[i] < 0 || __builtin_mul_overflow(msd_infer_dims(node, 0)[i],
							  reps[i], &dims[i]))
			return msd_infer_fail(node, "it is too large");
	}
	return msd_infer_set(node, dims, ndim);
}

const modser_sg_op_schema msd_op_tile = {
	.name = "Tile",
	OP_PARAMS(MSD_PARAMS_TILE),
	OP_IN(1, 2),
	OP_OUT(1, 1),
	.infer = infer_tile,
};

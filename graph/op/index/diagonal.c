/* Operators with a diagonal: EyeLike, Trilu; and OneHot, which writes ones, too. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/index/params.h"
#include "graph/op/op.h"

static int infer_eye_like(modser_sg_node *node)
{
	const char *name = msd_params_eye_like(node).dtype;
	struct msd_dtype dtype;

	if (name[0] != '\0') {
		if (!msd_dtype_parse(name, strlen(name), &dtype)) {
			return msd_infer_fail(node, "no element type is called \"%s\"",
					      name);
		}
		msd_infer_dtype(node, 0, dtype);
	}
	return msd_infer_rank(node, 0, 2) == 0 ? msd_infer_same(node) : -1;
}

const modser_sg_op_schema msd_op_eye_like = {
	.name = "EyeLike",
	OP_PARAMS(MSD_PARAMS_EYE_LIKE),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_eye_like,
};

static int infer_trilu(modser_sg_node *node)
{
	if (msd_infer_ndim(node, 0) < 2)
		return msd_infer_fail(node, "it is no matrix");
	if (msd_infer_has(node, 1) &&
	    (msd_infer_indices(node, 1) != 0 ||
	     msd_infer_product(node, 1, 0, msd_infer_ndim(node, 1)) != 1))
		return msd_infer_fail(node, "its diagonal is not one integer");
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_trilu = {
	.name = "Trilu",
	OP_PARAMS(MSD_PARAMS_TRILU),
	OP_IN(1, 2),
	.optional_in = 2,
	OP_OUT(1, 1),
	.infer = infer_trilu,
};

/* Inputs are the indices, the depth, and the two values. */
static int infer_one_hot(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	const int64_t own = msd_params_one_hot(node).axis;
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	double depth;
	size_t axis;

	msd_infer_dtype(node, 0, msd_infer_dtype_of(node, 2));
	const int result = msd_infer_number(node, 1, &depth);
	if (result != 0)
		return result;
	if (!(depth >= 1 && depth < 0x1p53))
		return msd_infer_fail(node, "its depth cannot be");
	if (msd_infer_product(node, 2, 0, msd_infer_ndim(node, 2)) != 2)
		return msd_infer_fail(node, "it has not two values");
	if (ndim >= MODSER_GRAPH_MAX_NDIM)
		return msd_infer_fail(node, "it has more than 32 dimensions");
	if (msd_infer_axis_of(node, own, ndim + 1, &axis) != 0)
		return -1;
	for (size_t i = 0; i < ndim; i++)
		dims[i < axis ? i : i + 1] = msd_infer_dims(node, 0)[i];
	dims[axis] = (int64_t)depth;
	return msd_infer_set(node, dims, ndim + 1);
}

const modser_sg_op_schema msd_op_one_hot = {
	.name = "OneHot",
	OP_PARAMS(MSD_PARAMS_ONE_HOT),
	OP_IN(3, 3),
	OP_OUT(1, 1),
	.infer = infer_one_hot,
};

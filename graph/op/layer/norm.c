/* Normalizations. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/layer/params.h"
#include "graph/op/op.h"

/* Input 1 has a factor for each channel, or one for all. */
static int infer_normalize(modser_sg_node *node)
{
	const bool is_shared = msd_params_normalize(node).channel_shared != 0;

	if (msd_infer_ndim(node, 0) < 2)
		return msd_infer_fail(node, "its input has no channels");
	if (msd_infer_has(node, 1) &&
	    msd_infer_product(node, 1, 0, msd_infer_ndim(node, 1)) !=
		    (is_shared ? 1 : msd_infer_dims(node, 0)[1])) {
		return msd_infer_fail(node,
				      "input 1 has not an element for each channel");
	}
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_normalize = {
	.name = "Normalize",
	OP_PARAMS(MSD_PARAMS_NORMALIZE),
	OP_IN(1, 2),
	OP_OUT(1, 1),
	.infer = infer_normalize,
};

static int infer_instance_norm(modser_sg_node *node)
{
	if (msd_infer_ndim(node, 0) < 3)
		return msd_infer_fail(node, "its input has no planes");
	for (size_t i = 1; i < modser_sg_node_input_count(node); i++) {
		if (msd_infer_product(node, i, 0, msd_infer_ndim(node, i)) !=
		    msd_infer_dims(node, 0)[1]) {
			return msd_infer_fail(
				node, "input %zu has not an element for each channel",
				i);
		}
	}
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_instance_norm = {
	.name = "InstanceNorm",
	OP_PARAMS(MSD_PARAMS_INSTANCE_NORM),
	OP_IN(1, 3),
	OP_OUT(1, 1),
	.infer = infer_instance_norm,
};

static int infer_mvn(modser_sg_node *node)
{
	return msd_infer_ndim(node, 0) < 2
		       ? msd_infer_fail(node, "its input has no channels")
		       : msd_infer_same(node);
}

const modser_sg_op_schema msd_op_mvn = {
	.name = "MVN",
	OP_PARAMS(MSD_PARAMS_MVN),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_mvn,
};

/* Rows of a matrix. */
static int infer_l2_normalization(modser_sg_node *node)
{
	return msd_infer_rank(node, 0, 2) != 0 ? -1 : msd_infer_same(node);
}

const modser_sg_op_schema msd_op_l2_normalization = {
	.name = "L2Normalization",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_l2_normalization,
};

/* Scale and bias have the extents of the axes from "axis" on. The two other outputs,
 * mean and inverse deviation, have extents of 1 there. */
static int infer_layer_norm(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t axis;

	if (msd_infer_axis(node, msd_params_layer_norm(node).axis, &axis) != 0)
		return -1;
	for (size_t i = 1; i < modser_sg_node_input_count(node); i++) {
		if (msd_infer_has(node, i) &&
		    msd_infer_product(node, i, 0, msd_infer_ndim(node, i)) !=
			    msd_infer_product(node, 0, axis, ndim)) {
			return msd_infer_fail(
				node, "input %zu is not as large as what is normalized",
				i);
		}
	}
	memcpy(dims, msd_infer_dims(node, 0), ndim * sizeof(*dims));
	for (size_t i = axis; i < ndim; i++)
		dims[i] = 1;
	if (msd_infer_set_output(node, 1, dims, ndim) != 0 ||
	    msd_infer_set_output(node, 2, dims, ndim) != 0)
		return -1;
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_layer_norm = {
	.name = "LayerNorm",
	OP_PARAMS(MSD_PARAMS_LAYER_NORM),
	OP_IN(1, 3),
	.optional_in = 4,
	OP_OUT(1, 3),
	.infer = infer_layer_norm,
};

/* Scale and bias have an element for each channel, or, up to opset 20, for each
 * group. */
static int infer_group_norm(modser_sg_node *node)
{
	const int64_t groups = msd_params_group_norm(node).num_groups;

	if (msd_infer_ndim(node, 0) < 2)
		return msd_infer_fail(node, "its input has no channels");
	const int64_t channels = msd_infer_dims(node, 0)[1];
	if (groups < 1 || channels % groups != 0)
		return msd_infer_fail(node, "its channels are no whole groups");
	for (size_t i = 1; i < 3; i++) {
		const int64_t n =
			msd_infer_product(node, i, 0, msd_infer_ndim(node, i));

		if (n != channels && n != groups) {
			return msd_infer_fail(
				node,
				"input %zu has an element for neither channels nor "
				"groups",
				i);
		}
	}
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_group_norm = {
	.name = "GroupNorm",
	OP_PARAMS(MSD_PARAMS_GROUP_NORM),
	OP_IN(3, 3),
	OP_OUT(1, 1),
	.infer = infer_group_norm,
};

static int infer_lp_norm(modser_sg_node *node)
{
	size_t axis;

	if (msd_infer_axis(node, msd_params_lp_norm(node).axis, &axis) != 0 ||
	    MSD_PARAM_RANGE(node, lp_norm, p, 1, 2) != 0)
		return -1;
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_lp_norm = {
	.name = "LpNorm",
	OP_PARAMS(MSD_PARAMS_LP_NORM),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_lp_norm,
};

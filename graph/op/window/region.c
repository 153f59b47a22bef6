/* Region: the output of a YOLO of version 2, for each box at each place. */
#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field region_fields[] = {
	OP_INT("num_classes", 0),
	OP_INT("side", 0),
	OP_INT("num_box", 0),
	OP_INT("coords", 0),
	OP_FLOAT("confidence_threshold", 0),
	OP_FLOAT("nms_threshold", 0),
	OP_FLOATS("biases"),
};
/* Channels are, for each box: four coordinates, whether there is one, its classes. */
static int infer(modser_sg_node *node)
{
	const modser_sg_op *op = modser_sg_node_op(node);

	if (msd_infer_rank(node, 0, 4) != 0 ||
	    msd_infer_range(node, "coords", 4, 4) != 0 ||
	    msd_infer_range(node, "num_classes", 1, INT16_MAX) != 0 ||
	    msd_infer_range(node, "num_box", 1, INT16_MAX) != 0)
		return -1;
	if (msd_infer_dims(node, 0)[1] !=
	    (modser_sg_op_int(op, "num_classes") + 5) * modser_sg_op_int(op, "num_box"))
		return msd_infer_fail(node, "its boxes are not its channels");
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_region = {
	.name = "Region",
	OP_FIELDS(region_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};

/* Region: the output of a YOLO of version 2, for each box at each place. */
#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/window/params.h"

/* Channels are, for each box: four coordinates, whether there is one, its classes. */
static int infer(modser_sg_node *node)
{
	const struct msd_params_region p = msd_params_region(node);

	if (msd_infer_rank(node, 0, 4) != 0 ||
	    MSD_PARAM_RANGE(node, region, coords, 4, 4) != 0 ||
	    MSD_PARAM_RANGE(node, region, num_classes, 1, INT16_MAX) != 0 ||
	    MSD_PARAM_RANGE(node, region, num_box, 1, INT16_MAX) != 0)
		return -1;
	if (msd_infer_dims(node, 0)[1] != (p.num_classes + 5) * p.num_box)
		return msd_infer_fail(node, "its boxes are not its channels");
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_region = {
	.name = "Region",
	OP_PARAMS(MSD_PARAMS_REGION),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};

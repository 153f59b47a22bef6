#include "graph/ir/infer.h"
#include "graph/op/element/params.h"
#include "graph/op/op.h"

const modser_sg_op_schema msd_op_relu = {
	.name = "ReLu",
	OP_PARAMS(MSD_PARAMS_RELU),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

/* Feature scaling: Scaler, (x - offset) * scale, and Normalizer, rows of length 1. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/ml/ml.h"
#include "graph/op/ml/params.h"
#include "graph/op/op.h"

/* One number for all features, or one for each; ONNX requires both or neither. */
static int infer_scaler(modser_sg_node *node)
{
	const struct msd_params_scaler p = msd_params_scaler(node);
	const size_t ndim = msd_infer_ndim(node, 0);
	const size_t n = p.offset.n;

	if (ndim != 1 && ndim != 2)
		return msd_infer_fail(node, "its input has no rows of features");
	if (p.scale.n != n)
		return msd_infer_fail(node, "offset and scale differ in length");
	if (n != 1 && (int64_t)n != msd_infer_dims(node, 0)[ndim - 1]) {
		return msd_infer_fail(node,
				      "offset has %zu numbers, expected one for "
				      "each feature",
				      n);
	}
	msd_infer_dtype(node, 0, MSD_ML_FLOAT32);
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_scaler = {
	.name = "Scaler",
	OP_PARAMS(MSD_PARAMS_SCALER),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_scaler,
};

static int infer_normalizer(modser_sg_node *node)
{
	const char *norm = msd_params_normalizer(node).norm;
	const size_t ndim = msd_infer_ndim(node, 0);

	if (ndim != 1 && ndim != 2)
		return msd_infer_fail(node, "its input has no rows of features");
	if (strcmp(norm, "MAX") != 0 && strcmp(norm, "L1") != 0 &&
	    strcmp(norm, "L2") != 0)
		return msd_infer_fail(node, "its norm is \"%s\"", norm);
	msd_infer_dtype(node, 0, MSD_ML_FLOAT32);
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_normalizer = {
	.name = "Normalizer",
	OP_PARAMS(MSD_PARAMS_NORMALIZER),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_normalizer,
};

/* Classification losses: NegativeLogLikelihoodLoss of logarithms,
 * SoftmaxCrossEntropyLoss of the inputs of a Softmax. */
#include "graph/op/layer/loss.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/layer/params.h"
#include "graph/op/op.h"

/* Labels have the shape of the scores without axis 1, the classes; each class has a
 * weight. */
static int check(const modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);

	if (ndim < 2)
		return msd_infer_fail(node, "its input has no classes");
	if (msd_infer_indices(node, 1) != 0 || msd_infer_rank(node, 1, ndim - 1) != 0)
		return -1;
	for (size_t i = 0; i < ndim - 1; i++) {
		if (msd_infer_dims(node, 1)[i] !=
		    msd_infer_dims(node, 0)[i == 0 ? 0 : i + 1]) {
			return msd_infer_fail(
				node, "it has not a label for each classification");
		}
	}
	if (!msd_infer_has(node, 2))
		return 0;
	if (msd_infer_rank(node, 2, 1) != 0)
		return -1;
	if (!msd_dtype_eq(msd_infer_dtype_of(node, 2), msd_infer_dtype_of(node, 0)))
		return msd_infer_fail(node, "its weights are of another type");
	return msd_infer_dims(node, 2)[0] == msd_infer_dims(node, 0)[1]
		       ? 0
		       : msd_infer_fail(node, "it has not a weight for each class");
}

static int infer(modser_sg_node *node)
{
	const char *how = msd_params_loss(node).reduction;
	const size_t ndim = msd_infer_ndim(node, 0);

	if (check(node) != 0)
		return -1;
	if (strcmp(how, "none") != 0 && strcmp(how, "sum") != 0 &&
	    strcmp(how, "mean") != 0)
		return msd_infer_fail(node, "its reduction is \"%s\"", how);
	if (msd_infer_set_output(node, 1, msd_infer_dims(node, 0), ndim) != 0)
		return -1;
	return msd_infer_set(node, msd_infer_dims(node, 1),
			     strcmp(how, "none") == 0 ? ndim - 1 : 0);
}

const modser_sg_op_schema msd_op_nll_loss = {
	.name = "NegativeLogLikelihoodLoss",
	OP_PARAMS(MSD_PARAMS_LOSS),
	OP_IN(2, 3),
	OP_OUT(1, 1),
	.infer = infer,
};

const modser_sg_op_schema msd_op_softmax_loss = {
	.name = "SoftmaxCrossEntropyLoss",
	OP_PARAMS(MSD_PARAMS_LOSS),
	OP_IN(2, 3),
	OP_OUT(1, 2),
	.infer = infer,
};

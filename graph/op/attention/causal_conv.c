/* CausalConvWithState: a convolution of each channel that sees the past alone. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/attention/params.h"
#include "graph/op/op.h"

static int check(const modser_sg_node *node, int64_t channels, int64_t taps)
{
	if (msd_infer_dims(node, 1)[0] != channels || msd_infer_dims(node, 1)[1] != 1 ||
	    taps < 1)
		return msd_infer_fail(node, "its weights do not fit its channels");
	if (msd_infer_has(node, 2) &&
	    msd_infer_product(node, 2, 0, msd_infer_ndim(node, 2)) != channels)
		return msd_infer_fail(node, "its bias does not fit its channels");
	if (!msd_infer_has(node, 3))
		return 0;
	if (msd_infer_rank(node, 3, 3) != 0)
		return -1;
	const int64_t *state = msd_infer_dims(node, 3);
	return state[0] == msd_infer_dims(node, 0)[0] && state[1] == channels &&
			       state[2] == taps - 1
		       ? 0
		       : msd_infer_fail(node, "its past state does not fit");
}

static int infer_causal_conv(modser_sg_node *node)
{
	const char *f = msd_params_causal_conv(node).activation;

	if (strcmp(f, "none") != 0 && strcmp(f, "silu") != 0 && strcmp(f, "swish") != 0)
		return msd_infer_fail(node, "activation \"%s\" is not known", f);
	if (msd_infer_rank(node, 0, 3) != 0 || msd_infer_rank(node, 1, 3) != 0 ||
	    msd_infer_alike(node, 0, modser_sg_node_input_count(node)) != 0)
		return -1;
	const int64_t *x = msd_infer_dims(node, 0);
	const int64_t state[] = {x[0], x[1], msd_infer_dims(node, 1)[2] - 1};
	if (check(node, x[1], state[2] + 1) != 0 ||
	    msd_infer_set_output(node, 1, state, 3) != 0)
		return -1;
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_causal_conv = {
	.name = "CausalConvWithState",
	OP_PARAMS(MSD_PARAMS_CAUSAL_CONV),
	OP_IN(2, 4),
	.optional_in = 12,
	OP_OUT(1, 2),
	.infer = infer_causal_conv,
};

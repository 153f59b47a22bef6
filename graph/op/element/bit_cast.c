/* BitCast: the same bits as another type of the same width. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/element/params.h"
#include "graph/op/op.h"

static int infer_bit_cast(modser_sg_node *node)
{
	const char *to = msd_params_bit_cast(node).to;
	const struct msd_dtype from = msd_infer_dtype_of(node, 0);
	struct msd_dtype dtype;

	if (!msd_dtype_parse(to, strlen(to), &dtype))
		return msd_infer_fail(node, "no element type is called \"%s\"", to);
	if (dtype.bits != from.bits) {
		return msd_infer_fail(node, "%u bits cannot become %u bits", from.bits,
				      dtype.bits);
	}
	msd_infer_dtype(node, 0, dtype);
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_bit_cast = {
	.name = "BitCast",
	OP_PARAMS(MSD_PARAMS_BIT_CAST),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_bit_cast,
};

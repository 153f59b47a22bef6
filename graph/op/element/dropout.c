#include "graph/ir/infer.h"
#include "graph/op/op.h"

/* True if input 1, the ratio, exists and is 0. */
static bool drops_nothing(const modser_sg_node *node)
{
	const struct msd_dtype f32 = {MSD_DT_FLOAT, 32, 1};
	const float *ratio;

	if (!msd_infer_has(node, 1) ||
	    !msd_dtype_eq(msd_infer_dtype_of(node, 1), f32) ||
	    msd_infer_product(node, 1, 0, msd_infer_ndim(node, 1)) != 1)
		return false;
	ratio = msd_infer_value(node, 1);
	return ratio != NULL && *ratio == 0;
}

/* Outside training nothing is dropped; input 2 may select training. */
static int infer(modser_sg_node *node)
{
	msd_infer_dtype(node, 1, OP_BOOL);
	if (msd_infer_has(node, 2)) {
		const uint8_t *trains = msd_infer_value(node, 2);

		if (msd_infer_product(node, 2, 0, msd_infer_ndim(node, 2)) != 1)
			return msd_infer_fail(node, "training is said by one element");
		if (trains == NULL)
			return MSD_INFER_LATER;
		if (*trains != 0 && !drops_nothing(node))
			return msd_infer_fail(node, "training cannot be run");
	}
	if (msd_infer_set_output(node, 1, msd_infer_dims(node, 0),
				 msd_infer_ndim(node, 0)) != 0)
		return -1;
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_dropout = {
	.name = "Dropout",
	OP_IN(1, 3),
	.optional_in = 6,
	OP_OUT(1, 2),
	.infer = infer,
};

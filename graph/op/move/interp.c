#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field interp_fields[] = {
	OP_INT("resize_type", 1),    OP_FLOAT("width_scale", 1),
	OP_FLOAT("height_scale", 1), OP_INT("output_width", 1),
	OP_INT("output_height", 1),
};
/* A scale of 0 means that the extent is given. */
static int64_t extent(const modser_sg_node *node, int64_t in, const char *scale_name,
		      const char *output_name)
{
	const double scale =
		(double)modser_sg_op_float(modser_sg_node_op(node), scale_name);

	if (scale == 0)
		return modser_sg_op_int(modser_sg_node_op(node), output_name);
	if (!(scale > 0 && scale <= 1024) || in > INT32_MAX)
		return 0;
	return (int64_t)((double)in * scale);
}

static int infer(modser_sg_node *node)
{
	const int64_t type = modser_sg_op_int(modser_sg_node_op(node), "resize_type");

	if (msd_infer_rank(node, 0, 4) != 0)
		return -1;
	if (type != 1 && type != 2 && type != 4)
		return msd_infer_fail(node, "resize_type is none of 1, 2 and 4");
	const int64_t *in = msd_infer_dims(node, 0);
	const int64_t dims[] = {in[0], in[1],
				extent(node, in[2], "height_scale", "output_height"),
				extent(node, in[3], "width_scale", "output_width")};
	if (dims[2] < 1 || dims[3] < 1)
		return msd_infer_fail(node, "what it makes has no extent");
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_interp = {
	.name = "Interp",
	OP_FIELDS(interp_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};

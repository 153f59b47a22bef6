#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/window.h"

static const modser_sg_op_field convolution_fields[] = {
	OP_INT("kernel_h", 1, 0),       OP_INT("kernel_w", 1, 4),
	OP_INT("stride_h", 1, 8),       OP_INT("stride_w", 1, 12),
	OP_INT("dilation_h", 1, 16),    OP_INT("dilation_w", 1, 20),
	OP_INT("input_channel", 1, 24), OP_INT("output_channel", 1, 28),
	OP_INT("group", 1, 32),         OP_INT("activation", -1, 36),
	OP_INT("pad_h0", 0, 40),        OP_INT("pad_w0", 0, 44),
	OP_INT("pad_h1", 0, 48),        OP_INT("pad_w1", 0, 52),
};
/* Tengine's marks for the padding that keeps the extent, divided by the stride. */
enum { SAME_UPPER = -1, SAME_LOWER = -2 };

static struct msd_op_window window(const modser_sg_op *op, int64_t in,
				   const char *const names[5])
{
	struct msd_op_window w = {
		.kernel = modser_sg_op_int(op, names[0]),
		.stride = modser_sg_op_int(op, names[1]),
		.dilation = modser_sg_op_int(op, names[2]),
		.before = modser_sg_op_int(op, names[3]),
		.after = modser_sg_op_int(op, names[4]),
	};
	const int64_t reach = (w.kernel - 1) * w.dilation + 1;

	if (w.before == SAME_UPPER || w.before == SAME_LOWER) {
		const bool is_upper = w.before == SAME_UPPER;

		w.out = (in + w.stride - 1) / w.stride;
		int64_t all = (w.out - 1) * w.stride + reach - in;
		all = all < 0 ? 0 : all;
		w.before = is_upper ? all / 2 : all - all / 2;
		w.after = all - w.before;
	} else {
		const int64_t room = in + w.before + w.after - reach;

		w.out = room < 0 ? 0 : room / w.stride + 1;
	}
	return w;
}

void msd_op_conv_windows(const modser_sg_node *node, struct msd_op_window *ret_h,
			 struct msd_op_window *ret_w)
{
	static const char *const h[] = {"kernel_h", "stride_h", "dilation_h", "pad_h0",
					"pad_h1"};
	static const char *const w[] = {"kernel_w", "stride_w", "dilation_w", "pad_w0",
					"pad_w1"};
	const modser_sg_op *op = modser_sg_node_op(node);
	const int64_t *in = modser_sg_tensor_dims(modser_sg_node_input(node, 0));

	*ret_h = window(op, in[2], h);
	*ret_w = window(op, in[3], w);
}

static int check_params(const modser_sg_node *node)
{
	static const char *const sizes[] = {"kernel_h", "kernel_w",   "stride_h",
					    "stride_w", "dilation_h", "dilation_w",
					    "group"};
	static const char *const pads[] = {"pad_h0", "pad_h1", "pad_w0", "pad_w1"};

	for (size_t i = 0; i < OP_COUNT(sizes); i++) {
		if (msd_infer_range(node, sizes[i], 1, INT32_MAX) != 0)
			return -1;
	}
	for (size_t i = 0; i < OP_COUNT(pads); i++) {
		if (msd_infer_range(node, pads[i], SAME_LOWER, INT32_MAX) != 0)
			return -1;
	}
	const int64_t activation =
		modser_sg_op_int(modser_sg_node_op(node), "activation");
	if (activation != -1 && activation != 0 && activation != 1 && activation != 6) {
		return msd_infer_fail(node, "activation %d is not known",
				      (int)activation);
	}
	return 0;
}

static int check_weights(const modser_sg_node *node)
{
	const modser_sg_op *op = modser_sg_node_op(node);
	const int64_t group = modser_sg_op_int(op, "group");
	const int64_t *weights = msd_infer_dims(node, 1);

	if (weights[2] != modser_sg_op_int(op, "kernel_h") ||
	    weights[3] != modser_sg_op_int(op, "kernel_w"))
		return msd_infer_fail(node, "its kernel is not that of its weights");
	if (weights[0] % group != 0 || msd_infer_dims(node, 0)[1] % group != 0 ||
	    msd_infer_dims(node, 0)[1] / group != weights[1]) {
		return msd_infer_fail(node,
				      "its channels are not those of its weights");
	}
	if (modser_sg_node_input_count(node) > 2 &&
	    msd_infer_product(node, 2, 0, msd_infer_ndim(node, 2)) != weights[0])
		return msd_infer_fail(node, "its bias and its weights do not fit");
	return 0;
}

static int infer(modser_sg_node *node)
{
	struct msd_op_window h;
	struct msd_op_window w;

	if (msd_infer_rank(node, 0, 4) != 0 || msd_infer_rank(node, 1, 4) != 0 ||
	    check_params(node) != 0 || check_weights(node) != 0)
		return -1;
	msd_op_conv_windows(node, &h, &w);
	if (h.out < 1 || w.out < 1 || h.after < 0 || w.after < 0)
		return msd_infer_fail(node, "its kernel is larger than its input");
	const int64_t dims[] = {msd_infer_dims(node, 0)[0], msd_infer_dims(node, 1)[0],
				h.out, w.out};
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_convolution = {
	.name = "Convolution",
	OP_FIELDS(convolution_fields),
	OP_IN(2, 3),
	OP_OUT(1, 1),
	OP_TM(5, 56),
	.infer = infer,
};

#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/window.h"

static const modser_sg_op_field pooling_fields[] = {
	OP_INT("alg", 0, 0),           OP_INT("kernel_h", 2, 4),
	OP_INT("kernel_w", 2, 8),      OP_INT("stride_h", 1, 12),
	OP_INT("stride_w", 1, 16),     OP_INT("global", 0, 20),
	OP_INT("caffe_flavor", 0, 24), OP_INT("pad_h0", 0, 28),
	OP_INT("pad_w0", 0, 32),       OP_INT("pad_h1", 0, 36),
	OP_INT("pad_w1", 0, 40),
};
enum flavor { FLOOR = 0, CEIL = 1, DARKNET = 2 };

static int64_t ceil_out(int64_t in, const struct msd_op_window *w)
{
	const int64_t room = in + w->before + w->after - w->kernel;
	int64_t out = room < 0 ? 0 : (room + w->stride - 1) / w->stride + 1;

	/* A window that begins in the padding behind has nothing to look at. */
	if (out > 0 && (out - 1) * w->stride >= in + w->before)
		out--;
	return out;
}

static struct msd_op_window window(const modser_sg_op *op, int64_t in,
				   const char *const names[4])
{
	const int64_t flavor = modser_sg_op_int(op, "caffe_flavor") & 0xf;
	struct msd_op_window w = {
		.kernel = modser_sg_op_int(op, names[0]),
		.stride = modser_sg_op_int(op, names[1]),
		.dilation = 1,
		.before = modser_sg_op_int(op, names[2]),
		.after = modser_sg_op_int(op, names[3]),
	};

	if (modser_sg_op_int(op, "global") != 0)
		return (struct msd_op_window){in, 1, 1, 0, 0, 1};
	if (w.before < 0) {
		w.out = (in - 1) / w.stride + 1;
		int64_t all = (w.out - 1) * w.stride + w.kernel - in;
		all = all < 0 ? 0 : all;
		w.before = all / 2;
		w.after = all - w.before;
		return w;
	}
	if (flavor == CEIL) {
		w.out = ceil_out(in, &w);
		return w;
	}
	if (flavor == DARKNET) {
		w.after = w.before - w.before / 2;
		w.before = w.before / 2;
	}
	const int64_t room = in + w.before + w.after - w.kernel;
	w.out = room < 0 ? 0 : room / w.stride + 1;
	return w;
}

void msd_op_pool_windows(const modser_sg_node *node, struct msd_op_window *ret_h,
			 struct msd_op_window *ret_w)
{
	static const char *const h[] = {"kernel_h", "stride_h", "pad_h0", "pad_h1"};
	static const char *const w[] = {"kernel_w", "stride_w", "pad_w0", "pad_w1"};
	const modser_sg_op *op = modser_sg_node_op(node);
	const int64_t *in = modser_sg_tensor_dims(modser_sg_node_input(node, 0));

	*ret_h = window(op, in[2], h);
	*ret_w = window(op, in[3], w);
}

static int check_params(const modser_sg_node *node)
{
	static const char *const sizes[] = {"kernel_h", "kernel_w", "stride_h",
					    "stride_w"};
	static const char *const pads[] = {"pad_h0", "pad_h1", "pad_w0", "pad_w1"};

	for (size_t i = 0; i < OP_COUNT(sizes); i++) {
		if (msd_infer_range(node, sizes[i], 1, INT32_MAX) != 0)
			return -1;
	}
	for (size_t i = 0; i < OP_COUNT(pads); i++) {
		if (msd_infer_range(node, pads[i], -2, INT32_MAX) != 0)
			return -1;
	}
	if ((modser_sg_op_int(modser_sg_node_op(node), "caffe_flavor") & 0xf) > DARKNET)
		return msd_infer_fail(node, "caffe_flavor is not known");
	return msd_infer_range(node, "alg", 0, 1);
}

static int infer(modser_sg_node *node)
{
	struct msd_op_window h;
	struct msd_op_window w;

	if (msd_infer_rank(node, 0, 4) != 0 || check_params(node) != 0)
		return -1;
	msd_op_pool_windows(node, &h, &w);
	if (h.out < 1 || w.out < 1)
		return msd_infer_fail(node, "its kernel is larger than its input");
	/* Each window must look at something. */
	if (h.before >= h.kernel || w.before >= w.kernel || h.after >= h.kernel ||
	    w.after >= w.kernel || h.after < 0 || w.after < 0)
		return msd_infer_fail(node, "its padding is as large as its kernel");
	const int64_t *in = msd_infer_dims(node, 0);
	const int64_t dims[] = {in[0], in[1], h.out, w.out};
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_pooling = {
	.name = "Pooling",
	OP_FIELDS(pooling_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(16, 44),
	.infer = infer,
};

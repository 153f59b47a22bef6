/* Pooling: its parameters, and its windows as Caffe, Darknet and ONNX round and pad
 * them. */
#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/window/window.h"

static const modser_sg_op_field pooling_fields[] = {
	OP_INT("alg", 0),
	OP_INT("kernel_h", 2),
	OP_INT("kernel_w", 2),
	OP_INT("stride_h", 1),
	OP_INT("stride_w", 1),
	OP_INT("global", 0),
	OP_INT("caffe_flavor", 0),
	OP_INT("pad_h0", 0),
	OP_INT("pad_w0", 0),
	OP_INT("pad_h1", 0),
	OP_INT("pad_w1", 0),
	OP_OWN_INTS("kernel"),
	OP_OWN_INTS("strides"),
	OP_OWN_INTS("dilations"),
	OP_OWN_INTS("pads"),
	OP_OWN_INT("ceil_mode", 0),     /* ONNX's, which does not count padding */
	OP_OWN_INT("auto_pad", 0),      /* 1 and 2: same extent, upper and lower */
	OP_OWN_INT("storage_order", 0), /* 1: indices count columns first */
	OP_OWN_INT("p", 2),             /* for alg 2: the root of a sum of powers */
};
static const struct msd_op_window_names kernels = {"kernel", {"kernel_h", "kernel_w"}};
static const struct msd_op_window_names strides = {"strides", {"stride_h", "stride_w"}};
static const struct msd_op_window_names dilations = {"dilations", {NULL, NULL}};
enum flavor { FLOOR = 0, CEIL = 1, DARKNET = 2 };
enum { AUTO_UPPER = 1, AUTO_LOWER };

/* A kernel larger than the padded input by less than its stride has one position; by
 * a whole stride or more, none. */
static int64_t ceil_out(const struct msd_op_window *w)
{
	const int64_t room = w->in + w->before + w->after - msd_op_window_reach(w);
	int64_t out = room > 0 ? (room + w->stride - 1) / w->stride + 1
			       : room / w->stride + 1;

	/* A window that begins in the padding at the end covers no input. */
	if (out > 0 && (out - 1) * w->stride >= w->in + w->before)
		out--;
	return out;
}

static void keep_extent(struct msd_op_window *w, bool is_upper)
{
	w->out = (w->in + w->stride - 1) / w->stride;
	int64_t all = (w->out - 1) * w->stride + msd_op_window_reach(w) - w->in;
	all = all < 0 ? 0 : all;
	w->before = is_upper ? all / 2 : all - all / 2;
	w->after = all - w->before;
}

static void lay(const modser_sg_op *op, struct msd_op_window *w)
{
	const int64_t flavor = modser_sg_op_int(op, "caffe_flavor") & 0xf;
	const int64_t auto_pad = modser_sg_op_int(op, "auto_pad");

	if (auto_pad != 0 || w->before < 0) {
		keep_extent(w, auto_pad != AUTO_LOWER);
		return;
	}
	if (flavor == CEIL || modser_sg_op_int(op, "ceil_mode") != 0) {
		w->out = ceil_out(w);
		return;
	}
	if (flavor == DARKNET) {
		w->after = w->before - w->before / 2;
		w->before = w->before / 2;
	}
	const int64_t room = w->in + w->before + w->after - msd_op_window_reach(w);
	w->out = room < 0 ? -1 : room / w->stride + 1;
}

void msd_op_pool_windows(const modser_sg_node *node,
			 struct msd_op_window ret[static MSD_OP_AXES])
{
	const modser_sg_op *op = modser_sg_node_op(node);
	const size_t n = msd_infer_ndim(node, 0) - 2;

	for (size_t i = 0; i < MSD_OP_AXES; i++)
		ret[i] = (struct msd_op_window){1, 1, 1, 1, 0, 0, 1};
	for (size_t i = 0; i < n; i++) {
		struct msd_op_window *w = &ret[MSD_OP_AXES - n + i];

		w->in = msd_infer_dims(node, 0)[2 + i];
		w->kernel = w->in;
		if (modser_sg_op_int(op, "global") != 0)
			continue;
		w->kernel = msd_op_window_param(node, &kernels, i, n, 1);
		w->stride = msd_op_window_param(node, &strides, i, n, 1);
		w->dilation = msd_op_window_param(node, &dilations, i, n, 1);
		msd_op_window_pads(node, i, n, w);
		lay(op, w);
	}
}

static int check_params(const modser_sg_node *node, size_t n)
{
	if (msd_op_window_check(node, &kernels, n, 1, INT32_MAX) != 0 ||
	    msd_op_window_check(node, &strides, n, 1, INT32_MAX) != 0 ||
	    msd_op_window_check_pads(node, n, -2) != 0)
		return -1;
	const modser_sg_attr *list =
		modser_sg_op_param(modser_sg_node_op(node), "dilations");
	if (list->n != 0 && list->n != n)
		return msd_infer_fail(node, "dilations has %zu numbers", list->n);
	for (size_t i = 0; i < list->n; i++) {
		if (list->as.ints[i] < 1 || list->as.ints[i] > INT32_MAX)
			return msd_infer_fail(node, "a dilation is not 1 or more");
	}
	if ((modser_sg_op_int(modser_sg_node_op(node), "caffe_flavor") & 0xf) > DARKNET)
		return msd_infer_fail(node, "caffe_flavor is not known");
	if (msd_infer_range(node, "p", 1, INT16_MAX) != 0)
		return -1;
	return msd_infer_range(node, "alg", 0, 2);
}

int msd_op_pool_infer(modser_sg_node *node)
{
	struct msd_op_window windows[MSD_OP_AXES];
	int64_t dims[2 + MSD_OP_AXES];
	size_t n;

	if (msd_op_window_axes(node, &n) != 0 || check_params(node, n) != 0)
		return -1;
	msd_op_pool_windows(node, windows);
	dims[0] = msd_infer_dims(node, 0)[0];
	dims[1] = msd_infer_dims(node, 0)[1];
	for (size_t i = 0; i < n; i++) {
		const struct msd_op_window *w = &windows[MSD_OP_AXES - n + i];
		const int64_t reach = msd_op_window_reach(w);

		if (w->out < 0 || w->in < 1) {
			return msd_infer_fail(node,
					      "its kernel is larger than its input");
		}
		/* Each window must cover some input. */
		if (w->before >= reach || w->after >= reach || w->after < 0) {
			return msd_infer_fail(node,
					      "its padding is as large as its kernel");
		}
		dims[2 + i] = w->out;
	}
	msd_infer_dtype(node, 1, OP_INT64);
	if (msd_infer_set_output(node, 1, dims, n + 2) != 0)
		return -1;
	return msd_infer_set(node, dims, n + 2);
}

const modser_sg_op_schema msd_op_pooling = {
	.name = "Pooling",
	OP_FIELDS(pooling_fields),
	OP_IN(1, 1),
	OP_OUT(1, 2),
	.infer = msd_op_pool_infer,
};

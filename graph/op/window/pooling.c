/* Pooling: its parameters, and its windows as Caffe, Darknet and ONNX round and pad
 * them. */
#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/window/params.h"
#include "graph/op/window/window.h"

#define KERNELS(p) MSD_OP_EACH(p, kernel, kernel_h, kernel_w)
#define STRIDES(p) MSD_OP_EACH(p, strides, stride_h, stride_w)
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

static void lay(const struct msd_params_pooling *p, struct msd_op_window *w)
{
	const int64_t flavor = p->caffe_flavor & 0xf;

	if (p->auto_pad != 0 || w->before < 0) {
		keep_extent(w, p->auto_pad != AUTO_LOWER);
		return;
	}
	if (flavor == CEIL || p->ceil_mode != 0) {
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
	const struct msd_params_pooling p = msd_params_pooling(node);
	const struct msd_op_each kernel = KERNELS(p);
	const struct msd_op_each stride = STRIDES(p);
	const struct msd_op_padding padding = MSD_OP_PADDING(p, p.pads);
	const size_t n = msd_infer_ndim(node, 0) - 2;

	for (size_t i = 0; i < MSD_OP_AXES; i++)
		ret[i] = (struct msd_op_window){1, 1, 1, 1, 0, 0, 1};
	for (size_t i = 0; i < n; i++) {
		struct msd_op_window *w = &ret[MSD_OP_AXES - n + i];

		w->in = msd_infer_dims(node, 0)[2 + i];
		w->kernel = w->in;
		if (p.global != 0)
			continue;
		w->kernel = msd_op_each_at(&kernel, i, n, 1);
		w->stride = msd_op_each_at(&stride, i, n, 1);
		w->dilation = msd_ints_at(p.dilations, i, 1);
		msd_op_padding_at(&padding, i, n, w);
		lay(&p, w);
	}
}

static int check_params(const modser_sg_node *node, size_t n)
{
	const struct msd_params_pooling p = msd_params_pooling(node);
	const struct msd_op_padding padding = MSD_OP_PADDING(p, p.pads);
	const struct msd_ints list = p.dilations;

	if (msd_op_each_check(node, &KERNELS(p), n, 1, INT32_MAX) != 0 ||
	    msd_op_each_check(node, &STRIDES(p), n, 1, INT32_MAX) != 0 ||
	    msd_op_padding_check(node, &padding, n, -2) != 0)
		return -1;
	if (list.n != 0 && list.n != n)
		return msd_infer_fail(node, "dilations has %zu numbers", list.n);
	for (size_t i = 0; i < list.n; i++) {
		if (list.at[i] < 1 || list.at[i] > INT32_MAX)
			return msd_infer_fail(node, "a dilation is not 1 or more");
	}
	if ((p.caffe_flavor & 0xf) > DARKNET)
		return msd_infer_fail(node, "caffe_flavor is not known");
	if (msd_infer_range(node, "p", p.p, 1, INT16_MAX) != 0)
		return -1;
	return msd_infer_range(node, "alg", p.alg, 0, 2);
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
	OP_PARAMS(MSD_PARAMS_POOLING),
	OP_IN(1, 1),
	OP_OUT(1, 2),
	.infer = msd_op_pool_infer,
};

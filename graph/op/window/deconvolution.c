/* Deconvolution: its parameters, and the input positions that contribute to an output
 * position. */
#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/window/params.h"
#include "graph/op/window/window.h"

#define KERNELS(p) MSD_OP_EACH(p, kernel, kernel_h, kernel_w)
#define STRIDES(p) MSD_OP_EACH(p, strides, stride_h, stride_w)
#define DILATIONS(p) MSD_OP_EACH(p, dilations, dilation_h, dilation_w)
#define EXTRAS(p) MSD_OP_EACH(p, output_padding, output_pad_h0, output_pad_w0)
enum { AUTO_UPPER = 1, AUTO_LOWER };

/* The output is given, or the input times the stride. The excess is cut off, more at
 * the end than at the start for AUTO_UPPER. */
static void cut(struct msd_op_window *w, int64_t whole, int64_t out, bool is_upper)
{
	const int64_t all = whole > out ? whole - out : 0;

	w->before = is_upper ? all / 2 : all - all / 2;
	w->after = all - w->before;
	w->out = out;
}

void msd_op_deconv_windows(const modser_sg_node *node,
			   struct msd_op_window ret[static MSD_OP_AXES])
{
	const struct msd_params_deconvolution p = msd_params_deconvolution(node);
	const struct msd_op_each stride = STRIDES(p);
	const struct msd_op_each dilation = DILATIONS(p);
	const struct msd_op_each extra = EXTRAS(p);
	const struct msd_op_padding padding = MSD_OP_PADDING(p, p.pads);
	const size_t n = msd_infer_ndim(node, 0) - 2;

	for (size_t i = 0; i < MSD_OP_AXES; i++)
		ret[i] = (struct msd_op_window){1, 1, 1, 1, 0, 0, 1};
	for (size_t i = 0; i < n; i++) {
		struct msd_op_window *w = &ret[MSD_OP_AXES - n + i];
		const int64_t shape = msd_ints_at(p.output_shape, i, 0);

		w->in = msd_infer_dims(node, 0)[2 + i];
		w->kernel = msd_infer_dims(node, 1)[2 + i];
		w->stride = msd_op_each_at(&stride, i, n, 1);
		w->dilation = msd_op_each_at(&dilation, i, n, 1);
		msd_op_padding_at(&padding, i, n, w);
		const int64_t whole = w->stride * (w->in - 1) + msd_op_window_reach(w) +
				      msd_op_each_at(&extra, i, n, 0);
		if (shape > 0) {
			cut(w, whole, shape, p.auto_pad == AUTO_UPPER);
		} else if (p.auto_pad != 0) {
			/*
			 * A kernel smaller than its stride produces less, and nothing
			 * is added; ONNX's shape inference and ONNX Runtime do the
			 * same.
			 */
			const int64_t kept = w->in * w->stride;

			cut(w, whole, whole < kept ? whole : kept,
			    p.auto_pad == AUTO_UPPER);
		} else {
			w->out = whole - w->before - w->after;
		}
	}
}

static int check_params(const modser_sg_node *node, size_t n)
{
	const struct msd_params_deconvolution p = msd_params_deconvolution(node);
	const struct msd_op_padding padding = MSD_OP_PADDING(p, p.pads);
	const struct msd_ints shape = p.output_shape;

	if (msd_op_each_check(node, &STRIDES(p), n, 1, INT16_MAX) != 0 ||
	    msd_op_each_check(node, &DILATIONS(p), n, 1, INT16_MAX) != 0 ||
	    msd_op_each_check(node, &KERNELS(p), n, 0, INT32_MAX) != 0 ||
	    msd_op_each_check(node, &EXTRAS(p), n, 0, INT32_MAX) != 0 ||
	    msd_op_padding_check(node, &padding, n, 0) != 0 ||
	    msd_infer_range(node, "group", p.group, 1, INT32_MAX) != 0)
		return -1;
	if (p.activation != -1)
		return msd_infer_fail(node, "an activation in it cannot be run");
	if (shape.n != 0 && shape.n != n)
		return msd_infer_fail(node, "output_shape has %zu numbers", shape.n);
	for (size_t i = 0; i < shape.n; i++) {
		if (shape.at[i] < 1 || shape.at[i] > INT32_MAX)
			return msd_infer_fail(node, "output_shape cannot be");
	}
	return 0;
}

static int check_weights(const modser_sg_node *node, size_t n)
{
	const struct msd_params_deconvolution p = msd_params_deconvolution(node);
	const struct msd_op_each each = KERNELS(p);
	const int64_t *weights = msd_infer_dims(node, 1);

	for (size_t i = 0; i < n; i++) {
		const int64_t kernel = msd_op_each_at(&each, i, n, 0);

		if (weights[2 + i] < 1 || weights[2 + i] > INT16_MAX ||
		    msd_infer_dims(node, 0)[2 + i] > INT32_MAX ||
		    (kernel != 0 && kernel != weights[2 + i])) {
			return msd_infer_fail(node,
					      "its kernel is not that of its weights");
		}
	}
	if (weights[0] % p.group != 0 || msd_infer_dims(node, 0)[1] != weights[0]) {
		return msd_infer_fail(node,
				      "its channels are not those of its weights");
	}
	if (msd_infer_has(node, 2) &&
	    msd_infer_product(node, 2, 0, msd_infer_ndim(node, 2)) / p.group !=
		    weights[1])
		return msd_infer_fail(node, "its bias and its weights do not fit");
	return 0;
}

static int infer(modser_sg_node *node)
{
	struct msd_op_window windows[MSD_OP_AXES];
	int64_t dims[2 + MSD_OP_AXES];
	size_t n;

	if (msd_op_window_axes(node, &n) != 0 || msd_infer_rank(node, 1, n + 2) != 0 ||
	    msd_infer_alike(node, 0, 3) != 0 || check_params(node, n) != 0 ||
	    check_weights(node, n) != 0)
		return -1;
	msd_op_deconv_windows(node, windows);
	dims[0] = msd_infer_dims(node, 0)[0];
	if (__builtin_mul_overflow(msd_infer_dims(node, 1)[1],
				   msd_params_deconvolution(node).group, &dims[1]))
		return msd_infer_fail(node, "it is too large");
	for (size_t i = 0; i < n; i++) {
		dims[2 + i] = windows[MSD_OP_AXES - n + i].out;
		if (dims[2 + i] < 1)
			return msd_infer_fail(node, "what it makes has no extent");
	}
	return msd_infer_set(node, dims, n + 2);
}

const modser_sg_op_schema msd_op_deconvolution = {
	.name = "Deconvolution",
	OP_PARAMS(MSD_PARAMS_DECONVOLUTION),
	OP_IN(2, 3),
	.optional_in = 4,
	OP_OUT(1, 1),
	.infer = infer,
};

/* Convolution, and the checks that quantized convolutions share: windows, extents,
 * weights and bias. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/quantized/params.h"
#include "graph/op/window/params.h"
#include "graph/op/window/window.h"

/* Tengine's marks for the padding that keeps the extent, divided by the stride. */
enum { SAME_UPPER = -1, SAME_LOWER = -2 };

static void keep_extent(struct msd_op_window *w)
{
	const bool is_upper = w->before == SAME_UPPER;

	w->out = (w->in + w->stride - 1) / w->stride;
	int64_t all = (w->out - 1) * w->stride + msd_op_window_reach(w) - w->in;
	all = all < 0 ? 0 : all;
	w->before = is_upper ? all / 2 : all - all / 2;
	w->after = all - w->before;
}

extern const modser_sg_op_schema msd_op_deformable_convolution;
extern const modser_sg_op_schema msd_op_conv_integer;
extern const modser_sg_op_schema msd_op_q_linear_conv;
extern const modser_sg_op_schema msd_op_quantized_convolution;

static bool is_quantized(const modser_sg_node *node)
{
	return node->op->schema == &msd_op_q_linear_conv ||
	       node->op->schema == &msd_op_quantized_convolution;
}

size_t msd_op_conv_weights(const modser_sg_node *node)
{
	return is_quantized(node) ? 3 : 1;
}

#define CONV(p)                                                                        \
	((struct msd_op_conv){MSD_OP_EACH(p, kernel, kernel_h, kernel_w),              \
			      MSD_OP_EACH(p, strides, stride_h, stride_w),             \
			      MSD_OP_EACH(p, dilations, dilation_h, dilation_w),       \
			      MSD_OP_PADDING(p, (p).pads), (p).group})

struct msd_op_conv msd_op_conv_of(const modser_sg_node *node)
{
	if (node->op->schema == &msd_op_deformable_convolution) {
		const struct msd_params_deformable_convolution p =
			msd_params_deformable_convolution(node);

		return (struct msd_op_conv){
			MSD_OP_EACH_HW(p, kernel_h, kernel_w),
			MSD_OP_EACH_HW(p, stride_h, stride_w),
			MSD_OP_EACH_HW(p, dilation_h, dilation_w),
			MSD_OP_PADDING(p, ((struct msd_ints){NULL, 0})), p.group};
	}
	if (is_quantized(node) || node->op->schema == &msd_op_conv_integer) {
		const struct msd_params_conv_integer p = msd_params_conv_integer(node);

		return CONV(p);
	}
	const struct msd_params_convolution p = msd_params_convolution(node);
	return CONV(p);
}

void msd_op_conv_windows(const modser_sg_node *node,
			 struct msd_op_window ret[static MSD_OP_AXES])
{
	const size_t n = msd_infer_ndim(node, 0) - 2;
	const size_t weights = msd_op_conv_weights(node);
	const struct msd_op_conv c = msd_op_conv_of(node);

	for (size_t i = 0; i < MSD_OP_AXES; i++)
		ret[i] = (struct msd_op_window){1, 1, 1, 1, 0, 0, 1};
	for (size_t i = 0; i < n; i++) {
		struct msd_op_window *w = &ret[MSD_OP_AXES - n + i];

		w->in = msd_infer_dims(node, 0)[2 + i];
		w->kernel = msd_infer_dims(node, weights)[2 + i];
		w->stride = msd_op_each_at(&c.stride, i, n, 1);
		w->dilation = msd_op_each_at(&c.dilation, i, n, 1);
		msd_op_padding_at(&c.padding, i, n, w);
		if (w->before == SAME_UPPER || w->before == SAME_LOWER) {
			keep_extent(w);
		} else {
			const int64_t room =
				w->in + w->before + w->after - msd_op_window_reach(w);

			w->out = room < 0 ? 0 : room / w->stride + 1;
		}
	}
}

static int check_params(const modser_sg_node *node, const struct msd_op_conv *c,
			size_t n)
{
	if (msd_op_each_check(node, &c->stride, n, 1, INT32_MAX) != 0 ||
	    msd_op_each_check(node, &c->dilation, n, 1, INT32_MAX) != 0 ||
	    msd_op_each_check(node, &c->kernel, n, 0, INT32_MAX) != 0 ||
	    msd_op_padding_check(node, &c->padding, n, SAME_LOWER) != 0 ||
	    msd_infer_range(node, "group", c->group, 1, INT32_MAX) != 0)
		return -1;
	return 0;
}

static int check_weights(const modser_sg_node *node, const struct msd_op_conv *c,
			 size_t n, size_t bias)
{
	const size_t w = msd_op_conv_weights(node);
	const int64_t group = c->group;
	const int64_t *weights = msd_infer_dims(node, w);

	for (size_t i = 0; i < n; i++) { /* 0 means: as large as its weights */
		const int64_t kernel = msd_op_each_at(&c->kernel, i, n, 0);

		if (weights[2 + i] < 1 || weights[2 + i] > INT32_MAX ||
		    (kernel != 0 && kernel != weights[2 + i])) {
			return msd_infer_fail(node,
					      "its kernel is not that of its weights");
		}
	}
	if (weights[0] % group != 0 || msd_infer_dims(node, 0)[1] % group != 0 ||
	    msd_infer_dims(node, 0)[1] / group != weights[1]) {
		return msd_infer_fail(node,
				      "its channels are not those of its weights");
	}
	if (msd_infer_has(node, bias) &&
	    msd_infer_product(node, bias, 0, msd_infer_ndim(node, bias)) != weights[0])
		return msd_infer_fail(node, "its bias and its weights do not fit");
	return 0;
}

int msd_op_conv_infer(const modser_sg_node *node, size_t bias)
{
	const size_t w = msd_op_conv_weights(node);
	const struct msd_op_conv c = msd_op_conv_of(node);
	struct msd_op_window windows[MSD_OP_AXES];
	int64_t dims[2 + MSD_OP_AXES];
	size_t n;

	if (msd_op_window_axes(node, &n) != 0 || msd_infer_rank(node, w, n + 2) != 0 ||
	    check_params(node, &c, n) != 0 || check_weights(node, &c, n, bias) != 0)
		return -1;
	msd_op_conv_windows(node, windows);
	dims[0] = msd_infer_dims(node, 0)[0];
	dims[1] = msd_infer_dims(node, w)[0];
	for (size_t i = 0; i < n; i++) {
		const struct msd_op_window *axis = &windows[MSD_OP_AXES - n + i];

		if (axis->out < 1 || axis->after < 0) {
			return msd_infer_fail(node,
					      "its kernel is larger than its input");
		}
		dims[2 + i] = axis->out;
	}
	return msd_infer_set(node, dims, n + 2);
}

static int infer(modser_sg_node *node)
{
	const int64_t activation = msd_params_convolution(node).activation;
	if (activation != -1 && activation != 0 && activation != 1 && activation != 6) {
		return msd_infer_fail(node, "activation %d is not known",
				      (int)activation);
	}
	if (msd_infer_alike(node, 0, 3) != 0)
		return -1;
	return msd_op_conv_infer(node, 2);
}

/* Input 3 has a factor and an addend for each channel; only a pass creates it. */
static int check_terms(const modser_sg_node *node)
{
	const struct msd_dtype f64 = {MSD_DT_FLOAT, 64, 1};

	if (msd_infer_rank(node, 3, 2) != 0)
		return -1;
	if (!msd_dtype_eq(msd_infer_dtype_of(node, 3), f64) ||
	    msd_infer_dims(node, 3)[0] != 2 ||
	    msd_infer_dims(node, 3)[1] != msd_infer_dims(node, 1)[0])
		return msd_infer_fail(node, "its factors and its weights do not fit");
	return 0;
}

static int infer_scaled(modser_sg_node *node)
{
	if (!msd_infer_has(node, 3))
		return msd_infer_fail(node, "it has no factors");
	const int result = infer(node);
	return result != 0 ? result : check_terms(node);
}

/* Input 4, the residual, has the shape of the output. */
static int infer_fused(modser_sg_node *node)
{
	const modser_sg_tensor *y = modser_sg_node_output(node, 0);

	if (MSD_PARAM_RANGE(node, fused_convolution, fused, 0, MSD_FUSED_COUNT - 1) !=
	    0)
		return -1;
	const int result = infer(node);
	if (result != 0 || (msd_infer_has(node, 3) && check_terms(node) != 0))
		return result != 0 ? result : -1;
	if (!msd_infer_has(node, 4))
		return 0;
	const size_t ndim = msd_infer_ndim(node, 4);
	if (!msd_dtype_eq(msd_infer_dtype_of(node, 4), msd_infer_dtype_of(node, 0)) ||
	    (int)ndim != modser_sg_tensor_ndim(y) ||
	    memcmp(msd_infer_dims(node, 4), modser_sg_tensor_dims(y),
		   ndim * sizeof(int64_t)) != 0)
		return msd_infer_fail(node, "its residual has another shape");
	return 0;
}

const modser_sg_op_schema msd_op_convolution = {
	.name = "Convolution",
	OP_PARAMS(MSD_PARAMS_CONVOLUTION),
	OP_IN(2, 3),
	.optional_in = 4,
	OP_OUT(1, 1),
	.infer = infer,
};

const modser_sg_op_schema msd_op_scaled_convolution = {
	.name = "ScaledConvolution",
	OP_PARAMS(MSD_PARAMS_CONVOLUTION),
	OP_IN(2, 4),
	.optional_in = 4,
	OP_OUT(1, 1),
	.infer = infer_scaled,
};

const modser_sg_op_schema msd_op_fused_convolution = {
	.name = "FusedConvolution", /* MSD_FUSED_CONVOLUTION */
	OP_PARAMS(MSD_PARAMS_FUSED_CONVOLUTION),
	OP_IN(2, 5),
	.optional_in = 4 | 8 | 16,
	OP_OUT(1, 1),
	.infer = infer_fused,
};

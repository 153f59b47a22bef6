/* Write convolutions and poolings as ONNX: fields of two axes become lists. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/window/window.h"
#include "graph/serializer/onnx/emit.h"
#include "graph/serializer/onnx/out.h"

#define SHARED                                                                         \
	"kernel_h kernel_w stride_h stride_w pad_h0 pad_w0 pad_h1 pad_w1 kernel "      \
	"strides dilations pads "

/* The number of spatial axes: from input 0, or from its lists. */
static size_t count_axes(const struct onnx_out *o)
{
	const modser_sg_attr *list = modser_sg_op_param(o->op, "kernel");
	const int ndim = onnx_out_ndim(o, 0);

	if (ndim >= 3 && ndim <= 2 + (int)MSD_OP_AXES)
		return (size_t)ndim - 2;
	return list->n > 0 && list->n <= MSD_OP_AXES ? list->n : 2;
}

static void put_list(const struct onnx_out *o, Onnx__NodeProto *node, size_t n,
		     const char *attr, const char *list, const char *const hw[2])
{
	const modser_sg_attr *own = modser_sg_op_param(o->op, list);
	int64_t values[2];

	if (n != 2 || hw[0] == NULL) {
		if (own->n > 0 && own->as.ints[0] > 0)
			onnx_emit_ints(o->e, node, attr, own->as.ints, own->n);
		return;
	}
	for (size_t i = 0; i < 2; i++)
		values[i] = modser_sg_op_int(o->op, hw[i]);
	if (values[0] > 0 && values[1] > 0) /* otherwise it is taken from the weights */
		onnx_emit_ints(o->e, node, attr, values, 2);
}

static int64_t first_pad(const struct onnx_out *o, size_t n)
{
	const modser_sg_attr *own = modser_sg_op_param(o->op, "pads");

	if (n == 2)
		return modser_sg_op_int(o->op, "pad_h0");
	return own->n > 0 ? own->as.ints[0] : 0;
}

/* Write the padding of a convolution as numbers if its extents stay the same and its
 * windows are dilated: ONNX Runtime has no automatic padding of these. */
static bool put_same(const struct onnx_out *o, Onnx__NodeProto *node, size_t n)
{
	const modser_sg_tensor *x = o->node->inputs[0];
	struct msd_op_window w[MSD_OP_AXES];
	int64_t pads[2 * MSD_OP_AXES];
	bool is_dilated = false;

	if (first_pad(o, n) >= 0 || x == NULL || x->ndim != (int)n + 2)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (x->dims[2 + i] < 0)
			return false;
	}
	msd_op_conv_windows(o->node, w);
	for (size_t i = 0; i < n; i++) {
		const struct msd_op_window *one = &w[MSD_OP_AXES - n + i];

		is_dilated = is_dilated || one->dilation != 1;
		pads[i] = one->before;
		pads[n + i] = one->after;
	}
	if (is_dilated)
		onnx_emit_ints(o->e, node, "pads", pads, 2 * n);
	return is_dilated;
}

/* Write the padding; a negative value means same extent. */
static void put_pads(const struct onnx_out *o, Onnx__NodeProto *node, size_t n,
		     int64_t auto_pad)
{
	static const char *const names[] = {"pad_h0", "pad_w0", "pad_h1", "pad_w1"};
	const modser_sg_attr *own = modser_sg_op_param(o->op, "pads");
	int64_t pads[2 * MSD_OP_AXES] = {0};

	for (size_t i = 0; i < 4 && n == 2; i++)
		pads[i] = modser_sg_op_int(o->op, names[i]);
	for (size_t i = 0; i < own->n && n != 2 && i < 2 * MSD_OP_AXES; i++)
		pads[i] = own->as.ints[i];
	if (auto_pad == 0 && pads[0] < 0)
		auto_pad = -pads[0];
	if (auto_pad != 0) {
		onnx_emit_string(o->e, node, "auto_pad",
				 auto_pad == 2 ? "SAME_LOWER" : "SAME_UPPER", false);
	} else {
		onnx_emit_ints(o->e, node, "pads", pads, 2 * n);
	}
}

static void put_inputs(const struct onnx_out *o, Onnx__NodeProto *node)
{
	for (size_t i = 0; i < o->node->n_inputs; i++)
		onnx_emit_in(o->e, node, onnx_out_input(o, i));
}

/* Write Tengine's fused activation as a separate node after the convolution. */
static int put_activation(const struct onnx_out *o, Onnx__NodeProto *conv,
			  int64_t activation)
{
	char *between = onnx_emit_name(o->e, o->node->name);
	Onnx__NodeProto *node;

	if (activation == -1) {
		onnx_emit_out(o->e, conv, onnx_out_output(o, 0));
		return 0;
	}
	onnx_emit_out(o->e, conv, between);
	node = onnx_emit_node(o->e, activation == 0 ? "Relu" : "Clip", o->node->name);
	onnx_emit_in(o->e, node, between);
	if (activation != 0) {
		onnx_emit_in(o->e, node,
			     onnx_emit_scalar(o->e, activation == 1 ? -1 : 0));
		onnx_emit_in(o->e, node,
			     onnx_emit_scalar(o->e, activation == 1 ? 1 : 6));
	}
	onnx_emit_out(o->e, node, onnx_out_output(o, 0));
	return 0;
}

#define CONV                                                                           \
	SHARED "dilation_h dilation_w input_channel output_channel group activation"
/* Write a node called @op without its output. */
static Onnx__NodeProto *put_conv(const struct onnx_out *o, const char *op)
{
	static const char *const kernel[] = {"kernel_h", "kernel_w"};
	static const char *const strides[] = {"stride_h", "stride_w"};
	static const char *const dilations[] = {"dilation_h", "dilation_w"};
	const size_t n = count_axes(o);
	Onnx__NodeProto *node = onnx_emit_node(o->e, op, o->node->name);

	put_inputs(o, node);
	put_list(o, node, n, "kernel_shape", "kernel", kernel);
	put_list(o, node, n, "strides", "strides", strides);
	put_list(o, node, n, "dilations", "dilations", dilations);
	onnx_emit_int(o->e, node, "group", modser_sg_op_int(o->op, "group"));
	if (!put_same(o, node, n))
		put_pads(o, node, n, 0);
	return node;
}

static int store_conv(const struct onnx_out *o)
{
	const int64_t activation = modser_sg_op_int(o->op, "activation");

	if (activation != -1 && activation != 0 && activation != 1 && activation != 6)
		return onnx_out_fail(o, "ONNX has no activation %d", (int)activation);
	if (onnx_out_check(o, CONV) != 0)
		return -1;
	return put_activation(o, put_conv(o, "Conv"), activation);
}

/* Write an integer convolution, whose ONNX name equals its name here. */
static int store_quantized_conv(const struct onnx_out *o)
{
	if (onnx_out_check(o, CONV) != 0)
		return -1;
	onnx_emit_out(o->e, put_conv(o, o->op->schema->name), onnx_out_output(o, 0));
	return 0;
}

static int store_deconv(const struct onnx_out *o)
{
	static const char *const kernel[] = {"kernel_h", "kernel_w"};
	static const char *const strides[] = {"stride_h", "stride_w"};
	static const char *const dilations[] = {"dilation_h", "dilation_w"};
	static const char *const none[] = {NULL, NULL};
	const size_t n = count_axes(o);
	const int64_t extra[] = {modser_sg_op_int(o->op, "output_pad_h0"),
				 modser_sg_op_int(o->op, "output_pad_w0")};

	if (onnx_out_check(o, SHARED
			   "dilation_h dilation_w num_output group output_pad_h0 "
			   "output_pad_w0 output_padding output_shape auto_pad") != 0)
		return -1;
	Onnx__NodeProto *node = onnx_emit_node(o->e, "ConvTranspose", o->node->name);
	put_inputs(o, node);
	onnx_emit_out(o->e, node, onnx_out_output(o, 0));
	put_list(o, node, n, "kernel_shape", "kernel", kernel);
	put_list(o, node, n, "strides", "strides", strides);
	put_list(o, node, n, "dilations", "dilations", dilations);
	put_list(o, node, n, "output_shape", "output_shape", none);
	const modser_sg_attr *extras = modser_sg_op_param(o->op, "output_padding");
	if (n == 2) {
		onnx_emit_ints(o->e, node, "output_padding", extra, 2);
	} else if (extras->n > 0) {
		onnx_emit_ints(o->e, node, "output_padding", extras->as.ints,
			       extras->n);
	}
	onnx_emit_int(o->e, node, "group", modser_sg_op_int(o->op, "group"));
	put_pads(o, node, n, modser_sg_op_int(o->op, "auto_pad"));
	return 0;
}

enum { MAX, MEAN, NORM }; /* Pooling's alg */

/*
 * Effect of rounding up on an axis: it adds a window (UP), or the window is dropped
 * because it would begin in the padding at the end (DROPPED). Windows from rounding
 * down are never dropped, because no padding is as large as a window.
 */
enum { UP, DROPPED, N_ROUNDINGS };

/* Find the last axis of each kind; 0 if none. */
static void find_rounded(const struct onnx_out *o, size_t ret[static N_ROUNDINGS])
{
	const size_t n = count_axes(o);
	struct msd_op_window windows[MSD_OP_AXES];

	msd_op_pool_windows(o->node, windows);
	for (size_t i = 0; i < n; i++) {
		const struct msd_op_window *w = &windows[MSD_OP_AXES - n + i];
		const int64_t room =
			w->in + w->before + w->after - msd_op_window_reach(w);

		if (room < 0) { /* kernel larger than its input: one window or none */
			ret[w->out > 0 ? UP : DROPPED] = i + 2;
		} else if (room % w->stride != 0) {
			ret[w->out == room / w->stride + 1 ? DROPPED : UP] = i + 2;
		}
	}
}

/*
 * Shape inference of opset 17 counts a dropped window, though no runtime computes it.
 * So rounding down is written if it gives the right number of windows. Unknown
 * extents are not compared.
 */
static int round_up(const struct onnx_out *o, bool *ret)
{
	size_t axes[N_ROUNDINGS] = {0};

	*ret = (modser_sg_op_int(o->op, "caffe_flavor") & 0xf) == 1 ||
	       modser_sg_op_int(o->op, "ceil_mode") != 0;
	if (!*ret || !o->e->has_shapes || onnx_out_ndim(o, 0) < 3 ||
	    modser_sg_op_int(o->op, "auto_pad") != 0 ||
	    modser_sg_op_int(o->op, "pad_h0") < 0)
		return 0;
	for (int i = 2; i < onnx_out_ndim(o, 0); i++) {
		if (o->node->inputs[0]->dims[i] < 0)
			return 0;
	}
	find_rounded(o, axes);
	if (axes[DROPPED] > 0 && axes[UP] > 0) {
		return onnx_out_fail(o,
				     "opset 17 does not drop the window in the padding "
				     "behind axis %zu while axis %zu is rounded up",
				     axes[DROPPED], axes[UP]);
	}
	*ret = axes[DROPPED] == 0;
	return 0;
}

/* Attributes of some kinds only. Caffe's rounding up counts padding in means. */
static int put_pool_kind(const struct onnx_out *o, Onnx__NodeProto *node, int64_t alg)
{
	static const char *const none[] = {NULL, NULL};
	const int64_t flavor = modser_sg_op_int(o->op, "caffe_flavor");
	bool is_ceil;

	if (round_up(o, &is_ceil) != 0)
		return -1;
	if (alg != MAX && modser_sg_op_param(o->op, "dilations")->n > 0)
		return onnx_out_fail(o, "opset 17 dilates windows of MaxPool alone");
	if (alg == NORM && is_ceil)
		return onnx_out_fail(o, "opset 17 does not round LpPool up");
	if (is_ceil)
		onnx_emit_int(o->e, node, "ceil_mode", 1);
	if (alg == MEAN) {
		onnx_emit_int(o->e, node, "count_include_pad",
			      (flavor & 0xf) == 1 || (flavor & 0x10) != 0);
	} else if (alg == NORM) {
		onnx_emit_int(o->e, node, "p", modser_sg_op_int(o->op, "p"));
	} else {
		put_list(o, node, count_axes(o), "dilations", "dilations", none);
		if (modser_sg_op_int(o->op, "storage_order") != 0)
			onnx_emit_int(o->e, node, "storage_order", 1);
	}
	return 0;
}

/* Darknet says the sum of both ends. */
static void put_darknet_pads(const struct onnx_out *o, Onnx__NodeProto *node)
{
	const int64_t h = modser_sg_op_int(o->op, "pad_h0");
	const int64_t w = modser_sg_op_int(o->op, "pad_w0");
	const int64_t pads[] = {h / 2, w / 2, h - h / 2, w - w / 2};

	onnx_emit_ints(o->e, node, "pads", pads, 4);
}

static int store_window_pool(const struct onnx_out *o, int64_t alg)
{
	static const char *const names[] = {"MaxPool", "AveragePool", "LpPool"};
	static const char *const kernel[] = {"kernel_h", "kernel_w"};
	static const char *const strides[] = {"stride_h", "stride_w"};
	const size_t n = count_axes(o);

	const bool is_darknet = (modser_sg_op_int(o->op, "caffe_flavor") & 0xf) == 2;

	Onnx__NodeProto *node = onnx_emit_node(o->e, names[alg], o->node->name);
	put_inputs(o, node);
	for (size_t i = 0; i < o->node->n_outputs; i++)
		onnx_emit_out(o->e, node, onnx_out_output(o, i));
	put_list(o, node, n, "kernel_shape", "kernel", kernel);
	put_list(o, node, n, "strides", "strides", strides);
	if (is_darknet) {
		put_darknet_pads(o, node);
	} else {
		put_pads(o, node, n, modser_sg_op_int(o->op, "auto_pad"));
	}
	return put_pool_kind(o, node, alg);
}

static int store_pool(const struct onnx_out *o)
{
	static const char *const names[] = {"GlobalMaxPool", "GlobalAveragePool",
					    "GlobalLpPool"};
	const int64_t alg = modser_sg_op_int(o->op, "alg");

	if (onnx_out_check(o, SHARED "alg global caffe_flavor ceil_mode auto_pad "
				     "storage_order p") != 0)
		return -1;
	if (alg < MAX || alg > NORM)
		return onnx_out_fail(o, "ONNX has no such kind");
	if (modser_sg_op_int(o->op, "global") == 0)
		return store_window_pool(o, alg);
	Onnx__NodeProto *node = onnx_out_node(o, names[alg]);
	if (alg == NORM)
		onnx_emit_int(o->e, node, "p", modser_sg_op_int(o->op, "p"));
	return 0;
}

const struct onnx_form onnx_forms_window[] = {
	{"ConvInteger", store_quantized_conv}, {"Convolution", store_conv},
	{"Deconvolution", store_deconv},       {"Pooling", store_pool},
	{"QLinearConv", store_quantized_conv}, {NULL, NULL},
};

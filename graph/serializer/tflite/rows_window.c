/* Convolutions, poolings, and operators on planes. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/build/compose.h"
#include "graph/serializer/tflite/layer.h"

enum { SAME, VALID }; /* Padding of TFLite */

/* Numbers of the fields of an operator's options. */
struct fields {
	unsigned stride_w, stride_h, activation, dilation_w, dilation_h;
};
static const struct fields conv_fields = {1, 2, 3, 4, 5};
static const struct fields depthwise_fields = {1, 2, 4, 5, 6};

static modser_sg_tensor *put_strides(const struct tflite_layer *x, modser_sg_tensor *t)
{
	t = msd_build_int(t, "stride_w", flat_i32(x->f, &x->options, 1, 0));
	return msd_build_int(t, "stride_h", flat_i32(x->f, &x->options, 2, 0));
}

static modser_sg_tensor *finish(const struct tflite_layer *x, modser_sg_tensor *t,
				unsigned activation)
{
	t = tflite_activate(x, msd_build_done(t), activation);
	return tflite_unplane(&x->b, t);
}

/* The weights are [O, I, H, W] here; @group times I are the channels of the input. */
static modser_sg_tensor *convolve(const struct tflite_layer *x,
				  const struct fields *fields,
				  modser_sg_tensor *weights, int64_t group)
{
	static const char *const pads[] = {"pad_h0", "pad_w0", "pad_h1", "pad_w1"};
	modser_sg_tensor *in[] = {tflite_planes(x, 0), weights, NULL};
	const bool has_bias = tflite_has(x, 2);

	if (weights == NULL)
		return NULL;
	if (has_bias && (in[2] = tflite_value(x, 2)) == NULL)
		return NULL;
	modser_sg_tensor *t =
		msd_build_node(&x->b, "Convolution", in, has_bias ? 3 : 2);
	t = put_strides(x, t);
	t = msd_build_int(t, "dilation_w",
			  flat_i32(x->f, &x->options, fields->dilation_w, 1));
	t = msd_build_int(t, "dilation_h",
			  flat_i32(x->f, &x->options, fields->dilation_h, 1));
	if (weights->ndim == 4) {
		t = msd_build_int(t, "kernel_h", weights->dims[2]);
		t = msd_build_int(t, "kernel_w", weights->dims[3]);
		t = msd_build_int(t, "output_channel", weights->dims[0]);
		t = msd_build_int(t, "input_channel", group * weights->dims[1]);
	}
	for (size_t i = 0; i < 4 && flat_u8(x->f, &x->options, 0, SAME) == SAME; i++)
		t = msd_build_int(t, pads[i], -1);
	return finish(x, msd_build_int(t, "group", group), fields->activation);
}

static modser_sg_tensor *load_conv(const struct tflite_layer *x)
{
	modser_sg_tensor *weights = tflite_turned(x, 1, TFLITE_TURN_OIHW);
	const int64_t channels = tflite_extent(x, 0, 3);
	int64_t group = 1;

	if (weights != NULL && weights->ndim == 4 && channels > 0 &&
	    weights->dims[1] > 0 && channels % weights->dims[1] == 0)
		group = channels / weights->dims[1];
	return convolve(x, &conv_fields, weights, group);
}

/* The weights are [1, H, W, C * multiplier]. */
static modser_sg_tensor *load_depthwise(const struct tflite_layer *x)
{
	modser_sg_tensor *weights = tflite_turned(x, 1, TFLITE_TURN_IOHW);
	const int64_t multiplier = flat_i32(x->f, &x->options, 3, 0);
	int64_t group = tflite_extent(x, 0, 3);

	if (group < 1 && weights != NULL && weights->ndim == 4 && multiplier > 0)
		group = weights->dims[0] / multiplier;
	return group > 0 ? convolve(x, &depthwise_fields, weights, group)
			 : tflite_fail(x, "its input has no number of channels");
}

/* Height and width of the output: of input 0, or as the file says of the output. */
static bool find_size(const struct tflite_layer *x, int64_t *ret)
{
	const struct tflite_tensor *y = &x->tensors[flat_at_i32(&x->out, 0)];
	const struct flat_vector *shape =
		y->open.n == y->shape.n ? &y->open : &y->shape;
	int64_t all[MODSER_GRAPH_MAX_NDIM];
	size_t n = shape->n;

	if (!tflite_is_constant(x, 0) && n == 4 && flat_at_i32(shape, 1) > 0 &&
	    flat_at_i32(shape, 2) > 0) {
		ret[0] = flat_at_i32(shape, 1);
		ret[1] = flat_at_i32(shape, 2);
		return true;
	}
	if (!tflite_ints(x, 0, all, MODSER_GRAPH_MAX_NDIM, &n))
		return false;
	if (n != 4) {
		(void)tflite_fail(x, "the shape of its output has not four extents");
		return false;
	}
	memcpy(ret, all + 1, 2 * sizeof(*ret));
	return true;
}

/* Inputs are the output's shape, the weights, the input and a bias. */
static modser_sg_tensor *load_transpose_conv(const struct tflite_layer *x)
{
	modser_sg_tensor *in[] = {tflite_planes(x, 2),
				  tflite_turned(x, 1, TFLITE_TURN_IOHW), NULL};
	const bool has_bias = tflite_has(x, 3);
	int64_t size[2];

	if (in[1] == NULL || !find_size(x, size))
		return NULL;
	if (has_bias && (in[2] = tflite_value(x, 3)) == NULL)
		return NULL;
	modser_sg_tensor *t =
		msd_build_node(&x->b, "Deconvolution", in, has_bias ? 3 : 2);
	t = msd_build_int(put_strides(x, t), "num_output", in[1]->dims[1]);
	t = msd_build_int(t, "kernel_h", in[1]->dims[2]);
	t = msd_build_int(t, "kernel_w", in[1]->dims[3]);
	t = msd_build_list(t, "output_shape", size, 2);
	return finish(x, msd_build_int(t, "auto_pad", 1), 3);
}

static modser_sg_tensor *load_pool(const struct tflite_layer *x)
{
	modser_sg_tensor *planes = tflite_planes(x, 0);
	modser_sg_tensor *t = msd_build_node(&x->b, "Pooling", &planes, 1);

	t = msd_build_int(put_strides(x, t), "alg", x->row->type);
	t = msd_build_int(t, "kernel_w", flat_i32(x->f, &x->options, 3, 0));
	t = msd_build_int(t, "kernel_h", flat_i32(x->f, &x->options, 4, 0));
	if (flat_u8(x->f, &x->options, 0, SAME) == SAME)
		t = msd_build_int(t, "auto_pad", 1);
	return finish(x, t, 5);
}

/* x / (bias + alpha * the sum of squares)^beta; LRN has alpha over the window. */
static modser_sg_tensor *load_lrn(const struct tflite_layer *x)
{
	modser_sg_tensor *planes = tflite_planes(x, 0);
	const int32_t radius = flat_i32(x->f, &x->options, 0, 0);
	modser_sg_tensor *t = msd_build_node(&x->b, "LRN", &planes, 1);

	if (radius < 0 || radius > INT16_MAX)
		return tflite_fail(x, "radius %d", radius);
	const int32_t size = 2 * radius + 1;
	t = msd_build_int(msd_build_int(t, "local_size", size), "is_onnx", 1);
	t = msd_build_float(t, "k", flat_f32(x->f, &x->options, 1, 0));
	t = msd_build_float(t, "alpha",
			    flat_f32(x->f, &x->options, 2, 0) * (float)size);
	t = msd_build_float(t, "beta", flat_f32(x->f, &x->options, 3, 0));
	return tflite_unplane(&x->b, msd_build_done(t));
}

static modser_sg_tensor *load_blocks(const struct tflite_layer *x)
{
	modser_sg_tensor *planes = tflite_planes(x, 0);
	modser_sg_tensor *t = msd_build_node(&x->b, x->row->op, &planes, 1);

	t = msd_build_int(t, "block_size", flat_i32(x->f, &x->options, 0, 0));
	return tflite_unplane(&x->b, msd_build_done(t));
}

/* The four sizes of @planes when height and width are input 1. */
static modser_sg_tensor *all_sizes(const struct tflite_layer *x,
				   modser_sg_tensor *planes)
{
	int64_t all[] = {planes->dims[0], planes->dims[1], -1, -1};
	size_t n = 0;

	if (planes->ndim == 4 && all[0] >= 0 && all[1] >= 0 &&
	    tflite_is_constant(x, 1)) {
		if (!tflite_ints(x, 1, all + 2, 2, &n) || n != 2)
			return tflite_fail(x, "its sizes are not two");
		return msd_build_ints(&x->b, all, 4);
	}
	modser_sg_tensor *const parts[] = {
		msd_build_range(&x->b, msd_build_one(&x->b, "Shape", planes), 0, 0, 2),
		tflite_cast(x, tflite_value(x, 1), "int64")};
	return msd_build_concat(&x->b, parts, 2, 0);
}

/* Planes are resized. */
static modser_sg_tensor *load_resize(const struct tflite_layer *x)
{
	const bool is_nearest = x->row->type == 1;
	const unsigned first = is_nearest ? 0 : 2; /* field of align_corners */
	const bool aligns = flat_u8(x->f, &x->options, first, 0) != 0;
	const bool is_half = flat_u8(x->f, &x->options, first + 1, 0) != 0;
	modser_sg_tensor *planes = tflite_planes(x, 0);
	modser_sg_tensor *sizes = planes != NULL ? all_sizes(x, planes) : NULL;

	if (sizes == NULL)
		return NULL;
	modser_sg_tensor *t = msd_build_node(&x->b, "Resize", &planes, 1);
	if (t == NULL || modser_sg_node_add_input(t->producer, NULL) < 0 ||
	    modser_sg_node_add_input(t->producer, NULL) < 0 ||
	    modser_sg_node_add_input(t->producer, sizes) < 0)
		return NULL;
	t = msd_build_text(t, "mode", is_nearest ? "nearest" : "linear");
	t = msd_build_text(t, "coordinate_transformation_mode",
			   aligns    ? "align_corners"
			   : is_half ? "half_pixel"
				     : "asymmetric");
	t = msd_build_text(t, "nearest_mode",
			   aligns || is_half ? "round_prefer_ceil" : "floor");
	return tflite_unplane(&x->b, msd_build_done(t));
}

/* The input's rows and the weights' are multiplied. The result has two dimensions, or
 * all of the input but the last. */
static modser_sg_tensor *load_fully_connected(const struct tflite_layer *x)
{
	const bool keeps = flat_u8(x->f, &x->options, 2, 0) != 0;
	modser_sg_tensor *value = tflite_value(x, 0);
	modser_sg_tensor *weights = tflite_value(x, 1);
	modser_sg_tensor *bias = NULL;

	if (flat_u8(x->f, &x->options, 1, 0) != 0)
		return tflite_fail(x, "shuffled weights cannot be read");
	if (value == NULL || weights == NULL || weights->ndim != 2) {
		return weights != NULL && value != NULL
			       ? tflite_fail(x, "its weights are no matrix")
			       : NULL;
	}
	if (tflite_has(x, 2) && (bias = tflite_value(x, 2)) == NULL)
		return NULL;
	const int64_t flat[] = {-1, weights->dims[1]};
	modser_sg_tensor *t;
	if (keeps && tflite_ndim(x, 0) > 2) {
		t = msd_build_two(&x->b, "MatMul", value,
				  tflite_turned(x, 1, TFLITE_TURN_MATRIX));
		t = bias != NULL ? msd_build_two(&x->b, "Add", t, bias) : t;
		return tflite_activate(x, t, 0);
	}
	if (tflite_ndim(x, 0) != 2 || tflite_extent(x, 0, 1) != weights->dims[1])
		value = msd_build_reshape(&x->b, value, flat, 2);
	modser_sg_tensor *const in[] = {value, weights, bias};
	t = msd_build_node(&x->b, "Gemm", in, bias != NULL ? 3 : 2);
	t = msd_build_done(msd_build_int(t, "transB", 1));
	return tflite_activate(x, t, 0);
}

static modser_sg_tensor *swap_last(const struct tflite_layer *x, size_t i)
{
	modser_sg_tensor *t = tflite_value(x, i);
	const size_t n = tflite_ndim(x, i);
	int64_t perm[MODSER_GRAPH_MAX_NDIM];

	if (t == NULL || flat_u8(x->f, &x->options, (unsigned)i, 0) == 0)
		return t;
	if (n < 2 || n > MODSER_GRAPH_MAX_NDIM)
		return tflite_fail(x, "input %zu has no matrices", i);
	for (size_t k = 0; k < n; k++)
		perm[k] = (int64_t)k;
	perm[n - 2] = (int64_t)n - 1;
	perm[n - 1] = (int64_t)n - 2;
	return msd_build_transpose(&x->b, t, perm, n);
}

static modser_sg_tensor *load_batch_matmul(const struct tflite_layer *x)
{
	modser_sg_tensor *a = swap_last(x, 0);

	return a != NULL ? msd_build_two(&x->b, "MatMul", a, swap_last(x, 1)) : NULL;
}

const struct tflite_row tflite_rows_window[] = {
	{1, "AVERAGE_POOL_2D", 1, 1, .one = load_pool, .type = 1},
	{3, "CONV_2D", 2, 3, .one = load_conv},
	{4, "DEPTHWISE_CONV_2D", 2, 3, .one = load_depthwise},
	{5, "DEPTH_TO_SPACE", 1, 1, .one = load_blocks, .op = "DepthToSpace"},
	{9, "FULLY_CONNECTED", 2, 3, .one = load_fully_connected},
	{13, "LOCAL_RESPONSE_NORMALIZATION", 1, 1, .one = load_lrn},
	{17, "MAX_POOL_2D", 1, 1, .one = load_pool, .type = 0},
	{23, "RESIZE_BILINEAR", 2, 2, .one = load_resize},
	{26, "SPACE_TO_DEPTH", 1, 1, .one = load_blocks, .op = "SpaceToDepth"},
	{67, "TRANSPOSE_CONV", 3, 4, .one = load_transpose_conv},
	{97, "RESIZE_NEAREST_NEIGHBOR", 2, 2, .one = load_resize, .type = 1},
	{126, "BATCH_MATMUL", 2, 2, .one = load_batch_matmul},
	{0},
};

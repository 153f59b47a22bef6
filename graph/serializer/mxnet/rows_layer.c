/* Convolutions, poolings, products, normalizations, and recurrent layers. */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/reduce/reduce.h"
#include "graph/serializer/mxnet/layer.h"

#define PLANE 2u /* spatial axes that have fields of their own */

struct window {
	size_t axes;
	int64_t kernel[MXNET_MAX_LIST];
	int64_t stride[MXNET_MAX_LIST];
	int64_t dilation[MXNET_MAX_LIST];
	int64_t pad[2 * MXNET_MAX_LIST];
	int64_t extra[MXNET_MAX_LIST]; /* of a deconvolution */
};

/* A list with a number for each axis, or @otherwise. */
static bool read_list(const struct mxnet_layer *x, const char *name, size_t axes,
		      int64_t otherwise, int64_t *ret)
{
	size_t n;

	if (!mxnet_list(x, name, ret, &n))
		return false;
	if (n != 0 && n != axes) {
		(void)mxnet_fail(x, "%s has %zu numbers for %zu axes", name, n, axes);
		return false;
	}
	for (size_t i = n; i < axes; i++)
		ret[i] = otherwise;
	return true;
}

static bool read_window(const struct mxnet_layer *x, struct window *ret)
{
	const char *layout = mxnet_attr(x->node, "layout");

	memset(ret, 0, sizeof(*ret));
	if (layout != NULL && strncmp(layout, "NC", 2) != 0) {
		(void)mxnet_fail(x,
				 "layout %.20s cannot be read; channels must be first",
				 layout);
		return false;
	}
	if (!mxnet_list(x, "kernel", ret->kernel, &ret->axes))
		return false;
	if (ret->axes == 0 || ret->axes > 3) {
		(void)mxnet_fail(x, "a kernel of %zu axes", ret->axes);
		return false;
	}
	if (!read_list(x, "stride", ret->axes, 1, ret->stride) ||
	    !read_list(x, "dilate", ret->axes, 1, ret->dilation) ||
	    !read_list(x, "adj", ret->axes, 0, ret->extra) ||
	    !read_list(x, "pad", ret->axes, 0, ret->pad))
		return false;
	for (size_t i = 0; i < ret->axes; i++)
		ret->pad[ret->axes + i] = ret->pad[i];
	return true;
}

/* Fields of a plane, which tmfiles have, or lists. */
static modser_sg_tensor *put_window(modser_sg_tensor *t, const struct window *w)
{
	static const char *const pads[] = {"pad_h0", "pad_w0", "pad_h1", "pad_w1"};

	if (w->axes != PLANE) {
		t = msd_build_list(t, "kernel", w->kernel, w->axes);
		t = msd_build_list(t, "strides", w->stride, w->axes);
		return msd_build_list(t, "pads", w->pad, 2 * w->axes);
	}
	t = msd_build_int(t, "kernel_h", w->kernel[0]);
	t = msd_build_int(t, "kernel_w", w->kernel[1]);
	t = msd_build_int(t, "stride_h", w->stride[0]);
	t = msd_build_int(t, "stride_w", w->stride[1]);
	for (size_t i = 0; i < 4; i++)
		t = msd_build_int(t, pads[i], w->pad[i]);
	return t;
}

static modser_sg_tensor *put_dilation(modser_sg_tensor *t, const struct window *w)
{
	if (w->axes != PLANE)
		return msd_build_list(t, "dilations", w->dilation, w->axes);
	t = msd_build_int(t, "dilation_h", w->dilation[0]);
	return msd_build_int(t, "dilation_w", w->dilation[1]);
}

/* The inputs of a product: data, weights, and a bias unless it says no_bias. */
static bool take_inputs(const struct mxnet_layer *x, bool no_bias,
			modser_sg_tensor *ret[static 3], size_t *ret_n)
{
	*ret_n = mxnet_bool(x, "no_bias", no_bias) ? 2 : 3;
	if (x->n_in < *ret_n) {
		(void)mxnet_fail(x, "it has %zu inputs, expected %zu", x->n_in, *ret_n);
		return false;
	}
	for (size_t i = 0; i < *ret_n; i++)
		ret[i] = x->in[i].t;
	return true;
}

static modser_sg_tensor *load_convolution(struct mxnet_layer *x)
{
	modser_sg_tensor *in[3];
	struct window w;
	int64_t group;
	int64_t filters;
	size_t n;

	if (!read_window(x, &w) || !mxnet_int(x, "num_group", 1, &group) ||
	    !mxnet_int(x, "num_filter", 0, &filters) || !take_inputs(x, false, in, &n))
		return NULL;
	modser_sg_tensor *t = msd_build_node(&x->b, "Convolution", in, n);
	t = put_dilation(put_window(t, &w), &w);
	if (in[1]->ndim >= 2 && group > 0 && group < INT32_MAX &&
	    in[1]->dims[1] < INT32_MAX)
		t = msd_build_int(t, "input_channel", in[1]->dims[1] * group);
	t = msd_build_int(t, "output_channel", filters);
	return msd_build_done(msd_build_int(t, "group", group));
}

static modser_sg_tensor *deconvolve(struct mxnet_layer *x, const struct window *w,
				    int64_t group, int64_t filters,
				    modser_sg_tensor *const *in, size_t n)
{
	modser_sg_tensor *t = msd_build_node(&x->b, "Deconvolution", in, n);

	t = put_dilation(put_window(t, w), w);
	if (w->axes == PLANE) {
		t = msd_build_int(t, "output_pad_h0", w->extra[0]);
		t = msd_build_int(t, "output_pad_w0", w->extra[1]);
	} else {
		t = msd_build_list(t, "output_padding", w->extra, w->axes);
	}
	t = msd_build_int(t, "num_output", filters);
	return msd_build_done(msd_build_int(t, "group", group));
}

static modser_sg_tensor *load_deconvolution(struct mxnet_layer *x)
{
	int64_t target[MXNET_MAX_LIST];
	modser_sg_tensor *in[3];
	struct window w;
	int64_t group;
	int64_t filters;
	size_t n_target;
	size_t n;

	if (!read_window(x, &w) || !mxnet_int(x, "num_group", 1, &group) ||
	    !mxnet_int(x, "num_filter", 0, &filters) || !take_inputs(x, true, in, &n) ||
	    !mxnet_list(x, "target_shape", target, &n_target))
		return NULL;
	for (size_t i = 0; i < n_target; i++) {
		if (target[i] != 0)
			return mxnet_fail(x, "target_shape cannot be read");
	}
	return deconvolve(x, &w, group, filters, in, n);
}

static modser_sg_tensor *load_pooling(struct mxnet_layer *x)
{
	const bool is_full = mxnet_is(x, "pooling_convention", "full", "valid");
	const bool counts = mxnet_bool(x, "count_include_pad", true);
	struct window w = {0};
	int64_t power;

	modser_sg_tensor *t = msd_build_node(&x->b, "Pooling", &x->in[0].t, 1);
	if (mxnet_is(x, "pool_type", "avg", "max")) {
		t = msd_build_int(t, "alg", 1);
	} else if (mxnet_is(x, "pool_type", "lp", "max")) {
		if (!mxnet_int(x, "p_value", 2, &power))
			return NULL;
		t = msd_build_int(msd_build_int(t, "alg", 2), "p", power);
	} else if (!mxnet_is(x, "pool_type", "max", "max")) {
		return mxnet_fail(x, "pool_type \"%.60s\" cannot be read",
				  mxnet_attr(x->node, "pool_type"));
	}
	if (mxnet_bool(x, "global_pool", false))
		return msd_build_done(msd_build_int(t, "global", 1));
	if (!is_full && !mxnet_is(x, "pooling_convention", "valid", "valid")) {
		return mxnet_fail(x, "pooling_convention \"%.60s\" cannot be read",
				  mxnet_attr(x->node, "pooling_convention"));
	}
	if (!read_window(x, &w))
		return NULL;
	t = put_window(t, &w);
	if (is_full && !counts)
		return msd_build_done(msd_build_int(t, "ceil_mode", 1));
	return msd_build_done(msd_build_int(t, "caffe_flavor",
					    (is_full ? 1 : 0) | (counts ? 0x10 : 0)));
}

static modser_sg_tensor *load_adaptive_pooling(struct mxnet_layer *x)
{
	int64_t size[MXNET_MAX_LIST];
	size_t n;

	if (!mxnet_list(x, "output_size", size, &n))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (size[i] != 1)
			return mxnet_fail(x, "only an output_size of 1 can be read");
	}
	modser_sg_tensor *t = msd_build_node(&x->b, "Pooling", &x->in[0].t, 1);
	return msd_build_done(msd_build_int(msd_build_int(t, "alg", 1), "global", 1));
}

/* Without flatten, the product is of the last axis only. */
static modser_sg_tensor *load_fully_connected(struct mxnet_layer *x)
{
	static const int64_t swap[] = {1, 0};
	modser_sg_tensor *in[3];
	int64_t hidden;
	size_t n;

	if (!mxnet_int(x, "num_hidden", 0, &hidden) || !take_inputs(x, false, in, &n))
		return NULL;
	if (mxnet_bool(x, "flatten", true)) {
		x->ndim = 2;
		modser_sg_tensor *t = msd_build_node(&x->b, "FullyConnected", in, n);
		return msd_build_done(msd_build_int(t, "num_output", hidden));
	}
	modser_sg_tensor *t = msd_build_two(&x->b, "MatMul", in[0],
					    msd_build_transpose(&x->b, in[1], swap, 2));
	return n == 3 ? msd_build_two(&x->b, "Add", t, in[2]) : t;
}

/* Ones, as many as @like has. */
static modser_sg_tensor *ones(const struct mxnet_layer *x, const modser_sg_tensor *like)
{
	const int64_t n = like->ndim == 1 ? like->dims[0] : -1;
	modser_sg_tensor *t = NULL;
	float *v;

	if (n < 0 || like->type != MODSER_TENSOR_CONST)
		return mxnet_fail(x, "its beta is no parameter of one axis");
	v = malloc(((size_t)n + 1) * sizeof(*v));
	for (int64_t i = 0; v != NULL && i < n; i++)
		v[i] = 1;
	if (v != NULL) {
		t = msd_build_floats(&x->b, v, &n, 1);
	} else {
		(void)msd_sg_no_memory(x->b.g);
	}
	free(v);
	return t;
}

/* Unless fix_gamma is False, gamma counts as 1 whatever the file has. */
static modser_sg_tensor *load_batch_norm(struct mxnet_layer *x)
{
	const bool is_fixed = mxnet_bool(x, "fix_gamma", true);
	double eps;
	int64_t axis;

	if (!mxnet_float(x, "eps", 1e-3, &eps) || !mxnet_int(x, "axis", 1, &axis))
		return NULL;
	if (axis != 1) {
		return mxnet_fail(x, "axis %d cannot be read; channels must be axis 1",
				  (int)axis);
	}
	modser_sg_tensor *const in[] = {x->in[0].t,
					is_fixed ? ones(x, x->in[2].t) : x->in[1].t,
					x->in[2].t, x->in[3].t, x->in[4].t};
	modser_sg_tensor *t = msd_build_node(&x->b, "BatchNormalization", in, 5);
	return msd_build_done(msd_build_float(t, "eps", (float)eps));
}

static modser_sg_tensor *load_norm_layer(struct mxnet_layer *x)
{
	modser_sg_tensor *const in[] = {x->in[0].t, x->in[1].t, x->in[2].t};
	double eps;
	int64_t axis;

	if (!mxnet_float(x, "eps", x->row->type == 0 ? 1e-3 : 1e-5, &eps) ||
	    !mxnet_int(x, "axis", x->row->type == 0 ? 1 : -1, &axis))
		return NULL;
	if (x->row->type != 0 && axis != -1 && axis != x->in[0].ndim - 1)
		return mxnet_fail(x, "axis %d is not the last", (int)axis);
	modser_sg_tensor *t = msd_build_node(&x->b, x->row->op, in, 3);
	return msd_build_done(msd_build_float(t, "eps", (float)eps));
}

static modser_sg_tensor *load_lrn(struct mxnet_layer *x)
{
	double alpha;
	double beta;
	double k;
	int64_t size;

	if (!mxnet_float(x, "alpha", 1e-4, &alpha) ||
	    !mxnet_float(x, "beta", 0.75, &beta) || !mxnet_float(x, "knorm", 2, &k) ||
	    !mxnet_int(x, "nsize", 5, &size))
		return NULL;
	modser_sg_tensor *t = msd_build_node(&x->b, "LRN", &x->in[0].t, 1);
	t = msd_build_int(msd_build_int(t, "local_size", size), "is_onnx", 1);
	t = msd_build_float(msd_build_float(t, "alpha", (float)alpha), "beta",
			    (float)beta);
	return msd_build_done(msd_build_float(t, "k", (float)k));
}

/* x / sqrt(the sum of its squares + eps), over @axes. */
static modser_sg_tensor *divide(const struct mxnet_layer *x, modser_sg_tensor *t,
				double eps, const int64_t *axes, size_t n)
{
	modser_sg_tensor *sum = msd_build_reduce(&x->b, t, MSD_REDUCE_SQUARES, axes, n);

	sum = msd_build_two(&x->b, "Add", sum, msd_build_number(&x->b, (float)eps));
	return msd_build_two(&x->b, "Div", t, msd_build_one(&x->b, "Sqrt", sum));
}

static modser_sg_tensor *load_l2_norm(struct mxnet_layer *x)
{
	static const int64_t channel = 1;
	static const int64_t places[] = {2, 3};
	double eps;

	if (!mxnet_float(x, "eps", 1e-10, &eps))
		return NULL;
	if (mxnet_is(x, "mode", "channel", "instance"))
		return divide(x, x->in[0].t, eps, &channel, 1);
	if (mxnet_is(x, "mode", "spatial", "instance")) {
		if (x->in[0].ndim < 3 || x->in[0].ndim > 4)
			return mxnet_fail(x, "its input has not three or four axes");
		return divide(x, x->in[0].t, eps, places, (size_t)x->in[0].ndim - 2);
	}
	modser_sg_tensor *flat = msd_build_node(&x->b, "Flatten", &x->in[0].t, 1);
	flat = msd_build_done(
		msd_build_int(msd_build_int(flat, "axis", 1), "end_axis", -1));
	modser_sg_tensor *const in[] = {divide(x, flat, eps, &channel, 1),
					msd_build_one(&x->b, "Shape", x->in[0].t)};
	modser_sg_tensor *t = msd_build_node(&x->b, "Reshape", in, 2);
	return msd_build_done(msd_build_int(t, "is_onnx", 1));
}

static modser_sg_tensor *softmax(const struct mxnet_layer *x, modser_sg_tensor *in,
				 int64_t axis, bool flattens)
{
	modser_sg_tensor *t = msd_build_node(
		&x->b, x->row->op != NULL ? x->row->op : "Softmax", &in, 1);

	t = msd_build_int(t, "axis", axis);
	return msd_build_done(msd_build_int(t, "flattens", flattens));
}

/* softmin is the softmax of negative numbers. */
static modser_sg_tensor *load_softmax(struct mxnet_layer *x)
{
	modser_sg_tensor *in = x->in[0].t;
	double temperature;
	int64_t axis;

	if (!mxnet_float(x, "temperature", 1, &temperature) ||
	    !mxnet_int(x, "axis", -1, &axis))
		return NULL;
	if (x->row->type != 0)
		in = msd_build_one(&x->b, "Neg", in);
	if (temperature != 1) {
		in = msd_build_two(&x->b, "Div", in,
				   msd_build_number(&x->b, (float)temperature));
	}
	return softmax(x, in, axis, false);
}

static modser_sg_tensor *load_softmax_output(struct mxnet_layer *x)
{
	if (mxnet_bool(x, "multi_output", false) || mxnet_is(x, "mode", "channel", ""))
		return softmax(x, x->in[0].t, 1, false);
	if (mxnet_bool(x, "preserve_shape", false))
		return softmax(x, x->in[0].t, -1, false);
	return softmax(x, x->in[0].t, 1, true);
}

static modser_sg_tensor *load_up_sampling(struct mxnet_layer *x)
{
	struct window w = {.axes = PLANE, .dilation = {1, 1}};
	int64_t scale;
	int64_t filters;

	if (!mxnet_int(x, "scale", 1, &scale) ||
	    !mxnet_int(x, "num_filter", 0, &filters))
		return NULL;
	if (scale < 1 || scale > INT16_MAX)
		return mxnet_fail(x, "scale %d", (int)scale);
	if (mxnet_is(x, "sample_type", "bilinear", "nearest")) {
		modser_sg_tensor *const in[] = {x->in[0].t,
						x->n_in > 1 ? x->in[1].t : NULL};

		for (size_t i = 0; i < PLANE; i++) {
			w.kernel[i] = 2 * scale - scale % 2;
			w.stride[i] = scale;
			w.pad[i] = scale / 2;
			w.pad[PLANE + i] = w.pad[i];
		}
		return deconvolve(x, &w, filters, filters, in, 2);
	}
	if (x->n_in != 1)
		return mxnet_fail(x, "several inputs cannot be read");
	const int64_t four[] = {4};
	const float scales[] = {1, 1, (float)scale, (float)scale};
	modser_sg_tensor *t = msd_build_node(&x->b, "Resize", &x->in[0].t, 1);
	modser_sg_tensor *by = msd_build_floats(&x->b, scales, four, 1);
	if (t == NULL || by == NULL ||
	    modser_sg_node_add_input(t->producer, NULL) < 0 ||
	    modser_sg_node_add_input(t->producer, by) < 0)
		return NULL;
	t = msd_build_text(t, "coordinate_transformation_mode", "asymmetric");
	return msd_build_done(msd_build_text(t, "nearest_mode", "floor"));
}

const struct mxnet_row mxnet_rows_layer[] = {
	{"Convolution", 2, 3, .one = load_convolution},
	{"Convolution_v1", 2, 3, .one = load_convolution},
	{"Deconvolution", 2, 3, .one = load_deconvolution},
	{"Pooling", 1, 1, .one = load_pooling},
	{"Pooling_v1", 1, 1, .one = load_pooling},
	{"_contrib_AdaptiveAvgPooling2D", 1, 1, .one = load_adaptive_pooling},
	{"FullyConnected", 2, 3, .one = load_fully_connected},
	{"BatchNorm", 5, 5, .one = load_batch_norm},
	{"BatchNorm_v1", 5, 5, .one = load_batch_norm},
	{"InstanceNorm", 3, 3, .one = load_norm_layer, .op = "InstanceNorm"},
	{"LayerNorm", 3, 3, .one = load_norm_layer, .op = "LayerNorm", .type = 1},
	{"LRN", 1, 1, .one = load_lrn},
	{"L2Normalization", 1, 1, .one = load_l2_norm},
	{"softmax", 1, 1, .one = load_softmax, .op = "Softmax"},
	{"log_softmax", 1, 1, .one = load_softmax, .op = "LogSoftmax"},
	{"softmin", 1, 1, .one = load_softmax, .op = "Softmax", .type = 1},
	{"SoftmaxActivation", 1, 1, .one = load_softmax_output},
	{"SoftmaxOutput", 1, 1, .one = load_softmax_output, .label = 1},
	{"Softmax", 1, 1, .one = load_softmax_output, .label = 1},
	{"UpSampling", 1, 2, .one = load_up_sampling},
	{0},
};

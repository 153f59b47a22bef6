/* Layers with windows, products, and normalizations over windows. */
#include "graph/serializer/caffe/layer.h"

#define PLANE 2u /* spatial axes that have fields of their own */

/* A number for each spatial axis: a list, or fields for height and width. */
struct extents {
	const uint32_t *list;
	size_t n;
	bool has_h, has_w;
	uint32_t h, w;
};

/* One number stands for all axes, none for @otherwise. */
static bool spread(const struct caffe_layer *x, const char *what,
		   const struct extents *e, size_t axes, int64_t otherwise,
		   int64_t *ret)
{
	for (size_t i = 0; i < axes; i++)
		ret[i] = otherwise;
	if (e->has_h || e->has_w) {
		if (axes != PLANE || e->n != 0) {
			(void)caffe_fail(x, "%s is given twice, or not for a plane",
					 what);
			return false;
		}
		ret[0] = e->has_h ? e->h : otherwise;
		ret[1] = e->has_w ? e->w : otherwise;
		return true;
	}
	if (e->n != 0 && e->n != 1 && e->n != axes) {
		(void)caffe_fail(x, "%s has %zu numbers for %zu axes", what, e->n,
				 axes);
		return false;
	}
	for (size_t i = 0; i < axes && e->n > 0; i++)
		ret[i] = e->list[e->n > 1 ? i : 0];
	return true;
}

struct window {
	size_t axes;
	int64_t kernel[MODSER_GRAPH_MAX_NDIM];
	int64_t stride[MODSER_GRAPH_MAX_NDIM];
	int64_t pad[2 * MODSER_GRAPH_MAX_NDIM];
	int64_t dilation[MODSER_GRAPH_MAX_NDIM];
};

static bool read_window(const struct caffe_layer *x,
			const Caffe__ConvolutionParameter *p, struct window *ret)
{
	const struct extents kernel = {p->kernel_size,  p->n_kernel_size,
				       p->has_kernel_h, p->has_kernel_w,
				       p->kernel_h,     p->kernel_w};
	const struct extents stride = {p->stride,       p->n_stride, p->has_stride_h,
				       p->has_stride_w, p->stride_h, p->stride_w};
	const struct extents pad = {p->pad,       p->n_pad, p->has_pad_h,
				    p->has_pad_w, p->pad_h, p->pad_w};
	const struct extents dilation = {.list = p->dilation, .n = p->n_dilation};

	if (caffe_ndim(x, 0) < 3 || p->axis != 1) {
		(void)caffe_fail(x, "its channels are not axis 1 with axes behind it");
		return false;
	}
	ret->axes = caffe_ndim(x, 0) - 2;
	return spread(x, "kernel_size", &kernel, ret->axes, 0, ret->kernel) &&
	       spread(x, "stride", &stride, ret->axes, 1, ret->stride) &&
	       spread(x, "pad", &pad, ret->axes, 0, ret->pad) &&
	       spread(x, "dilation", &dilation, ret->axes, 1, ret->dilation);
}

/* Fields of a plane, which tmfiles have, or lists. */
static modser_sg_tensor *put_window(modser_sg_tensor *t, struct window *w)
{
	if (w->axes == PLANE) {
		t = msd_build_int(t, "kernel_h", w->kernel[0]);
		t = msd_build_int(t, "kernel_w", w->kernel[1]);
		t = msd_build_int(t, "stride_h", w->stride[0]);
		t = msd_build_int(t, "stride_w", w->stride[1]);
		t = msd_build_int(t, "dilation_h", w->dilation[0]);
		t = msd_build_int(t, "dilation_w", w->dilation[1]);
		t = msd_build_int(t, "pad_h0", w->pad[0]);
		t = msd_build_int(t, "pad_w0", w->pad[1]);
		t = msd_build_int(t, "pad_h1", w->pad[0]);
		return msd_build_int(t, "pad_w1", w->pad[1]);
	}
	for (size_t i = 0; i < w->axes; i++)
		w->pad[w->axes + i] = w->pad[i];
	t = msd_build_list(t, "kernel", w->kernel, w->axes);
	t = msd_build_list(t, "strides", w->stride, w->axes);
	t = msd_build_list(t, "dilations", w->dilation, w->axes);
	return msd_build_list(t, "pads", w->pad, 2 * w->axes);
}

/* Weights are [out, in / group, ...]; a deconvolution has [in, out / group, ...]. */
static modser_sg_tensor *convolve(const struct caffe_layer *x, bool is_deconvolution)
{
	const Caffe__ConvolutionParameter *p = x->p->convolution_param;
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	struct window w;

	if (p == NULL || p->num_output < 1 || p->group < 1)
		return caffe_fail(x, "convolution_param has no num_output or group");
	if (!read_window(x, p, &w))
		return NULL;
	const int64_t in = caffe_dims(x, 0)[1];
	const int64_t out = p->num_output;
	if (in % p->group != 0 || out % p->group != 0) {
		return caffe_fail(x, "%d inputs and %d outputs are no whole %u groups",
				  (int)in, (int)out, p->group);
	}
	dims[0] = is_deconvolution ? in : out;
	dims[1] = (is_deconvolution ? out : in) / p->group;
	for (size_t i = 0; i < w.axes; i++)
		dims[2 + i] = w.kernel[i];
	modser_sg_tensor *const ins[] = {
		x->in[0], caffe_weights(x, 0, dims, w.axes + 2),
		p->bias_term ? caffe_weights(x, 1, (int64_t[]){out}, 1) : NULL};
	if (p->bias_term && ins[2] == NULL)
		return NULL;
	modser_sg_tensor *t = msd_build_node(
		&x->b, is_deconvolution ? "Deconvolution" : "Convolution", ins,
		p->bias_term ? 3 : 2);
	t = msd_build_int(put_window(t, &w), "group", p->group);
	if (is_deconvolution)
		return msd_build_done(msd_build_int(t, "num_output", out));
	t = msd_build_int(msd_build_int(t, "output_channel", out), "input_channel", in);
	return msd_build_done(t);
}

static modser_sg_tensor *load_convolution(const struct caffe_layer *x)
{
	return convolve(x, false);
}

static modser_sg_tensor *load_deconvolution(const struct caffe_layer *x)
{
	return convolve(x, true);
}

enum { FLOOR_AND_PADDING = 0x10, CEIL = 1 }; /* Pooling's caffe_flavor */

static modser_sg_tensor *load_pooling(const struct caffe_layer *x)
{
	const Caffe__PoolingParameter none = CAFFE__POOLING_PARAMETER__INIT;
	const Caffe__PoolingParameter *p =
		x->p->pooling_param != NULL ? x->p->pooling_param : &none;
	const bool is_floor =
		p->round_mode == CAFFE__POOLING_PARAMETER__ROUND_MODE__FLOOR ||
		!p->ceil_mode;
	const struct extents kernel = {&p->kernel_size, p->has_kernel_size != 0,
				       p->has_kernel_h, p->has_kernel_w,
				       p->kernel_h,     p->kernel_w};
	const struct extents stride = {&p->stride,      p->has_stride != 0,
				       p->has_stride_h, p->has_stride_w,
				       p->stride_h,     p->stride_w};
	const struct extents pad = {&p->pad,      p->has_pad != 0, p->has_pad_h,
				    p->has_pad_w, p->pad_h,        p->pad_w};
	struct window w = {.axes = PLANE, .dilation = {1, 1}};

	if (caffe_ndim(x, 0) != 4)
		return caffe_fail(x, "its input has not four dimensions");
	if (p->pool == CAFFE__POOLING_PARAMETER__POOL_METHOD__STOCHASTIC)
		return caffe_fail(x, "stochastic pooling cannot be read");
	if (!spread(x, "kernel_size", &kernel, PLANE, 0, w.kernel) ||
	    !spread(x, "stride", &stride, PLANE, 1, w.stride) ||
	    !spread(x, "pad", &pad, PLANE, 0, w.pad))
		return NULL;
	modser_sg_tensor *t = msd_build_node(&x->b, "Pooling", x->in, 1);
	t = msd_build_int(t, "alg",
			  p->pool == CAFFE__POOLING_PARAMETER__POOL_METHOD__AVE);
	if (p->global_pooling)
		return msd_build_done(msd_build_int(t, "global", 1));
	if (w.kernel[0] < 1 || w.kernel[1] < 1)
		return caffe_fail(x, "pooling_param has no kernel_size");
	t = msd_build_int(t, "kernel_h", w.kernel[0]);
	t = msd_build_int(t, "kernel_w", w.kernel[1]);
	t = msd_build_int(t, "stride_h", w.stride[0]);
	t = msd_build_int(t, "stride_w", w.stride[1]);
	t = msd_build_int(msd_build_int(t, "pad_h0", w.pad[0]), "pad_h1", w.pad[0]);
	t = msd_build_int(msd_build_int(t, "pad_w0", w.pad[1]), "pad_w1", w.pad[1]);
	return msd_build_done(
		msd_build_int(t, "caffe_flavor", is_floor ? FLOOR_AND_PADDING : CEIL));
}

/* The product keeps the axes before @axis. */
static modser_sg_tensor *load_inner_product(const struct caffe_layer *x)
{
	const Caffe__InnerProductParameter *p = x->p->inner_product_param;
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	int64_t rows = 1;
	int64_t columns = 1;
	size_t axis;

	if (p == NULL || p->num_output < 1)
		return caffe_fail(x, "inner_product_param has no num_output");
	if (!caffe_axis(x, p->axis, false, &axis))
		return NULL;
	for (size_t i = 0; i < caffe_ndim(x, 0); i++) {
		dims[i] = caffe_dims(x, 0)[i];
		*(i < axis ? &rows : &columns) *= dims[i];
	}
	dims[axis] = p->num_output;
	const int64_t flat[] = {rows, columns};
	const int64_t shape[] = {p->transpose ? columns : dims[axis],
				 p->transpose ? dims[axis] : columns};
	modser_sg_tensor *weights = caffe_weights(x, 0, shape, 2);
	modser_sg_tensor *bias =
		p->bias_term ? caffe_weights(x, 1, &dims[axis], 1) : NULL;
	if (p->bias_term && bias == NULL)
		return NULL;
	if (p->transpose) {
		modser_sg_tensor *t = msd_build_two(
			&x->b, "MatMul", msd_build_reshape(&x->b, x->in[0], flat, 2),
			weights);

		t = p->bias_term ? msd_build_two(&x->b, "Add", t, bias) : t;
		return axis == 1 ? t : msd_build_reshape(&x->b, t, dims, axis + 1);
	}
	modser_sg_tensor *const in[] = {
		axis == 1 ? x->in[0] : msd_build_reshape(&x->b, x->in[0], flat, 2),
		weights, bias};
	modser_sg_tensor *t =
		msd_build_node(&x->b, "FullyConnected", in, p->bias_term ? 3 : 2);
	t = msd_build_done(msd_build_int(t, "num_output", dims[axis]));
	return axis == 1 ? t : msd_build_reshape(&x->b, t, dims, axis + 1);
}

/* x (1 + alpha mean(x x))^-beta, the mean over a window of one channel. */
static modser_sg_tensor *within_channel(const struct caffe_layer *x,
					const Caffe__LRNParameter *p)
{
	modser_sg_tensor *square = msd_build_two(&x->b, "Mul", x->in[0], x->in[0]);
	modser_sg_tensor *t = msd_build_node(&x->b, "Pooling", &square, 1);
	const int64_t size = p->local_size;
	static const char *const kernels[] = {"kernel_h", "kernel_w"};
	static const char *const pads[] = {"pad_h0", "pad_w0", "pad_h1", "pad_w1"};

	for (size_t i = 0; i < 2; i++)
		t = msd_build_int(t, kernels[i], size);
	for (size_t i = 0; i < 4; i++)
		t = msd_build_int(t, pads[i], (size - 1) / 2);
	t = msd_build_int(msd_build_int(t, "alg", 1), "caffe_flavor",
			  FLOOR_AND_PADDING);
	t = msd_build_two(&x->b, "Mul", msd_build_done(t),
			  msd_build_number(&x->b, p->alpha));
	t = msd_build_two(&x->b, "Add", t, msd_build_number(&x->b, 1));
	t = msd_build_two(&x->b, "Pow", t, msd_build_number(&x->b, -p->beta));
	return msd_build_two(&x->b, "Mul", x->in[0], t);
}

static modser_sg_tensor *load_lrn(const struct caffe_layer *x)
{
	const Caffe__LRNParameter none = CAFFE__LRNPARAMETER__INIT;
	const Caffe__LRNParameter *p =
		x->p->lrn_param != NULL ? x->p->lrn_param : &none;

	if (p->local_size % 2 == 0)
		return caffe_fail(x, "local_size %u is not odd", p->local_size);
	if (p->norm_region == CAFFE__LRNPARAMETER__NORM_REGION__WITHIN_CHANNEL)
		return within_channel(x, p);
	modser_sg_tensor *t = msd_build_node(&x->b, "LRN", x->in, 1);
	t = msd_build_int(t, "local_size", p->local_size);
	t = msd_build_float(msd_build_float(t, "alpha", p->alpha), "beta", p->beta);
	return msd_build_done(msd_build_float(t, "k", p->k));
}

const struct caffe_row caffe_rows_window[] = {
	{"Convolution", 1, 1, 1, load_convolution, NULL},
	{"ConvolutionDepthwise", 1, 1, 1, load_convolution, NULL},
	{"Deconvolution", 1, 1, 1, load_deconvolution, NULL},
	{"DepthwiseConvolution", 1, 1, 1, load_convolution, NULL},
	{"InnerProduct", 1, 1, 1, load_inner_product, NULL},
	{"LRN", 1, 1, 1, load_lrn, NULL},
	{"Pooling", 1, 1, 1, load_pooling, NULL},
	{0},
};

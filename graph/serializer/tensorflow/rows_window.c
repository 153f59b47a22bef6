/* Convolutions, poolings, products of matrices, and operators on planes. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tensorflow/layer.h"

static const int64_t hwio_to_oihw[] = {3, 2, 0, 1};

/* Element of a list of four, for the height or the width. */
static int64_t of_axis(const struct tf_layer *x, const char *name, bool is_w)
{
	int64_t list[4] = {1, 1, 1, 1};

	(void)tf_list(x, name, list, 4);
	return list[(tf_is_nhwc(x) ? 1 : 2) + is_w];
}

static bool check_batch(const struct tf_layer *x, const char *name)
{
	int64_t list[4] = {1, 1, 1, 1};

	(void)tf_list(x, name, list, 4);
	if (list[0] == 1 && list[tf_is_nhwc(x) ? 3 : 1] == 1)
		return true;
	(void)tf_fail(x, "%s are of the batch or of channels", name);
	return false;
}

static modser_sg_tensor *put_strides(const struct tf_layer *x, modser_sg_tensor *t)
{
	t = msd_build_int(t, "stride_h", of_axis(x, "strides", false));
	return msd_build_int(t, "stride_w", of_axis(x, "strides", true));
}

/* SAME is -1; EXPLICIT lists pads before and after each axis. */
static modser_sg_tensor *put_pads(const struct tf_layer *x, modser_sg_tensor *t)
{
	static const char *const names[] = {"pad_h0", "pad_h1", "pad_w0", "pad_w1"};
	const size_t first = tf_is_nhwc(x) ? 2 : 4;
	int64_t pads[8] = {0};

	if (tf_is(x, "padding", "VALID"))
		return t;
	if (tf_is(x, "padding", "EXPLICIT"))
		(void)tf_list(x, "explicit_paddings", pads, 8);
	for (size_t i = 0; i < 4; i++) {
		const int64_t pad =
			tf_is(x, "padding", "EXPLICIT") ? pads[first + i] : -1;

		t = msd_build_int(t, names[i], pad);
	}
	return t;
}

/* The weights are [O, I, H, W] here; @group times I are the channels of the input. */
static modser_sg_tensor *convolve(struct tf_layer *x, modser_sg_tensor *planes,
				  modser_sg_tensor *weights, int64_t group)
{
	modser_sg_tensor *const in[] = {planes, weights};

	if (planes == NULL || weights == NULL || !check_batch(x, "strides") ||
	    !check_batch(x, "dilations"))
		return NULL;
	modser_sg_tensor *t =
		put_strides(x, msd_build_node(&x->b, "Convolution", in, 2));
	t = msd_build_int(t, "dilation_h", of_axis(x, "dilations", false));
	t = msd_build_int(t, "dilation_w", of_axis(x, "dilations", true));
	if (weights->ndim == 4 && weights->dims[0] >= 0 && weights->dims[1] >= 0) {
		t = msd_build_int(t, "kernel_h", weights->dims[2]);
		t = msd_build_int(t, "kernel_w", weights->dims[3]);
		t = msd_build_int(t, "output_channel", weights->dims[0]);
		t = msd_build_int(t, "input_channel", group * weights->dims[1]);
	} else {
		return tf_fail(x, "its weights are not known before a call");
	}
	t = put_pads(x, t);
	t = tf_done(msd_build_int(t, "group", group));
	return tf_unplane(x, t);
}

static modser_sg_tensor *load_conv(struct tf_layer *x)
{
	modser_sg_tensor *planes = tf_planes(x, 0);
	modser_sg_tensor *weights =
		planes != NULL ? tf_turned(x, tf_in(x, 1), hwio_to_oihw, 4) : NULL;
	int64_t group = 1;

	if (weights != NULL && weights->ndim == 4 && planes->ndim == 4 &&
	    planes->dims[1] > 0 && weights->dims[1] > 0 &&
	    planes->dims[1] % weights->dims[1] == 0)
		group = planes->dims[1] / weights->dims[1];
	return convolve(x, planes, weights, group);
}

/* The weights are [H, W, C, multiplier]. */
static modser_sg_tensor *load_depthwise(struct tf_layer *x)
{
	static const int64_t perm[] = {2, 3, 0, 1};
	modser_sg_tensor *planes = tf_planes(x, 0);
	modser_sg_tensor *w = planes != NULL ? tf_in(x, 1) : NULL;

	if (w == NULL)
		return NULL;
	if (w->ndim != 4 || w->dims[2] < 1 || w->dims[3] < 1)
		return tf_fail(x, "its weights are not known before a call");
	const int64_t group = w->dims[2];
	const int64_t dims[] = {group * w->dims[3], 1, w->dims[0], w->dims[1]};
	w = tf_turned(x, w, perm, 4);
	if (w != NULL && tf_is_const(w)) {
		/* The same elements, with their axes counted otherwise. */
		if (modser_sg_tensor_set_dims(w, dims, 4) != 0)
			return NULL;
	} else {
		w = tf_reshape(x, w, dims, 4);
	}
	return convolve(x, planes, w, group);
}

/* Inputs are the output's shape, the weights [H, W, O, I] and the input. */
static modser_sg_tensor *load_transpose_conv(struct tf_layer *x)
{
	modser_sg_tensor *planes = tf_planes(x, 2);
	modser_sg_tensor *const in[] = {
		planes,
		planes != NULL ? tf_turned(x, tf_in(x, 1), hwio_to_oihw, 4) : NULL};
	const size_t at = tf_is_nhwc(x) ? 1 : 2;
	size_t n;
	const int64_t *shape = tf_ints(x->f->l, x->in[0], &n);

	if (in[1] == NULL || !check_batch(x, "strides"))
		return NULL;
	if (shape == NULL || n < 2)
		return tf_fail(x, "the shape of its output is not known before a call");
	const int64_t out[] = {shape[n == 4 ? at : 0], shape[n == 4 ? at + 1 : 1]};
	if (in[1]->ndim != 4 || in[1]->dims[1] < 0)
		return tf_fail(x, "its weights are not known before a call");
	modser_sg_tensor *t =
		put_strides(x, msd_build_node(&x->b, "Deconvolution", in, 2));
	t = msd_build_int(t, "num_output", in[1]->dims[1]);
	t = msd_build_int(t, "kernel_h", in[1]->dims[2]);
	t = msd_build_int(t, "kernel_w", in[1]->dims[3]);
	t = msd_build_int(t, "dilation_h", of_axis(x, "dilations", false));
	t = msd_build_int(t, "dilation_w", of_axis(x, "dilations", true));
	if (out[0] != TF_UNKNOWN && out[1] != TF_UNKNOWN) {
		t = msd_build_list(t, "output_shape", out, 2);
		t = msd_build_int(t, "auto_pad", 1);
	} else if (tf_is(x, "padding", "SAME")) {
		t = msd_build_int(t, "auto_pad", 1);
	}
	return tf_unplane(x, tf_done(t));
}

static modser_sg_tensor *load_pool(struct tf_layer *x)
{
	modser_sg_tensor *planes = tf_planes(x, 0);

	if (planes == NULL || !check_batch(x, "ksize") || !check_batch(x, "strides"))
		return NULL;
	modser_sg_tensor *t =
		put_strides(x, msd_build_node(&x->b, "Pooling", &planes, 1));
	t = msd_build_int(t, "alg", x->row->type);
	t = msd_build_int(t, "kernel_h", of_axis(x, "ksize", false));
	t = msd_build_int(t, "kernel_w", of_axis(x, "ksize", true));
	if (tf_is(x, "padding", "SAME")) {
		t = msd_build_int(t, "auto_pad", 1);
	} else {
		t = put_pads(x, t);
	}
	return tf_unplane(x, tf_done(t));
}

/* Inputs are scale, offset, mean and variance of each channel; only output 0 is read.
 */
static int load_batch_norm(struct tf_layer *x)
{
	modser_sg_tensor *in[5] = {tf_planes(x, 0)};

	if (tf_bool(x, "is_training", true)) {
		(void)tf_fail(x, "it computes the moments of its input, as training "
				 "does; export the model for inference");
		return -1;
	}
	for (size_t i = 1; i < 5 && in[i - 1] != NULL; i++)
		in[i] = tf_in(x, i);
	if (in[4] == NULL)
		return -1;
	modser_sg_tensor *t = msd_build_node(&x->b, "BatchNormalization", in, 5);
	t = msd_build_float(t, "eps", tf_float(x, "epsilon", 1e-4f));
	t = tf_unplane(x, tf_done(t));
	return tf_outs(x, 1) ? tf_out(x, 0, t) : -1;
}

/* x / (bias + alpha * the sum of squares)^beta; LRN has alpha over the window. */
static modser_sg_tensor *load_lrn(struct tf_layer *x)
{
	modser_sg_tensor *planes = tf_planes(x, 0);
	const int64_t radius = tf_int(x, "depth_radius", 5);
	modser_sg_tensor *t = msd_build_node(&x->b, "LRN", &planes, 1);

	if (radius < 0 || radius > INT16_MAX)
		return tf_fail(x, "radius %d", (int)radius);
	const int64_t size = 2 * radius + 1;
	t = msd_build_int(msd_build_int(t, "local_size", size), "is_onnx", 1);
	t = msd_build_float(t, "k", tf_float(x, "bias", 1));
	t = msd_build_float(t, "alpha", tf_float(x, "alpha", 1) * (float)size);
	t = msd_build_float(t, "beta", tf_float(x, "beta", 0.5f));
	return tf_unplane(x, tf_done(t));
}

static modser_sg_tensor *load_blocks(struct tf_layer *x)
{
	modser_sg_tensor *planes = tf_planes(x, 0);
	modser_sg_tensor *t = msd_build_node(&x->b, x->row->op, &planes, 1);

	t = msd_build_int(t, "block_size", tf_int(x, "block_size", 1));
	return tf_unplane(x, tf_done(t));
}

enum { NEAREST, LINEAR, CUBIC };

static modser_sg_tensor *set_resize(const struct tf_layer *x, modser_sg_tensor *t)
{
	const bool aligns = tf_bool(x, "align_corners", false);
	const bool is_half = tf_bool(x, "half_pixel_centers", false);
	static const char *const modes[] = {"nearest", "linear", "cubic"};

	t = msd_build_text(t, "mode", modes[x->row->type]);
	t = msd_build_text(t, "coordinate_transformation_mode",
			   aligns    ? "align_corners"
			   : is_half ? "half_pixel"
				     : "asymmetric");
	t = msd_build_text(t, "nearest_mode",
			   aligns || is_half ? "round_prefer_ceil" : "floor");
	if (x->row->type == CUBIC && is_half) {
		t = msd_build_float(t, "cubic_coeff_a", -0.5f);
		t = msd_build_int(t, "exclude_outside", 1);
	}
	return t;
}

/* The four sizes of @planes when height and width are @sizes. */
static modser_sg_tensor *all_sizes(const struct tf_layer *x, modser_sg_tensor *planes,
				   modser_sg_tensor *sizes)
{
	const int64_t zero = 0;
	const int64_t one = 1;
	const int64_t two = 2;

	modser_sg_tensor *shape = tf_one(x, "Shape", planes);
	if (shape == NULL || modser_sg_tensor_set_dtype(shape, "int64") != 0)
		return NULL;
	modser_sg_tensor *const parts[] = {
		tf_slice(x, shape, &zero, &two, &zero, &one, 1), sizes};
	return tf_concat(x, parts, 2, 0);
}

/* The sizes of height and width are input 1. The result is float32 but for nearest. */
static modser_sg_tensor *load_resize(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *planes = t != NULL ? tf_to_planes(x, t) : NULL;
	modser_sg_tensor *sizes =
		planes != NULL ? tf_cast(x, tf_in(x, 1), "int64") : NULL;
	size_t n = 0;
	const int64_t *known = tf_ints(x->f->l, x->in[1], &n);

	if (sizes == NULL)
		return NULL;
	const bool is_known = known != NULL && n == 2 && known[0] != TF_UNKNOWN &&
			      known[1] != TF_UNKNOWN;
	if (x->row->type != NEAREST)
		planes = tf_cast(x, planes, "float32");
	if (planes == NULL)
		return NULL;
	if (is_known && planes->ndim == 4 && planes->dims[0] >= 0 &&
	    planes->dims[1] >= 0) {
		const int64_t all[] = {planes->dims[0], planes->dims[1], known[0],
				       known[1]};

		sizes = msd_build_ints(&x->b, all, 4);
	} else {
		sizes = all_sizes(x, planes, sizes);
	}
	modser_sg_tensor *made = msd_build_node(&x->b, "Resize", &planes, 1);
	if (made == NULL || modser_sg_node_add_input(made->producer, NULL) < 0 ||
	    modser_sg_node_add_input(made->producer, NULL) < 0 ||
	    modser_sg_node_add_input(made->producer, sizes) < 0)
		return NULL;
	made = tf_done(set_resize(x, made));
	if (made != NULL && made->ndim < 0 && planes->ndim == 4) {
		const int64_t dims[] = {planes->dims[0], planes->dims[1],
					is_known ? known[0] : -1,
					is_known ? known[1] : -1};

		if (modser_sg_tensor_set_dims(made, dims, 4) != 0)
			return NULL;
	}
	return tf_to_nhwc(x, made);
}

/* Matrices of input @i, transposed if attribute @name says so. */
static modser_sg_tensor *matrix(const struct tf_layer *x, size_t i, const char *name)
{
	modser_sg_tensor *t = tf_in(x, i);
	int64_t perm[MODSER_GRAPH_MAX_NDIM];
	size_t n = 2;

	if (t == NULL || !tf_bool(x, name, false))
		return t;
	if (x->row->type == 1 && !tf_ndim(x, t, &n))
		return NULL;
	if (n < 2)
		return tf_fail(x, "input %zu has no matrices", i);
	for (size_t k = 0; k < n; k++)
		perm[k] = (int64_t)k;
	perm[n - 2] = (int64_t)n - 1;
	perm[n - 1] = (int64_t)n - 2;
	return n == 2 ? tf_turned(x, t, perm, n) : tf_transpose(x, t, perm, n);
}

static modser_sg_tensor *load_matmul(struct tf_layer *x)
{
	const char *names[] = {x->row->type == 1 ? "adj_x" : "transpose_a",
			       x->row->type == 1 ? "adj_y" : "transpose_b"};
	modser_sg_tensor *a = matrix(x, 0, names[0]);

	return a != NULL ? tf_two(x, "MatMul", a, matrix(x, 1, names[1])) : NULL;
}

static modser_sg_tensor *load_einsum(struct tf_layer *x)
{
	const Tensorflow__AttrValue *a = tf_attr(x, "equation");
	modser_sg_tensor *in[2] = {tf_in(x, 0), NULL};
	char text[256];

	if (in[0] == NULL || (x->n_in > 1 && (in[1] = tf_in(x, 1)) == NULL))
		return NULL;
	if (a == NULL || !a->has_s || a->s.len >= sizeof(text))
		return tf_fail(x, "its equation is missing or too long");
	memcpy(text, a->s.data, a->s.len);
	text[a->s.len] = '\0';
	modser_sg_tensor *t = msd_build_node(&x->b, "Einsum", in, x->n_in);
	return tf_done(msd_build_text(t, "equation", text));
}

const struct tf_row tf_rows_window[] = {
	{"AvgPool", 1, 1, .one = load_pool, .type = 1},
	{"BatchMatMul", 2, 2, .one = load_matmul, .type = 1},
	{"BatchMatMulV2", 2, 2, .one = load_matmul, .type = 1},
	{"BatchMatMulV3", 2, 2, .one = load_matmul, .type = 1},
	{"Conv2D", 2, 2, .one = load_conv},
	{"Conv2DBackpropInput", 3, 3, .one = load_transpose_conv},
	{"DepthToSpace", 1, 1, .one = load_blocks, .op = "DepthToSpace"},
	{"DepthwiseConv2dNative", 2, 2, .one = load_depthwise},
	{"Einsum", 1, 2, .one = load_einsum},
	{"FusedBatchNorm", 5, 5, .run = load_batch_norm},
	{"FusedBatchNormV2", 5, 5, .run = load_batch_norm},
	{"FusedBatchNormV3", 5, 5, .run = load_batch_norm},
	{"LRN", 1, 1, .one = load_lrn},
	{"MatMul", 2, 2, .one = load_matmul},
	{"MaxPool", 1, 1, .one = load_pool, .type = 0},
	{"ResizeBicubic", 2, 2, .one = load_resize, .type = CUBIC},
	{"ResizeBilinear", 2, 2, .one = load_resize, .type = LINEAR},
	{"ResizeNearestNeighbor", 2, 2, .one = load_resize, .type = NEAREST},
	{"SpaceToDepth", 1, 1, .one = load_blocks, .op = "SpaceToDepth"},
	{0},
};

/* Convolutions and pools by the native engine and by the reference engine. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/native/layer.h"

struct layer {
	const char *what;
	size_t axes;
	int64_t images, in, out, group;
	int64_t size[3], kernel[3], stride[3], dilation[3], before[3], after[3];
};

static const struct layer layers[] = {
	{"pointwise", 2, 2, 17, 19, 1, {7, 9}, {1, 1}, {1, 1}, {1, 1}, {0}, {0}},
	{"pointwise strided", 2, 1, 8, 9, 1, {9, 8}, {1, 1}, {2, 3}, {1, 1}, {0}, {0}},
	{"every other", 2, 1, 17, 20, 1, {9, 46}, {1, 1}, {2, 2}, {1, 1}, {0}, {0}},
	{"halved", 2, 1, 8, 9, 1, {10, 9}, {1, 1}, {2, 2}, {1, 1}, {1, 1}, {0, 2}},
	{"3x3", 2, 2, 5, 13, 1, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
	{"tiles", 2, 2, 19, 20, 1, {14, 15}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
	{"tall", 2, 2, 5, 5, 5, {4, 19}, {5, 4}, {1, 2}, {1, 1}, {2, 1}, {1, 1}},
	{"tall apart", 2, 1, 3, 3, 3, {9, 40}, {4, 3}, {1, 1}, {1, 3}, {0}, {2}},
	{"tall, low", 2, 1, 3, 3, 3, {3, 20}, {4, 4}, {1, 1}, {1, 1}, {2, 2}, {1, 1}},
	{"tiles of 7 x 7",
	 2,
	 1,
	 70,
	 49,
	 1,
	 {7, 7},
	 {3, 3},
	 {1, 1},
	 {1, 1},
	 {1, 1},
	 {1, 1}},
	{"many tiles", 2, 1, 16, 17, 1, {40, 51}, {3, 3}, {1, 1}, {1, 1}, {0}, {0}},
	{"padded tiles",
	 2,
	 1,
	 16,
	 16,
	 1,
	 {3, 1},
	 {3, 3},
	 {1, 1},
	 {1, 1},
	 {2, 4},
	 {0, 3}},
	{"3x3 strided",
	 2,
	 1,
	 8,
	 16,
	 1,
	 {15, 14},
	 {3, 3},
	 {2, 2},
	 {1, 1},
	 {1, 1},
	 {0, 1}},
	{"7x7 strided",
	 2,
	 1,
	 3,
	 16,
	 1,
	 {23, 24},
	 {7, 7},
	 {2, 2},
	 {1, 1},
	 {3, 3},
	 {3, 3}},
	/* Windows in place: vectors that overlap, and lines divided among threads. */
	{"in place", 2, 2, 3, 9, 1, {40, 60}, {6, 6}, {2, 2}, {1, 1}, {2, 2}, {2, 2}},
	{"in place, apart",
	 2,
	 1,
	 4,
	 14,
	 2,
	 {19, 75},
	 {3, 2},
	 {3, 1},
	 {2, 3},
	 {0, 5},
	 {4, 3}},
	{"in place, deep",
	 3,
	 1,
	 3,
	 7,
	 1,
	 {5, 6, 33},
	 {2, 3, 3},
	 {2, 1, 1},
	 {1, 2, 1},
	 {1, 2, 1},
	 {1, 2, 1}},
	/* Threads divide rows, and share panels of several stretches. */
	{"few columns", 2, 1, 600, 90, 1, {7, 7}, {1, 1}, {1, 1}, {1, 1}, {0}, {0}},
	{"few columns, strided",
	 2,
	 2,
	 160,
	 60,
	 2,
	 {14, 13},
	 {3, 3},
	 {2, 2},
	 {1, 1},
	 {1, 1},
	 {1, 1}},
	{"dilated", 2, 1, 4, 6, 1, {12, 13}, {3, 3}, {1, 1}, {2, 3}, {2, 3}, {2, 3}},
	{"dilated strided",
	 2,
	 1,
	 4,
	 6,
	 1,
	 {17, 19},
	 {3, 2},
	 {2, 3},
	 {3, 2},
	 {1, 2},
	 {0, 3}},
	{"grouped", 2, 2, 12, 18, 3, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
	{"depthwise", 2, 2, 9, 9, 9, {14, 15}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
	{"depthwise strided",
	 2,
	 1,
	 9,
	 9,
	 9,
	 {17, 34},
	 {3, 3},
	 {2, 2},
	 {1, 1},
	 {1, 1},
	 {1, 1}},
	{"wide apart", 2, 1, 5, 5, 5, {8, 70}, {3, 3}, {2, 2}, {1, 1}, {0, 1}, {2, 1}},
	{"depthwise 5x5",
	 2,
	 1,
	 19,
	 19,
	 19,
	 {7, 7},
	 {5, 5},
	 {1, 1},
	 {1, 1},
	 {2, 2},
	 {2, 2}},
	{"depthwise, two each",
	 2,
	 1,
	 4,
	 8,
	 4,
	 {9, 9},
	 {3, 3},
	 {1, 1},
	 {1, 1},
	 {1, 1},
	 {1, 1}},
	{"one axis", 1, 2, 6, 10, 1, {50}, {5}, {3}, {2}, {4}, {1}},
	{"three axes",
	 3,
	 1,
	 3,
	 7,
	 1,
	 {6, 7, 8},
	 {3, 2, 3},
	 {1, 2, 1},
	 {1, 1, 2},
	 {1, 0, 2},
	 {1, 1, 2}},
	{"deep", 2, 1, 70, 49, 1, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
	{"wide", 2, 1, 16, 33, 1, {48, 49}, {1, 1}, {1, 1}, {1, 1}, {0}, {0}},
	{"more padding than kernel",
	 2,
	 1,
	 2,
	 3,
	 1,
	 {3, 3},
	 {2, 2},
	 {3, 3},
	 {1, 1},
	 {4, 4},
	 {4, 4}},
};
enum { N_LAYERS = sizeof(layers) / sizeof(layers[0]) };

/* Layers of two axes have parameters of their own; a pool's steps are a list. */
static void set_plane(modser_sg_node *node, const struct layer *l, bool is_pool)
{
	set_int(node, "kernel_h", l->kernel[0]);
	set_int(node, "kernel_w", l->kernel[1]);
	set_int(node, "stride_h", l->stride[0]);
	set_int(node, "stride_w", l->stride[1]);
	set_int(node, "pad_h0", l->before[0]);
	set_int(node, "pad_w0", l->before[1]);
	set_int(node, "pad_h1", l->after[0]);
	set_int(node, "pad_w1", l->after[1]);
	if (!is_pool) {
		set_int(node, "dilation_h", l->dilation[0]);
		set_int(node, "dilation_w", l->dilation[1]);
	}
}

static void set_windows(modser_sg_node *node, const struct layer *l, bool is_pool)
{
	int64_t pads[6];

	memcpy(pads, l->before, l->axes * sizeof(*pads));
	memcpy(pads + l->axes, l->after, l->axes * sizeof(*pads));
	if (l->axes == 2)
		set_plane(node, l, is_pool);
	if (l->axes == 2 && !is_pool)
		return;
	set_list(node, "dilations", l->axes, l->dilation);
	if (l->axes == 2)
		return;
	set_list(node, "kernel", l->axes, l->kernel);
	set_list(node, "strides", l->axes, l->stride);
	set_list(node, "pads", 2 * l->axes, pads);
}

static void add_operands(struct one *o, const struct layer *l)
{
	int64_t x[5] = {l->images, l->in};
	int64_t w[5] = {l->out, l->in / l->group};

	memcpy(x + 2, l->size, l->axes * sizeof(*x));
	memcpy(w + 2, l->kernel, l->axes * sizeof(*w));
	add(o, l->axes + 2, x, 21);
	add(o, l->axes + 2, w, 22);
	add(o, 1, &l->out, 23);
}

Test(native_layers, convolutions, .timeout = 300)
{
	for (size_t i = 0; i < N_LAYERS; i++) {
		struct one o = one_begin("Convolution");

		set_int(o.node, "group", layers[i].group);
		set_windows(o.node, &layers[i], false);
		add_operands(&o, &layers[i]);
		expect_agreement(layers[i].what, &o);
	}
}

/* False: the padding takes all of a transposed convolution. */
static bool has_extent(const struct layer *l, int64_t extra)
{
	for (size_t i = 0; i < l->axes; i++) {
		if (l->stride[i] * (l->size[i] - 1) +
			    (l->kernel[i] - 1) * l->dilation[i] + 1 + extra <=
		    l->before[i] + l->after[i])
			return false;
	}
	return true;
}

/* A transposed convolution: the output grows by the stride. Also with output padding,
 * and with and without a bias. */
static void expect_transposed(const struct layer *l, int64_t extra, bool has_bias)
{
	struct one o = one_begin("Deconvolution");
	const int64_t extras[] = {extra, extra, extra};
	int64_t x[5] = {l->images, l->in};
	int64_t w[5] = {l->in, l->out / l->group};

	if (!has_extent(l, extra)) {
		one_end(&o);
		return;
	}
	memcpy(x + 2, l->size, l->axes * sizeof(*x));
	memcpy(w + 2, l->kernel, l->axes * sizeof(*w));
	set_int(o.node, "group", l->group);
	set_windows(o.node, l, false);
	if (l->axes == 2) {
		set_int(o.node, "output_pad_h0", extra);
		set_int(o.node, "output_pad_w0", extra);
	} else {
		set_list(o.node, "output_padding", l->axes, extras);
	}
	add(&o, l->axes + 2, x, 21);
	add(&o, l->axes + 2, w, 22);
	if (has_bias)
		add(&o, 1, &l->out, 23);
	expect_agreement(l->what, &o);
}

/* Several stripes along each axis, strides beyond the kernel, no image. */
static const struct layer transposed[] = {
	{"long", 1, 1, 6, 10, 2, {3000}, {7}, {3}, {2}, {4}, {1}},
	{"tall", 2, 1, 9, 33, 1, {90, 31}, {4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
	{"deep",
	 3,
	 1,
	 3,
	 7,
	 1,
	 {40, 9, 11},
	 {3, 2, 3},
	 {2, 2, 1},
	 {1, 1, 2},
	 {1, 0, 2},
	 {0, 1, 2}},
	{"far apart", 2, 2, 3, 4, 1, {5, 6}, {2, 3}, {5, 7}, {1, 1}, {0}, {0}},
	{"large kernel", 2, 1, 4, 4, 4, {5, 9}, {13, 11}, {2, 3}, {1, 1}, {4}, {4}},
	{"no image", 2, 0, 4, 4, 1, {5, 9}, {3, 3}, {2, 2}, {1, 1}, {0}, {0}},
};

Test(native_layers, transposed_convolutions, .timeout = 300)
{
	for (size_t i = 0; i < sizeof(transposed) / sizeof(transposed[0]); i++) {
		expect_transposed(&transposed[i], 0, true);
		expect_transposed(&transposed[i], 1, false);
	}
	for (size_t i = 0; i < N_LAYERS; i++) {
		for (int64_t k = 0; k < 2; k++)
			expect_transposed(&layers[i], k, k == 0);
	}
}

/* Rows shorter than a vector, and all tails of longer ones. */
static void expect_width(int64_t width, int64_t stride, int64_t kernel, int64_t before)
{
	const struct layer l = {"each width",
				2,
				1,
				3,
				3,
				3,
				{6 + width % 2, width},
				{kernel, kernel},
				{stride, stride},
				{1, 1},
				{before, before},
				{kernel - 1, kernel - 1}};
	struct one o = one_begin("Convolution");

	set_int(o.node, "group", l.group);
	set_windows(o.node, &l, false);
	add_operands(&o, &l);
	expect_agreement(l.what, &o);
	expect_transposed(&l, 1, true);
	for (int64_t alg = 0; alg < 2; alg++) {
		o = one_begin("Pooling");
		set_int(o.node, "alg", alg);
		set_windows(o.node, &l, true);
		add(&o, 4, (const int64_t[]){1, l.in, l.size[0], width}, 24);
		expect_agreement(l.what, &o);
	}
}

Test(native_layers, windows_of_each_width, .timeout = 300)
{
	for (int64_t i = 0; i < 40 * 3 * 3; i++) {
		expect_width(1 + i / 9, 1 + i % 3, 3, i / 3 % 3);
		if (i % 9 < 2)
			expect_width(1 + i / 9, 1 + i % 2, 2, 1);
		if (i % 9 < 4)
			expect_width(1 + i / 9, 1, 4 + i % 9, i % 9);
	}
}

/* The last tiles of a plane fill a part of a vector, or few columns behind one. */
Test(native_layers, each_number_of_tiles, .timeout = 300)
{
	for (int64_t i = 0; i < 110; i++) {
		const struct layer l = {
			"tiles", 2,      1,      16,     17,    1, {1 + i % 5, 1 + i},
			{3, 3},  {1, 1}, {1, 1}, {1, 1}, {1, 1}};
		struct one o = one_begin("Convolution");

		set_windows(o.node, &l, false);
		add_operands(&o, &l);
		expect_agreement(l.what, &o);
	}
}

/* Elements that are not finite reach the outputs of the windows that have them, and no
 * others. */
static void expect_wild(int64_t activation)
{
	const int64_t x[] = {1, 16, 9, 9};
	const int64_t w[] = {16, 16, 3, 3};
	const struct layer l = {.axes = 2,
				.kernel = {3, 3},
				.stride = {1, 1},
				.dilation = {1, 1},
				.before = {1, 1},
				.after = {1, 1}};
	struct one o = one_begin("Convolution");
	modser_sg_tensor *t = given(o.g, 4, x, 51);

	set_windows(o.node, &l, false);
	set_int(o.node, "activation", activation);
	(void)modser_sg_node_add_input(o.node, t);
	add(&o, 4, w, 52);
	((float *)(uintptr_t)modser_sg_tensor_data(t, &(uint64_t){0}))[40] = INFINITY;
	((float *)(uintptr_t)modser_sg_tensor_data(t, &(uint64_t){0}))[99] = NAN;
	expect_same_kinds("wild elements", &o);
}

Test(native_layers, tiles_with_wild_elements)
{
	static const int64_t activations[] = {-1, 0, 1, 6};

	for (size_t i = 0; i < sizeof(activations) / sizeof(activations[0]); i++)
		expect_wild(activations[i]);
}

/* They reach the outputs of their taps alone. */
Test(native_layers, transposed_with_wild_elements)
{
	const struct layer l = {.axes = 2,
				.kernel = {4, 3},
				.stride = {2, 2},
				.dilation = {1, 1},
				.before = {1, 1},
				.after = {1, 1}};
	struct one o = one_begin("Deconvolution");
	modser_sg_tensor *x = given(o.g, 4, (const int64_t[]){1, 5, 9, 9}, 51);
	modser_sg_tensor *w = given(o.g, 4, (const int64_t[]){5, 6, 4, 3}, 52);

	((float *)(uintptr_t)modser_sg_tensor_data(x, &(uint64_t){0}))[40] = INFINITY;
	((float *)(uintptr_t)modser_sg_tensor_data(x, &(uint64_t){0}))[99] = NAN;
	((float *)(uintptr_t)modser_sg_tensor_data(w, &(uint64_t){0}))[77] = -INFINITY;
	set_windows(o.node, &l, false);
	(void)modser_sg_node_add_input(o.node, x);
	(void)modser_sg_node_add_input(o.node, w);
	expect_same_kinds("transposed", &o);
}

Test(native_layers, pools, .timeout = 300)
{
	for (size_t i = 0; i < 2 * N_LAYERS; i++) {
		const struct layer *l = &layers[i / 2];
		int64_t x[5] = {l->images, l->in};

		if (l->before[0] >= l->kernel[0] ||
		    (l->axes > 1 && l->before[1] >= l->kernel[1]))
			continue; /* no pool pads so much */
		struct one o = one_begin("Pooling");

		set_int(o.node, "alg", (int64_t)i % 2);
		set_int(o.node, "caffe_flavor", i % 4 == 3 ? 0x10 : 0);
		set_windows(o.node, l, true);
		memcpy(x + 2, l->size, l->axes * sizeof(*x));
		add(&o, l->axes + 2, x, 24);
		expect_agreement(l->what, &o);
	}
}

Test(native_layers, pools_of_infinities)
{
	const struct layer l = {.axes = 2,
				.kernel = {3, 3},
				.stride = {1, 1},
				.dilation = {1, 1},
				.before = {1, 1},
				.after = {1, 1}};
	struct one o = one_begin("Pooling");
	modser_sg_tensor *x = given(o.g, 4, (const int64_t[]){1, 5, 9, 9}, 53);
	float *v = (float *)(uintptr_t)modser_sg_tensor_data(x, &(uint64_t){0});

	for (size_t i = 0; i < 81; i++)
		v[i] = -INFINITY;
	v[200] = INFINITY;
	set_int(o.node, "alg", 0);
	set_windows(o.node, &l, true);
	(void)modser_sg_node_add_input(o.node, x);
	expect_same_kinds("pool", &o);
}

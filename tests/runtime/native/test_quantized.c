/* Quantized layers by the native engine and by the reference engine: the same bytes,
 * and on 1, 2 and 3 threads. Nodes between DequantizeLinear and QuantizeLinear become
 * integer nodes, whose bytes differ at ties alone. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/pass/pass.h"
#include "runtime/engine/engine.h"
#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/constant.h"
#include "tests/graph/net.h"
#include "tests/runtime/native/levels.h"
#include "tests/support/fail_alloc.h"

/* Run the graph and copy its first output. */
static char *run(modser_graph *g, const char *engine, unsigned threads, size_t *ret_n)
{
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};
	uint64_t bytes;

	cr_assert_eq(setenv("MODSERD_ENGINE", engine, 1), 0);
	msd_pool_stop();
	msd_pool_configure(threads);
	cr_assert_eq(msd_plan_create(g, &plan, &d), MSD_OK, "%s", msd_diag_text(&d));
	cr_assert_eq(msd_plan_run(plan, NULL, &d), MSD_OK, "%s", msd_diag_text(&d));
	cr_assert(msd_sg_tensor_bytes(msd_plan_output_tensor(plan, 0), &bytes));
	char *y = malloc(bytes + 1);
	cr_assert_not_null(y);
	memcpy(y, msd_plan_output(plan, 0), bytes);
	*ret_n = bytes;
	msd_plan_destroy(plan);
	msd_pool_stop();
	return y;
}

static modser_sg_tensor *constant(modser_graph *g, const char *dtype, size_t ndim,
				  const int64_t *dims, unsigned seed)
{
	const size_t size = strcmp(dtype, "int32") == 0 ? 4 : 1;
	size_t n = 1;

	for (size_t i = 0; i < ndim; i++)
		n *= (size_t)dims[i];
	float *noise = levels_numbers(n, seed);
	char *data = malloc(n * size + 1);
	cr_assert_not_null(data);
	for (size_t i = 0; i < n; i++) {
		const int32_t v = (int32_t)(noise[i] * (size == 4 ? 5000 : 127));

		if (size == 4) {
			memcpy(data + i * size, &v, size);
		} else {
			data[i] = (char)(strcmp(dtype, "uint8") == 0 ? v + 128 : v);
		}
	}
	free(noise);
	modser_sg_tensor *t = net_constant(g, dtype, ndim, dims, data);
	(void)modser_sg_tensor_set_buffer(t, data, free);
	return t;
}

static modser_sg_tensor *scale(modser_graph *g, float v)
{
	float *p = malloc(sizeof(*p));

	cr_assert_not_null(p);
	*p = v;
	modser_sg_tensor *t = net_constant(g, "float32", 0, NULL, p);
	(void)modser_sg_tensor_set_buffer(t, p, free);
	return t;
}

/* A scale for each of @n channels. */
static modser_sg_tensor *scales(modser_graph *g, int64_t n, float v)
{
	float *p = malloc((size_t)n * sizeof(*p));

	cr_assert_not_null(p);
	for (int64_t i = 0; i < n; i++)
		p[i] = v * (1 + 0.1f * (float)(i % 7));
	modser_sg_tensor *t = net_constant(g, "float32", 1, &n, p);
	(void)modser_sg_tensor_set_buffer(t, p, free);
	return t;
}

static modser_sg_tensor *zero(modser_graph *g, const char *dtype, int v)
{
	char *p = malloc(1);

	cr_assert_not_null(p);
	*p = (char)v;
	modser_sg_tensor *t = net_constant(g, dtype, 0, NULL, p);
	(void)modser_sg_tensor_set_buffer(t, p, free);
	return t;
}

static modser_sg_tensor *node(modser_graph *g, const char *op, size_t n,
			      modser_sg_tensor *const *in)
{
	modser_sg_tensor *y = modser_sg_tensor_create(g, op);
	modser_sg_node *made = net_node(g, op, op, y);

	for (size_t i = 0; i < n; i++)
		(void)modser_sg_node_add_input(made, in[i]);
	return y;
}

static modser_sg_node *last(modser_graph *g)
{
	return modser_graph_node(g, modser_graph_node_count(g) - 1);
}

static void set_ints(modser_sg_node *n, const char *name, size_t count,
		     const int64_t *list)
{
	const modser_sg_attr a = {MODSER_ATTR_INTS, count, {.ints = list}};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(n), name, &a), 0);
}

static void set_int(modser_sg_node *n, const char *name, int64_t v)
{
	cr_assert_eq(modser_sg_op_set_int(modser_sg_node_op(n), name, v), 0, "%s",
		     name);
}

/* A convolution of @axes axes. */
struct window {
	size_t axes;
	int64_t in, out, group, extent, kernel, stride, dilation, pad;
	const char *x, *w, *y;
};

static const struct window windows[] = {
	{2, 8, 13, 1, 11, 3, 1, 1, 1, "uint8", "int8", "uint8"},
	{2, 7, 9, 1, 17, 3, 2, 1, 1, "int8", "int8", "int8"},
	{2, 16, 24, 1, 14, 1, 1, 1, 0, "uint8", "uint8", "uint8"},
	{2, 12, 6, 1, 9, 1, 2, 1, 0, "uint8", "int8", "int8"},
	{2, 12, 18, 3, 10, 3, 1, 2, 2, "uint8", "int8", "uint8"},
	{2, 10, 10, 10, 15, 3, 2, 1, 1, "uint8", "int8", "uint8"},
	{2, 6, 6, 6, 12, 5, 1, 1, 2, "int8", "uint8", "int8"},
	{2, 3, 32, 1, 40, 7, 3, 1, 3, "uint8", "int8", "uint8"},
	{1, 9, 11, 1, 37, 5, 1, 1, 2, "uint8", "int8", "uint8"},
	{3, 4, 7, 1, 6, 3, 1, 1, 1, "uint8", "int8", "uint8"},
	{2, 130, 33, 1, 5, 3, 1, 1, 0, "uint8", "int8", "uint8"},
};
#define N_WINDOWS (sizeof(windows) / sizeof(windows[0]))

static void set_window(modser_sg_node *n, const struct window *w)
{
	const char *const hw[] = {"kernel_h",   "kernel_w",   "stride_h", "stride_w",
				  "dilation_h", "dilation_w", "pad_h0",   "pad_w0",
				  "pad_h1",     "pad_w1"};
	const int64_t all[] = {w->kernel, w->stride, w->dilation, w->pad, w->pad};
	const int64_t pads[] = {w->pad, w->pad, w->pad, w->pad, w->pad, w->pad};

	set_int(n, "group", w->group);
	for (size_t i = 0; i < 10 && w->axes == 2; i++)
		set_int(n, hw[i], all[i / 2]);
	if (w->axes == 2)
		return;
	for (size_t i = 0; i < 3; i++) {
		static const char *const names[] = {"kernel", "strides", "dilations"};
		const int64_t list[] = {all[i], all[i], all[i]};

		set_ints(n, names[i], w->axes, list);
	}
	set_ints(n, "pads", 2 * w->axes, pads);
}

static modser_sg_tensor *image(modser_graph *g, const struct window *w)
{
	const int64_t dims[] = {2, w->in, w->extent, w->extent, w->extent};

	return constant(g, w->x, 2 + w->axes, dims, 11);
}

static modser_sg_tensor *kernels(modser_graph *g, const struct window *w)
{
	const int64_t dims[] = {w->out, w->in / w->group, w->kernel, w->kernel,
				w->kernel};

	return constant(g, w->w, 2 + w->axes, dims, 12);
}

/* The reference engine's bytes, on any number of threads. */
static void expect_equal(const char *what, modser_graph *g)
{
	size_t n, n_own;
	char *want = run(g, "reference", 1, &n);

	for (unsigned threads = 1; threads <= 3; threads++) {
		char *y = run(g, "native", threads, &n_own);

		cr_assert_eq(n, n_own);
		cr_expect(memcmp(want, y, n) == 0, "%s: other bytes on %u threads",
			  what, threads);
		free(y);
	}
	free(want);
	modser_graph_destroy(g);
}

Test(native_quantized, q_linear_conv, .timeout = 120)
{
	for (size_t i = 0; i < N_WINDOWS; i++) {
		const struct window *w = &windows[i];
		modser_graph *g = modser_graph_create("g");
		modser_sg_tensor *const in[] = {image(g, w),
						scale(g, 0.05f),
						zero(g, w->x, 3),
						kernels(g, w),
						scales(g, w->out, 0.002f),
						zero(g, w->w, 0),
						scale(g, 0.1f),
						zero(g, w->y, 7),
						constant(g, "int32", 1, &w->out, 13)};
		modser_sg_tensor *y = node(g, "QLinearConv", 9 - i % 2, in);

		/* One zero point for each scale of the weights. */
		if (strcmp(w->w, "uint8") == 0) {
			y->producer->inputs[4] = scale(g, 0.002f);
			y->producer->inputs[5] = zero(g, w->w, 120);
		}
		set_window(y->producer, w);
		(void)modser_graph_add_output(g, y);
		expect_equal("QLinearConv", g);
	}
}

Test(native_quantized, conv_integer, .timeout = 120)
{
	for (size_t i = 0; i < N_WINDOWS; i++) {
		const struct window *w = &windows[i];
		modser_graph *g = modser_graph_create("g");
		modser_sg_tensor *const in[] = {image(g, w), kernels(g, w),
						zero(g, w->x, 3),
						constant(g, w->w, 1, &w->out, 14)};
		modser_sg_tensor *y = node(g, "ConvInteger", 1 + i % 4, in);

		if (i % 4 == 0)
			(void)modser_sg_node_add_input(y->producer, in[1]);
		set_window(y->producer, w);
		(void)modser_graph_add_output(g, y);
		expect_equal("ConvInteger", g);
	}
}

static const struct {
	size_t na, nb;
	int64_t a[4], b[4];
	const char *x, *w;
} matrices[] = {
	{2, 2, {1, 70}, {70, 33}, "uint8", "int8"},
	{2, 2, {7, 71}, {71, 16}, "int8", "int8"},
	{2, 2, {48, 9}, {9, 49}, "uint8", "uint8"},
	{3, 2, {2, 5, 8}, {8, 17}, "uint8", "int8"},
	{4, 4, {2, 3, 5, 9}, {2, 1, 9, 11}, "uint8", "int8"},
	{1, 2, {15}, {15, 6}, "uint8", "int8"},
};
#define N_MATRICES (sizeof(matrices) / sizeof(matrices[0]))

Test(native_quantized, mat_mul_integer, .timeout = 120)
{
	for (size_t i = 0; i < 2 * N_MATRICES; i++) {
		const size_t at = i / 2;
		const int64_t n = matrices[at].b[matrices[at].nb - 1];
		modser_graph *g = modser_graph_create("g");
		modser_sg_tensor *a = constant(g, matrices[at].x, matrices[at].na,
					       matrices[at].a, 21);
		modser_sg_tensor *b = constant(g, matrices[at].w, matrices[at].nb,
					       matrices[at].b, 22);
		modser_sg_tensor *const in[] = {a, b, zero(g, matrices[at].x, 100),
						constant(g, matrices[at].w, 1, &n, 23)};
		modser_sg_tensor *y = node(g, "MatMulInteger", i % 2 == 0 ? 2 : 4, in);

		(void)modser_graph_add_output(g, y);
		expect_equal("MatMulInteger", g);
	}
}

Test(native_quantized, q_linear_mat_mul, .timeout = 120)
{
	for (size_t i = 0; i < 2 * N_MATRICES; i++) {
		const size_t at = i / 2;
		const int64_t n = matrices[at].b[matrices[at].nb - 1];
		modser_graph *g = modser_graph_create("g");
		modser_sg_tensor *const in[] = {
			constant(g, matrices[at].x, matrices[at].na, matrices[at].a,
				 21),
			scale(g, 0.03f),
			zero(g, matrices[at].x, 4),
			constant(g, matrices[at].w, matrices[at].nb, matrices[at].b,
				 22),
			i % 2 == 0 ? scale(g, 0.01f) : scales(g, n, 0.01f),
			i % 2 == 0 ? zero(g, matrices[at].w, 9)
				   : constant(g, matrices[at].w, 1, &n, 23),
			scale(g, 0.2f),
			zero(g, "uint8", 99)};
		modser_sg_tensor *y = node(g, "QLinearMatMul", 8, in);

		(void)modser_graph_add_output(g, y);
		expect_equal("QLinearMatMul", g);
	}
}

static modser_sg_tensor *floats(modser_graph *g, size_t ndim, const int64_t *dims,
				float by)
{
	size_t n = 1;

	for (size_t i = 0; i < ndim; i++)
		n *= (size_t)dims[i];
	float *x = levels_numbers(n, 31);
	for (size_t i = 0; i < n; i++)
		x[i] *= by;
	modser_sg_tensor *t = net_constant(g, "float32", ndim, dims, x);
	(void)modser_sg_tensor_set_buffer(t, x, free);
	return t;
}

Test(native_quantized, quantize_and_back)
{
	static const int64_t dims[] = {3, 7, 53};
	static const char *const dtypes[] = {"uint8", "int8"};

	for (size_t i = 0; i < 8; i++) {
		const char *dtype = dtypes[i % 2];
		modser_graph *g = modser_graph_create("g");
		const bool is_each = i / 2 % 2 == 1;
		modser_sg_tensor *s = is_each ? scales(g, 7, 0.01f) : scale(g, 0.01f);
		modser_sg_tensor *z = is_each ? constant(g, dtype, 1, &dims[1], 32)
					      : zero(g, dtype, 5);
		modser_sg_tensor *y =
			node(g, "QuantizeLinear", 3,
			     (modser_sg_tensor *[]){floats(g, 3, dims, 2), s, z});

		if (i >= 4)
			y = node(g, "DequantizeLinear", 3,
				 (modser_sg_tensor *[]){y, s, z});
		(void)modser_graph_add_output(g, y);
		expect_equal("QuantizeLinear", g);
	}
}

Test(native_quantized, dynamic_quantize)
{
	static const int64_t dims[] = {5, 1001};

	for (size_t k = 0; k < 3; k++) {
		modser_graph *g = modser_graph_create("g");

		(void)node(g, "DynamicQuantizeLinear", 1,
			   (modser_sg_tensor *[]){floats(g, 2, dims, 3)});
		modser_sg_node *made = last(g);
		for (size_t i = 0; i < 2; i++) {
			modser_sg_tensor *t = modser_sg_tensor_create(g, "part");

			(void)modser_sg_node_add_output(made, t);
		}
		(void)modser_graph_add_output(g, modser_sg_node_output(made, k));
		expect_equal("DynamicQuantizeLinear", g);
	}
}

/* ---- Nodes between DequantizeLinear and QuantizeLinear ---- */

static modser_sg_tensor *dequantized(modser_graph *g, modser_sg_tensor *x,
				     const char *dtype, float by, int at)
{
	return node(g, "DequantizeLinear", 3,
		    (modser_sg_tensor *[]){x, scale(g, by), zero(g, dtype, at)});
}

static modser_sg_tensor *quantized(modser_graph *g, modser_sg_tensor *x,
				   const char *dtype, float by, int at)
{
	return node(g, "QuantizeLinear", 3,
		    (modser_sg_tensor *[]){x, scale(g, by), zero(g, dtype, at)});
}

static modser_sg_tensor *convolution(modser_graph *g, const struct window *w,
				     const char *activation, bool ends_in_bytes)
{
	modser_sg_tensor *x = dequantized(g, image(g, w), w->x, 0.05f, 3);
	modser_sg_tensor *k =
		node(g, "DequantizeLinear", 2,
		     (modser_sg_tensor *[]){kernels(g, w), scales(g, w->out, 0.002f)});
	set_int(k->producer, "axis", 0);
	modser_sg_tensor *b =
		node(g, "DequantizeLinear", 2,
		     (modser_sg_tensor *[]){constant(g, "int32", 1, &w->out, 13),
					    scales(g, w->out, 0.05f * 0.002f)});
	set_int(b->producer, "axis", 0);
	modser_sg_tensor *y =
		node(g, "Convolution", 3, (modser_sg_tensor *[]){x, k, b});
	set_window(y->producer, w);
	if (activation != NULL)
		y = node(g, activation, 1, &y);
	return ends_in_bytes ? quantized(g, y, w->y, 0.1f, 7) : y;
}

static size_t count_op(const modser_graph *g, const char *op)
{
	size_t n = 0;

	for (size_t i = 0; i < modser_graph_node_count(g); i++) {
		n += strcmp(modser_sg_op_name(
				    modser_sg_node_op(modser_graph_node(g, i))),
			    op) == 0;
	}
	return n;
}

/* Run the passes: @n nodes of @op are made, and no DequantizeLinear stays. */
static void expect_made(modser_graph *g, const char *op, size_t n)
{
	const struct msd_pass_host host = {NULL, msd_engine_may_make};
	struct msd_passed passed;

	cr_assert_eq(setenv("MODSERD_ENGINE", "reference", 1), 0);
	cr_assert_eq(msd_passes_run(g, host, &passed), 0);
	cr_expect_eq(passed.n[MSD_PASS_quantize], 0, "the reference engine is alone");
	cr_assert_eq(setenv("MODSERD_ENGINE", "native", 1), 0);
	cr_assert_eq(msd_passes_run(g, host, &passed), 0);
	cr_expect_eq(count_op(g, op), n, "%zu of %s", count_op(g, op), op);
	cr_expect_eq(count_op(g, "DequantizeLinear"), 0);
	cr_assert_eq(modser_graph_check(g), 0, "%s", modser_graph_error(g));
}

/* Bytes differ from @want by one step, and in at most one of a thousand: at ties. */
static void expect_ties(const char *what, modser_graph *g, const char *want, size_t n)
{
	for (unsigned threads = 1; threads <= 3; threads++) {
		size_t n_own, n_ties = 0;
		char *y = run(g, "native", threads, &n_own);

		cr_assert_eq(n, n_own);
		for (size_t i = 0; i < n; i++) {
			const uint8_t step = (uint8_t)(y[i] - want[i]);

			cr_assert(step == 0 || step == 1 || step == 255, "%s: byte %zu",
				  what, i);
			n_ties += step != 0;
		}
		cr_expect_leq(n_ties, n / 1000, "%s: %zu of %zu differ", what, n_ties,
			      n);
		free(y);
	}
}

static void expect_integers(const char *what, modser_graph *g, const char *op,
			    size_t n_op)
{
	size_t n;
	char *want = run(g, "reference", 1, &n);

	expect_made(g, op, n_op);
	expect_ties(what, g, want, n);
	free(want);
	modser_graph_destroy(g);
}

Test(native_quantized, convolutions_become_integers, .timeout = 120)
{
	static const char *const activations[] = {NULL, "ReLu", "ReLu6"};

	for (size_t i = 0; i < N_WINDOWS; i++) {
		modser_graph *g = modser_graph_create("g");

		if (strcmp(windows[i].w, "uint8") == 0) {
			modser_graph_destroy(g);
			continue;
		}
		(void)modser_graph_add_output(
			g, convolution(g, &windows[i], activations[i % 3], true));
		expect_integers("Convolution", g, "QuantizedConvolution", 1);
	}
}

/* Without a QuantizeLinear the integer node makes floats. */
Test(native_quantized, a_float_output_stays_close)
{
	modser_graph *g = modser_graph_create("g");
	size_t n, n_own;

	(void)modser_graph_add_output(g, convolution(g, &windows[0], "ReLu", false));
	float *want = (float *)(void *)run(g, "reference", 1, &n);
	expect_made(g, "QuantizedConvolution", 1);
	float *y = (float *)(void *)run(g, "native", 1, &n_own);
	cr_assert_eq(n, n_own);
	for (size_t i = 0; i < n / sizeof(float); i++)
		cr_assert_float_eq(y[i], want[i], 1e-4);
	free(want);
	free(y);
	modser_graph_destroy(g);
}

static modser_sg_tensor *product(modser_graph *g, bool is_gemm)
{
	const int64_t a[] = {9, 31};
	const int64_t b[] = {is_gemm ? 22 : 31, is_gemm ? 31 : 22};
	const int64_t n = 22;
	modser_sg_tensor *x =
		dequantized(g, constant(g, "uint8", 2, a, 41), "uint8", 0.02f, 100);
	modser_sg_tensor *w = node(g, "DequantizeLinear", 2,
				   (modser_sg_tensor *[]){constant(g, "int8", 2, b, 42),
							  scales(g, n, 0.004f)});
	modser_sg_tensor *in[] = {x, w, floats(g, 1, &n, 1)};

	set_int(w->producer, "axis", is_gemm ? 0 : 1);
	modser_sg_tensor *y = node(g, is_gemm ? "Gemm" : "MatMul", is_gemm ? 3 : 2, in);
	if (is_gemm) {
		set_int(y->producer, "transB", 1);
	} else {
		y = node(g, "Add", 2, (modser_sg_tensor *[]){in[2], y});
	}
	return quantized(g, node(g, "ReLu", 1, &y), "int8", 0.05f, -100);
}

Test(native_quantized, products_become_integers)
{
	for (int is_gemm = 0; is_gemm < 2; is_gemm++) {
		modser_graph *g = modser_graph_create("g");

		(void)modser_graph_add_output(g, product(g, is_gemm != 0));
		expect_integers("product", g, "QuantizedMatMul", 1);
	}
}

/* As dynamic quantization writes a product: the scale of a follows from the call. */
static modser_sg_tensor *dynamic_product(modser_graph *g, bool is_each)
{
	const int64_t a[] = {2, 9, 31};
	const int64_t b[] = {31, 22};
	modser_sg_tensor *parts[3];
	const modser_sg_attr to = {.kind = MODSER_ATTR_STR, .as.s = "float32"};

	parts[0] = node(g, "DynamicQuantizeLinear", 1,
			(modser_sg_tensor *[]){floats(g, 3, a, 3)});
	for (size_t i = 1; i < 3; i++) {
		parts[i] = modser_sg_tensor_create(g, "part");
		(void)modser_sg_node_add_output(parts[0]->producer, parts[i]);
	}
	modser_sg_tensor *s = is_each ? scales(g, b[1], 0.01f) : scale(g, 0.01f);
	modser_sg_tensor *z =
		is_each ? constant(g, "int8", 1, &b[1], 44) : zero(g, "int8", 3);
	modser_sg_tensor *unit = node(g, "Mul", 2, (modser_sg_tensor *[]){parts[1], s});
	modser_sg_tensor *y =
		node(g, "MatMulInteger", 4,
		     (modser_sg_tensor *[]){parts[0], constant(g, "int8", 2, b, 43),
					    parts[2], z});
	y = node(g, "Cast", 1, &y);
	(void)modser_sg_op_set_param(modser_sg_node_op(y->producer), "to", &to);
	y = node(g, "Mul", 2, (modser_sg_tensor *[]){y, unit});
	return node(g, "Add", 2, (modser_sg_tensor *[]){y, floats(g, 1, &b[1], 1)});
}

Test(native_quantized, dynamic_products_become_integers)
{
	for (int is_each = 0; is_each < 2; is_each++) {
		modser_graph *g = modser_graph_create("g");
		size_t n, n_own;

		(void)modser_graph_add_output(g, dynamic_product(g, is_each != 0));
		float *want = (float *)(void *)run(g, "reference", 1, &n);
		expect_made(g, "QuantizedMatMul", 1);
		cr_expect_eq(count_op(g, "Mul") + count_op(g, "Cast"), 0);
		float *y = (float *)(void *)run(g, "native", 1, &n_own);
		cr_assert_eq(n, n_own);
		for (size_t i = 0; i < n / sizeof(float); i++)
			cr_assert_float_eq(y[i], want[i], 2e-4);
		free(want);
		free(y);
		modser_graph_destroy(g);
	}
}

Test(native_quantized, two_operands_become_integers)
{
	static const char *const ops[] = {"Add", "Sub", "Mul"};
	static const int64_t dims[][3] = {
		{2, 5, 300}, {2, 5, 300}, {1, 5, 1}, {1, 1, 300}};

	for (size_t i = 0; i < 12; i++) {
		modser_graph *g = modser_graph_create("g");
		modser_sg_tensor *const in[] = {
			dequantized(g, constant(g, "uint8", 3, dims[0], 51), "uint8",
				    0.03f, 120),
			dequantized(g, constant(g, "int8", 3, dims[i / 3], 52), "int8",
				    0.02f, -5)};
		modser_sg_tensor *y = node(g, ops[i % 3], 2, in);

		(void)modser_graph_add_output(
			g, quantized(g, node(g, "ReLu", 1, &y), "uint8", 0.04f, 10));
		expect_integers(ops[i % 3], g, "QuantizedBinary", 1);
	}
}

Test(native_quantized, functions_become_tables)
{
	static const char *const ops[] = {"Sigmoid", "Tanh", "ReLu", "ReLu6"};
	static const int64_t dims[] = {4, 1200};

	for (size_t i = 0; i < 4; i++) {
		modser_graph *g = modser_graph_create("g");
		modser_sg_tensor *x = dequantized(g, constant(g, "int8", 2, dims, 61),
						  "int8", 0.05f, 11);

		(void)modser_graph_add_output(
			g, quantized(g, node(g, ops[i], 1, &x), "uint8", 0.03f, 30));
		expect_integers(ops[i], g, "QuantizedTable", 1);
	}
}

Test(native_quantized, concat_moves_bytes)
{
	static const int64_t dims[] = {2, 3, 500};
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *const in[] = {
		dequantized(g, constant(g, "uint8", 3, dims, 71), "uint8", 0.03f, 120),
		dequantized(g, constant(g, "uint8", 3, dims, 72), "uint8", 0.05f, 99)};
	modser_sg_tensor *y = node(g, "Concat", 2, in);

	set_int(y->producer, "axis", 1);
	(void)modser_graph_add_output(g, quantized(g, y, "uint8", 0.03f, 120));
	expect_integers("Concat", g, "QuantizedTable", 1);
}

/* A failed allocation of the pass is NO_MEMORY. */
Test(native_quantized, the_pass_survives_failed_allocations)
{
	const struct msd_pass_host host = {NULL, msd_engine_may_make};
	bool failed = true;

	for (long k = 0; failed; k++) {
		modser_graph *g = modser_graph_create("g");
		struct msd_passed passed;

		(void)modser_graph_add_output(g, product(g, true));
		(void)modser_graph_add_output(
			g, convolution(g, &windows[0], "ReLu", true));
		msd_fail_alloc(k);
		const int result = msd_passes_run(g, host, &passed);
		failed = msd_fail_alloc_stop();
		if (result != 0)
			cr_assert_str_eq(modser_graph_error_name(g), "NO_MEMORY");
		modser_graph_destroy(g);
	}
}

/* A failed allocation of a plan or a run is an error, or changes no byte. */
Test(native_quantized, failed_allocations_change_nothing, .timeout = 120)
{
	modser_graph *g = modser_graph_create("g");
	bool failed = true;
	size_t n;

	(void)modser_graph_add_output(g, convolution(g, &windows[0], "ReLu", true));
	expect_made(g, "QuantizedConvolution", 1);
	char *want = run(g, "native", 1, &n);
	for (long k = 0; failed; k++) {
		struct msd_plan *plan = NULL;

		msd_pool_configure(1);
		msd_fail_alloc(k);
		msd_err err = msd_plan_create(g, &plan, NULL);
		err = err == MSD_OK ? msd_plan_run(plan, NULL, NULL) : err;
		failed = msd_fail_alloc_stop();
		cr_assert(failed || err == MSD_OK);
		if (err == MSD_OK)
			cr_expect(memcmp(want, msd_plan_output(plan, 0), n) == 0);
		msd_plan_destroy(plan);
		msd_pool_stop();
	}
	free(want);
	modser_graph_destroy(g);
}

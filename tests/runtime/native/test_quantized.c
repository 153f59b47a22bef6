/* Quantized layers by the native engine and by the reference engine: the same bytes,
 * on 1, 2 and 3 threads. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/native/bytes_net.h"

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

		if (i >= 4) {
			y = node(g, "DequantizeLinear", 3,
				 (modser_sg_tensor *[]){y, s, z});
		}
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

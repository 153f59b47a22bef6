/* Nodes between DequantizeLinear and QuantizeLinear become integer nodes, whose bytes
 * differ from those of the separate nodes at ties alone. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/pass/pass.h"
#include "runtime/engine/engine.h"
#include "tests/runtime/native/quantize_net.h"
#include "tests/support/fail_alloc.h"

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

Test(native_quantize, convolutions_become_integers, .timeout = 120)
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
Test(native_quantize, a_float_output_stays_close)
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

Test(native_quantize, products_become_integers)
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

Test(native_quantize, dynamic_products_become_integers)
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

Test(native_quantize, two_operands_become_integers)
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

Test(native_quantize, functions_become_tables)
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

Test(native_quantize, concat_moves_bytes)
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
Test(native_quantize, the_pass_survives_failed_allocations)
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
Test(native_quantize, failed_allocations_change_nothing, .timeout = 120)
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

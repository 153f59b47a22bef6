/* Nodes that passes fuse or compose for the native engine. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/reduce/reduce.h"
#include "graph/pass/pass.h"
#include "runtime/engine/engine.h"
#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/constant.h"
#include "tests/graph/net.h"
#include "tests/runtime/native/agree.h"
#include "tests/runtime/native/levels.h"
#include "tests/support/fail_alloc.h"

/* A convolution of group @group, + x, then an activation. */
static modser_graph *fusible_of(int64_t group, int64_t size, int64_t width,
				const char *activation)
{
	const int64_t dims[] = {2, 8, 9, width};
	const int64_t weights[] = {8, 8 / group, size, size};
	modser_graph *g = modser_graph_create("fusible");
	modser_sg_tensor *x = given(g, 4, dims, 41);
	modser_sg_tensor *y = then(g, "Convolution", x, given(g, 4, weights, 42));
	modser_sg_node *conv = modser_graph_node(g, modser_graph_node_count(g) - 1);

	set_int(conv, "group", group);
	set_int(conv, "kernel_h", size);
	set_int(conv, "kernel_w", size);
	set_int(conv, "pad_h0", size / 2);
	set_int(conv, "pad_w0", size / 2);
	set_int(conv, "pad_h1", size / 2);
	set_int(conv, "pad_w1", size / 2);
	y = then(g, "Add", x, y);
	if (strcmp(activation, "Silu") == 0) {
		y = then(g, "Mul", y, then(g, "Sigmoid", y, NULL));
	} else if (strcmp(activation, "gated") == 0) {
		y = then(g, "Mul", then(g, "Hardsigmoid", y, NULL), y);
	} else {
		y = then(g, activation, y, NULL);
	}
	(void)modser_graph_add_output(g, y);
	return g;
}

static modser_graph *fusible(int64_t group, const char *activation)
{
	return fusible_of(group, 3, 11, activation);
}

/* Passes change nothing for the reference engine, and for the native one no result.
 * Destroys @g. */
static struct msd_passed expect_passed(const char *what, modser_graph *g)
{
	const struct msd_pass_host host = {NULL, msd_engine_may_make};
	struct msd_passed passed;
	size_t n;
	float *want = run(g, "reference", 1, &n);

	cr_assert_eq(msd_passes_run(g, host, &passed), 0);
	cr_expect_eq(passed.n[MSD_PASS_fuse] + passed.n[MSD_PASS_compose], 0,
		     "the reference engine is alone");
	cr_assert_eq(setenv("MODSERD_ENGINE", "native", 1), 0);
	cr_assert_eq(msd_passes_run(g, host, &passed), 0);
	cr_assert_eq(modser_graph_check(g), 0, "%s", modser_graph_error(g));
	float *is = run(g, "native", 1, &n);
	expect_close(what, is, want, n);
	expect_same_bits(what, g, is);
	free(want);
	free(is);
	modser_graph_destroy(g);
	return passed;
}

static void expect_fused(const char *what, modser_graph *g, size_t n_fused)
{
	const struct msd_passed passed = expect_passed(what, g);

	cr_expect_eq(passed.n[MSD_PASS_fuse], n_fused, "%s: %zu", what,
		     passed.n[MSD_PASS_fuse]);
}

Test(native_fusion, of_what_follows_a_convolution)
{
	for (int64_t group = 1; group <= 8; group *= 8) {
		expect_fused("ReLu", fusible(group, "ReLu"), 2);
		expect_fused("Clip", fusible(group, "Clip"), 2);
		expect_fused("Sigmoid", fusible(group, "Sigmoid"), 2);
		expect_fused("HardSwish", fusible(group, "HardSwish"), 2);
		expect_fused("Silu", fusible(group, "Silu"), 3);
		expect_fused("gated", fusible(group, "gated"), 3);
		expect_fused("Tanh", fusible(group, "Tanh"), 2);
		expect_fused("Gelu", fusible(group, "Gelu"), 2);
		expect_fused("Exp", fusible(group, "Exp"), 1);
	}
}

Test(native_fusion, of_what_follows_a_tall_depthwise_convolution)
{
	for (int64_t size = 5; size <= 7; size += 2) {
		expect_fused("ReLu", fusible_of(8, size, 11, "ReLu"), 2);
		expect_fused("Silu", fusible_of(8, size, 11, "Silu"), 3);
	}
}

/* Its vectors overlap: a function is applied once. */
Test(native_fusion, of_what_follows_a_wide_convolution)
{
	expect_fused("ReLu", fusible_of(1, 3, 30, "ReLu"), 2);
	expect_fused("Silu", fusible_of(1, 3, 30, "Silu"), 3);
}

/* x w + bias + x, then an activation; stacks of @rows rows. */
static modser_graph *product(int64_t rows, bool is_gemm, const char *activation)
{
	const int64_t dims[] = {3, rows, 70};
	const int64_t weights[] = {70, 70};
	const int64_t bias[] = {70};
	modser_graph *g = modser_graph_create("product");
	modser_sg_tensor *x = given(g, is_gemm ? 2 : 3, is_gemm ? dims + 1 : dims, 61);
	modser_sg_tensor *y =
		then(g, is_gemm ? "Gemm" : "MatMul", x, given(g, 2, weights, 62));
	modser_sg_node *node = y->producer;

	if (is_gemm) {
		set_int(node, "transB", 1);
		(void)modser_sg_node_add_input(node, given(g, 1, bias, 63));
	} else {
		y = then(g, "Add", given(g, 1, bias, 63), y);
	}
	y = then(g, "Add", y, x);
	(void)modser_graph_add_output(g, then(g, activation, y, NULL));
	return g;
}

Test(native_fusion, of_what_follows_a_product)
{
	static const char *const functions[] = {"ReLu", "Sigmoid", "Tanh", "Gelu"};

	for (size_t i = 0; i < 4; i++) {
		for (int64_t rows = 1; rows <= 19; rows += 9) {
			expect_fused(functions[i], product(rows, false, functions[i]),
				     3);
			expect_fused(functions[i], product(rows, true, functions[i]),
				     2);
		}
	}
	expect_fused("Exp", product(5, true, "Exp"), 1);
}

/* A bias of more than one row is not one. */
Test(native_fusion, leaves_addends_of_other_shapes)
{
	const int64_t dims[] = {70, 70};
	modser_graph *g = modser_graph_create("rows");
	modser_sg_tensor *y =
		then(g, "MatMul", given(g, 2, dims, 64), given(g, 2, dims, 65));

	y = then(g, "Add", y, given(g, 1, (const int64_t[]){1}, 66));
	(void)modser_graph_add_output(g, y);
	expect_fused("a scalar", g, 0);
}

static modser_sg_tensor *number(modser_graph *g, float v)
{
	float *p = malloc(sizeof(*p));

	cr_assert_not_null(p);
	*p = v;
	modser_sg_tensor *t = net_constant(g, "float32", 0, NULL, p);
	(void)modser_sg_tensor_set_buffer(t, p, free);
	return t;
}

/* Exporters write the products of Gelu in three orders; @one should be 1. */
static modser_graph *gelu(size_t order, float one)
{
	const int64_t dims[] = {3, 50};
	modser_graph *g = modser_graph_create("gelu");
	modser_sg_tensor *x = then(g, "Neg", given(g, 2, dims, 71), NULL);
	modser_sg_tensor *y = order == 0 ? then(g, "Div", x, number(g, 1.41421354f))
					 : then(g, "Mul", number(g, 0.707106769f), x);

	y = then(g, "Add", then(g, "Erf", y, NULL), number(g, one));
	if (order == 0) {
		y = then(g, "Mul", then(g, "Mul", x, y), number(g, 0.5f));
	} else if (order == 1) {
		y = then(g, "Mul", then(g, "Mul", x, number(g, 0.5f)), y);
	} else {
		y = then(g, "Mul", x, then(g, "Mul", number(g, 0.5f), y));
	}
	(void)modser_graph_add_output(g, y);
	return g;
}

Test(native_fusion, makes_gelu_of_its_formula)
{
	for (size_t order = 0; order < 3; order++) {
		cr_expect_eq(expect_passed("Gelu", gelu(order, 1)).n[MSD_PASS_compose],
			     1, "order %zu", order);
		cr_expect_eq(
			expect_passed("no Gelu", gelu(order, 1.5f)).n[MSD_PASS_compose],
			0, "order %zu", order);
	}
}

/* x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^power))) / 2, the operands of sums and
 * products in both orders. */
static modser_graph *gelu_of_tanh(bool is_turned, float power)
{
	const int64_t dims[] = {3, 50};
	modser_graph *g = modser_graph_create("gelu");
	modser_sg_tensor *x = then(g, "Neg", given(g, 2, dims, 75), NULL);
	modser_sg_tensor *cube = then(g, "Pow", x, number(g, power));
	modser_sg_tensor *y;

	if (is_turned) {
		y = then(g, "Add", then(g, "Mul", number(g, 0.044715f), cube), x);
		y = then(g, "Mul", number(g, 0.797884583f), y);
		y = then(g, "Add", number(g, 1), then(g, "Tanh", y, NULL));
		y = then(g, "Mul", number(g, 0.5f), then(g, "Mul", y, x));
	} else {
		y = then(g, "Add", x, then(g, "Mul", cube, number(g, 0.044715f)));
		y = then(g, "Mul", y, number(g, 0.797884583f));
		y = then(g, "Add", then(g, "Tanh", y, NULL), number(g, 1));
		y = then(g, "Mul", then(g, "Mul", x, number(g, 0.5f)), y);
	}
	(void)modser_graph_add_output(g, y);
	return g;
}

Test(native_fusion, makes_gelu_of_its_approximation)
{
	for (int i = 0; i < 2; i++) {
		modser_graph *g = gelu_of_tanh(i != 0, 3);

		cr_expect_eq(expect_passed("Gelu", g).n[MSD_PASS_compose], 1, "%d", i);
		g = gelu_of_tanh(i != 0, 2);
		cr_expect_eq(expect_passed("no Gelu", g).n[MSD_PASS_compose], 0, "%d",
			     i);
	}
}

static modser_sg_tensor *mean(modser_graph *g, modser_sg_tensor *x, int64_t axis)
{
	modser_sg_tensor *y = then(g, "Reduction", x, NULL);

	set_int(y->producer, "type", MSD_REDUCE_MEAN);
	set_list(y->producer, "axes", 1, &axis);
	return y;
}

static modser_graph *layer_norm(int64_t axis, int64_t n_scale)
{
	const int64_t dims[] = {3, 50};
	modser_graph *g = modser_graph_create("norm");
	modser_sg_tensor *x = then(g, "Neg", given(g, 2, dims, 72), NULL);
	modser_sg_tensor *d = then(g, "Sub", x, mean(g, x, axis));
	modser_sg_tensor *v = mean(g, then(g, "Pow", d, number(g, 2)), axis);
	modser_sg_tensor *root =
		then(g, "Sqrt", then(g, "Add", v, number(g, 1e-3f)), NULL);
	modser_sg_tensor *y =
		then(g, "Mul", then(g, "Div", d, root), given(g, 1, &n_scale, 73));

	(void)modser_graph_add_output(g, then(g, "Add", given(g, 1, dims + 1, 74), y));
	return g;
}

Test(native_fusion, makes_layer_norm_of_its_formula)
{
	cr_expect_eq(expect_passed("norm", layer_norm(-1, 50)).n[MSD_PASS_compose], 1);
	cr_expect_eq(expect_passed("norm", layer_norm(1, 50)).n[MSD_PASS_compose], 1);
	cr_expect_eq(expect_passed("rows", layer_norm(0, 50)).n[MSD_PASS_compose], 0);
	cr_expect_eq(expect_passed("scalar", layer_norm(1, 1)).n[MSD_PASS_compose], 0);
}

/* A convolution and a ReLu, where a call brings the number of images. */
static modser_graph *open_net(void)
{
	const int64_t dims[] = {-1, 8, 5, 7};
	const int64_t weights[] = {6, 8, 3, 3};
	modser_graph *g = modser_graph_create("open");
	modser_sg_tensor *x = modser_sg_tensor_create(g, "x");

	(void)modser_sg_tensor_set_type(x, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dims(x, dims, 4);
	(void)net_node(g, "x", "InputOp", x);
	(void)modser_graph_add_input(g, x);
	modser_sg_tensor *y = then(g, "Convolution", x, given(g, 4, weights, 51));
	modser_sg_node *conv = modser_graph_node(g, modser_graph_node_count(g) - 1);
	set_int(conv, "kernel_h", 3);
	set_int(conv, "kernel_w", 3);
	(void)modser_graph_add_output(g, then(g, "ReLu", y, NULL));
	return g;
}

Test(native_fusion, where_an_extent_is_open)
{
	const struct msd_pass_host host = {NULL, msd_engine_may_make};
	modser_graph *g = open_net();
	float *in = levels_numbers(3 * 8 * 5 * 7, 52);
	const void *inputs[] = {in};
	struct msd_passed passed;
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	cr_assert_eq(msd_passes_run(g, host, &passed), 0);
	cr_expect_eq(passed.n[MSD_PASS_fuse], 1);
	cr_assert_eq(msd_plan_create(g, &plan, &d), MSD_OK, "%s", msd_diag_text(&d));
	for (int64_t images = 1; images <= 3; images++) {
		const size_t n = (size_t)images * 6 * 3 * 5;
		size_t n_positive = 0;

		modser_graph_input(g, 0)->dims[0] = images;
		cr_assert_eq(msd_plan_run(plan, inputs, &d), MSD_OK);
		for (size_t i = 0; i < n; i++)
			n_positive += ((const float *)msd_plan_output(plan, 0))[i] > 0;
		cr_expect(n_positive > n / 4 && n_positive < n);
	}
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
	free(in);
	msd_pool_stop();
}

/* No other engine computes what the pass made. */
Test(native_fusion, without_memory_for_weights_says_so)
{
	const struct msd_pass_host host = {NULL, msd_engine_may_make};
	modser_graph *g = product(10, false, "ReLu");
	struct msd_passed passed;
	bool is_short = true;

	cr_assert_eq(msd_passes_run(g, host, &passed), 0);
	cr_assert_eq(passed.n[MSD_PASS_fuse], 3);
	for (long k = 0; is_short; k++) {
		struct msd_plan *plan = NULL;

		msd_fail_alloc(k);
		const msd_err err = msd_plan_create(g, &plan, NULL);
		is_short = msd_fail_alloc_stop();
		cr_expect(err == MSD_OK || (is_short && err == MSD_NOMEM),
			  "allocation %ld: %d", k, (int)err);
		msd_plan_destroy(plan);
	}
	modser_graph_destroy(g);
	msd_pool_stop();
}

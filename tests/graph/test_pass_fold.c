/* What follows from constants alone is computed once. */
#include <stdlib.h>

#include "tests/graph/constant.h"
#include "tests/graph/passing.h"

static const int64_t four[] = {4};
static const float numbers[] = {1.5f, -2, 0.25f, 3};

/* y = x * (a + a), and what it is called in the file. */
static modser_graph *make_sum(void)
{
	modser_graph *g = modser_graph_create("sum");
	modser_sg_tensor *a = net_constant(g, "float32", 1, four, numbers);
	modser_sg_tensor *x = input(g, 1, four);

	(void)modser_graph_add_output(
		g, add(g, "Mul", x, add(g, "Add", a, add(g, "Neg", a, NULL))));
	return g;
}

Test(pass_fold, what_follows_from_constants_is_computed_once)
{
	modser_graph *g = expect_same_bits(make_sum);

	cr_expect_eq(modser_graph_node_count(g), 3); /* x, a constant, the product */
	cr_expect_eq(count(g, "Mul"), 1);
	modser_graph_destroy(g);
}

/* y = x reshaped to its own shape, which nodes compute. */
static modser_graph *make_shape(void)
{
	static const int64_t dims[] = {2, 3}, one[] = {1};
	static const int64_t first = 0, all_left = -1;
	modser_graph *g = modser_graph_create("shape");
	modser_sg_tensor *x = input(g, 2, dims);
	modser_sg_tensor *all = add(g, "Shape", x, NULL);
	modser_sg_tensor *rows =
		add(g, "Gather", all, net_constant(g, "int64", 1, one, &first));
	modser_sg_tensor *rest = net_constant(g, "int64", 1, one, &all_left);
	modser_sg_tensor *shape = add(g, "Concat", rows, rest);

	(void)modser_sg_op_set_int(modser_sg_node_op(shape->producer), "axis", 0);
	(void)modser_graph_add_output(g,
				      add(g, "Neg", add(g, "Reshape", x, shape), NULL));
	return g;
}

Test(pass_fold, a_shape_that_every_run_has_is_known_before)
{
	modser_graph *plain = make_shape();
	modser_graph *g = make_shape();
	struct msd_plan *plan;

	cr_assert_eq(msd_plan_create(plain, &plan, NULL), MSD_OK);
	cr_expect_eq(msd_plan_arena_bytes(plan), 0);
	msd_plan_destroy(plan);
	(void)pass(g);
	cr_expect_eq(modser_graph_node_count(g), 2); /* x and Neg */
	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	cr_expect_gt(msd_plan_arena_bytes(plan), 0);
	msd_plan_destroy(plan);
	modser_graph_destroy(plain);
	modser_graph_destroy(g);
}

Test(pass_fold, a_shape_that_a_call_brings_is_left)
{
	static const int64_t open[] = {2, -1};
	modser_graph *g = modser_graph_create("open");

	(void)modser_graph_add_output(g, add(g, "Shape", input(g, 2, open), NULL));
	cr_expect_eq(pass(g).n[MSD_PASS_fold], 0);
	modser_graph_destroy(g);
}

Test(pass_fold, large_constants_stay_in_their_file)
{
	static const int64_t dims[] = {1 << 18}, shape[] = {1, -1}, two[] = {2};
	float *large = calloc(1 << 18, sizeof(*large));
	modser_graph *g = modser_graph_create("large");
	modser_sg_tensor *c = net_constant(g, "float32", 1, dims, large);

	(void)modser_graph_add_output(g, add(g, "Neg", c, NULL));
	(void)modser_graph_add_output(
		g, add(g, "Reshape", c, net_constant(g, "int64", 1, two, shape)));
	const struct msd_passed passed = pass(g);
	cr_expect_eq(passed.n[MSD_PASS_fold], 1);
	cr_expect_eq(count(g, "Neg"), 1);
	/* Another shape needs no other bytes. */
	cr_expect_eq(modser_graph_output(g, 1)->data, large);
	modser_graph_destroy(g);
	free(large);
}

Test(pass_fold, large_weights_are_dequantized_once)
{
	static const int64_t dims[] = {1 << 19};
	static const float scale = 0.5f;
	int8_t *large = calloc(1 << 19, sizeof(*large));
	modser_graph *g = modser_graph_create("weights");
	modser_sg_tensor *c = net_constant(g, "int8", 1, dims, large);

	large[5] = -3;
	(void)modser_graph_add_output(g,
				      add(g, "DequantizeLinear", c,
					  net_constant(g, "float32", 0, NULL, &scale)));
	cr_expect_eq(pass(g).n[MSD_PASS_fold], 1);
	cr_expect_eq(count(g, "DequantizeLinear"), 0);
	cr_expect_eq(((const float *)modser_graph_output(g, 0)->data)[5], -1.5f);
	modser_graph_destroy(g);
	free(large);
}

Test(pass_fold, what_fails_to_fold_fails_in_a_run)
{
	static const int64_t one[] = {1};
	static const int64_t outside = 9;
	modser_graph *g = modser_graph_create("fails");
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	(void)modser_graph_add_output(
		g, add(g, "Gather", net_constant(g, "float32", 1, four, numbers),
		       net_constant(g, "int64", 1, one, &outside)));
	cr_expect_eq(pass(g).n[MSD_PASS_fold], 0);
	cr_assert_eq(msd_plan_create(g, &plan, NULL), MSD_OK);
	cr_assert_eq(msd_plan_run(plan, NULL, &d), MSD_BAD_ARGUMENT);
	cr_expect_str_eq(msd_diag_text(&d), "node 2 \"Gather\": index 9 of 4");
	msd_plan_destroy(plan);
	msd_diag_finish(&d);
	modser_graph_destroy(g);
}

Test(pass_fold, a_failing_allocation_leaves_a_graph_that_goes)
{
	expect_every_failure(make_sum);
	expect_every_failure(make_shape);
	msd_pool_stop();
}

/* Forty nodes that read and make half a MiB each. */
Test(pass_fold, of_one_model_no_more_than_16_mib_are_folded)
{
	static const int64_t dims[] = {1 << 16};
	float *large = calloc(1 << 16, sizeof(*large));
	modser_graph *g = modser_graph_create("many");
	modser_sg_tensor *c = net_constant(g, "float32", 1, dims, large);

	for (int i = 0; i < 40; i++)
		(void)modser_graph_add_output(g, add(g, "Neg", c, NULL));
	cr_expect_eq(pass(g).n[MSD_PASS_fold], 32);
	cr_expect_eq(count(g, "Neg"), 8);
	modser_graph_destroy(g);
	free(large);
	msd_pool_stop();
}

/* Shapes that are said beside the file: what they set, and what contradicts a model. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/graph/net.h"
#include "tests/support/fail_alloc.h"

TestSuite(graph_fix, .timeout = 60);

/* relu(x) of x [n, 3, ?], and a second input z of [n]. */
static modser_graph *open_net(void)
{
	static const int64_t dims[] = {-1, 3, -1};
	modser_graph *g = modser_graph_create("open");
	modser_sg_tensor *x = modser_sg_tensor_create(g, "x");
	modser_sg_tensor *z = modser_sg_tensor_create(g, "z:0");
	modser_sg_tensor *y = modser_sg_tensor_create(g, "y");

	(void)modser_sg_tensor_set_type(x, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_type(z, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dims(x, dims, 3);
	(void)modser_sg_tensor_set_dim_name(x, 0, "n");
	(void)modser_sg_tensor_set_dims(z, dims, 1);
	(void)modser_sg_tensor_set_dim_name(z, 0, "n");
	(void)net_node(g, "x", "InputOp", x);
	(void)net_node(g, "z", "InputOp", z);
	modser_sg_node *relu = net_node(g, "relu", "ReLu", y);
	(void)modser_sg_node_add_input(relu, x);
	(void)modser_graph_add_input(g, x);
	(void)modser_graph_add_input(g, z);
	(void)modser_graph_add_output(g, y);
	return g;
}

static void expect_refused(const char *words, const char *why)
{
	modser_graph *g = open_net();

	cr_assert_eq(modser_graph_fix_inputs(g, words), -1, "%s", words);
	cr_assert_not_null(strstr(modser_graph_error(g), why), "%s",
			   modser_graph_error(g));
	modser_graph_destroy(g);
}

Test(graph_fix, open_extents_become_numbers_and_shapes_follow)
{
	modser_graph *g = open_net();

	cr_assert_eq(modser_graph_fix_inputs(g, "x=float32[2,3,5]"), 0, "%s",
		     modser_graph_error(g));
	const modser_sg_tensor *y = modser_graph_output(g, 0);
	cr_assert_eq(modser_sg_tensor_ndim(y), 3);
	cr_assert_eq(modser_sg_tensor_dims(y)[0], 2);
	cr_assert_eq(modser_sg_tensor_dims(y)[2], 5);
	modser_graph_destroy(g);
}

Test(graph_fix, one_name_is_one_number)
{
	modser_graph *g = open_net();

	cr_assert_eq(modser_graph_fix_inputs(g, "x=float32[2,3,?]"), 0);
	cr_assert_eq(modser_sg_tensor_dims(modser_graph_input(g, 1))[0], 2);
	cr_assert_str_eq(modser_sg_tensor_dim_name(modser_graph_input(g, 1), 0), "");
	cr_assert_eq(modser_sg_tensor_dims(modser_graph_input(g, 0))[2], -1);
	modser_graph_destroy(g);
}

Test(graph_fix, an_extent_that_stays_open_keeps_its_name)
{
	modser_graph *g = open_net();

	cr_assert_eq(modser_graph_fix_inputs(g, "x=float32[?,3,5]"), 0);
	cr_assert_str_eq(modser_sg_tensor_dim_name(modser_graph_input(g, 0), 0), "n");
	modser_graph_destroy(g);
}

Test(graph_fix, what_contradicts_the_model_is_named)
{
	expect_refused("w=float32[1]", "no input \"w\"; its inputs are \"x\", \"z:0\"");
	expect_refused("x=int32[2,3,5]", "input \"x\" is float32, but the option input "
					 "gives int32");
	expect_refused("x=float32[2,3]",
		       "input \"x\" has 3 dimensions, but the option");
	expect_refused("x=float32[2,4,5]",
		       "extent 1 is 3, but the option input gives 4");
	expect_refused(
		"x=float32[2,3,5]:z:0=float32[4]",
		"input \"z:0\": extent 0 is 2 (n), but the option input gives 4");
	expect_refused("x=float32", "expected NAME=DTYPE[EXTENTS]");
}

Test(graph_fix, an_input_whose_rank_is_open_gets_one)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = modser_sg_tensor_create(g, "x");

	(void)modser_sg_tensor_set_type(x, MODSER_TENSOR_INPUT);
	(void)net_node(g, "x", "InputOp", x);
	(void)modser_graph_add_input(g, x);
	cr_assert_eq(modser_graph_fix_inputs(g, "x=float32[2,3]"), 0);
	cr_assert_eq(modser_sg_tensor_ndim(x), 2);
	modser_graph_destroy(g);
}

Test(graph_fix, every_failing_allocation_is_reported)
{
	bool failed = true;
	long k = 0;

	for (; failed; k++) {
		modser_graph *g = open_net();

		msd_fail_alloc(k);
		const int good = modser_graph_fix_inputs(g, "x=float32[2,3,5]");
		failed = msd_fail_alloc_stop();
		cr_assert_eq(good, failed ? -1 : 0, "allocation %ld", k);
		if (failed)
			cr_assert_str_eq(modser_graph_error_name(g), "NO_MEMORY");
		modser_graph_destroy(g);
	}
	cr_expect_gt(k, 2);
}

Test(graph_fix, a_refusal_without_memory_for_its_text_is_one_all_the_same)
{
	bool failed = true;

	for (long k = 0; failed; k++) {
		modser_graph *g = open_net();

		msd_fail_alloc(k);
		const int good = modser_graph_fix_inputs(g, "q=float32[2]");
		failed = msd_fail_alloc_stop();
		cr_assert_eq(good, -1);
		modser_graph_destroy(g);
	}
}

/* Layouts of engines: outputs are the reference engine's, and a run converts no tensor
 * more often than it must. */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/blocks_engine.h"

#define RUNS 4 /* of blocks_compare() */

static void expect_sums(int n_from_rows, int n_to_rows)
{
	cr_expect_eq(blocks.n_from_rows, n_from_rows, "%d", blocks.n_from_rows);
	cr_expect_eq(blocks.n_to_rows, n_to_rows, "%d", blocks.n_to_rows);
}

/* Ends a test: @n conversions in each run. */
static void expect_changes(modser_graph *g, int n_from_rows, int n_to_rows)
{
	blocks_compare(g);
	expect_sums(RUNS * n_from_rows, RUNS * n_to_rows);
	modser_graph_destroy(g);
	msd_pool_stop();
}

static modser_graph *begin(modser_sg_tensor **ret_x, int64_t channels)
{
	modser_graph *g = modser_graph_create("g");

	blocks_register();
	*ret_x = blocks_input(g, "x", channels, 5, 4);
	return g;
}

Test(layouts, a_chain_is_converted_at_its_ends)
{
	modser_sg_tensor *x;
	modser_graph *g = begin(&x, 16);

	x = blocks_conv(g, "a", x, 16, 8, 3);
	x = blocks_node(g, "b", "ReLu", x, NULL);
	x = blocks_conv(g, "c", x, 8, 24, 1);
	(void)modser_graph_add_output(g, x);
	expect_changes(g, 1, 1);
}

Test(layouts, two_readers_share_a_conversion)
{
	modser_sg_tensor *x;
	modser_graph *g = begin(&x, 8);
	modser_sg_tensor *a = blocks_conv(g, "a", x, 8, 8, 3);
	modser_sg_tensor *skip = blocks_conv(g, "skip", x, 8, 8, 1);

	a = blocks_conv(g, "b", blocks_node(g, "r", "ReLu", a, NULL), 8, 8, 3);
	(void)modser_graph_add_output(g, blocks_node(g, "y", "Add", a, skip));
	expect_changes(g, 1, 1);
}

/* Add finds the blocks that the convolution reads. */
Test(layouts, a_skip_connection_is_converted_once)
{
	modser_sg_tensor *x;
	modser_graph *g = begin(&x, 8);
	modser_sg_tensor *a = blocks_conv(g, "a", x, 8, 8, 3);

	a = blocks_node(g, "b", "Add", a, x);
	a = blocks_mean(g, "mean", blocks_node(g, "r", "ReLu", a, NULL));
	(void)modser_graph_add_output(g, a);
	expect_changes(g, 1, 0);
}

/* A run that has only elementwise nodes stays with rows. */
Test(layouts, nothing_is_converted_without_a_reason)
{
	modser_sg_tensor *x;
	modser_graph *g = begin(&x, 8);
	modser_sg_tensor *a = blocks_node(g, "a", "ReLu", x, NULL);

	(void)modser_graph_add_output(g, blocks_node(g, "b", "Add", a, x));
	expect_changes(g, 0, 0);
	cr_expect_eq(blocks.n_asked, 2);
}

Test(layouts, channels_need_not_fill_their_blocks)
{
	static const int64_t channels[] = {1, 5, 7, 9, 17};

	blocks_register();
	for (size_t i = 0; i < 5; i++) {
		modser_graph *g = modser_graph_create("g");
		modser_sg_tensor *x = blocks_input(g, "x", channels[i], 3, 2);

		x = blocks_conv(g, "a", x, channels[i], channels[4 - i], 3);
		x = blocks_node(g, "r", "ReLu", x, NULL);
		x = blocks_conv(g, "b", x, channels[4 - i], 3, 1);
		(void)modser_graph_add_output(g, x);
		blocks_compare(g);
		modser_graph_destroy(g);
	}
	expect_sums(5 * RUNS, 5 * RUNS);
}

Test(layouts, another_engine_reads_and_writes_rows)
{
	modser_sg_tensor *x;
	modser_graph *g = begin(&x, 8);
	modser_sg_tensor *a = blocks_conv(g, "a", x, 8, 8, 3);
	modser_sg_tensor *b = blocks_node(g, "other1", "ReLu", a, NULL);
	modser_sg_tensor *c = blocks_node(g, "other2", "Absval", a, NULL);

	b = blocks_node(g, "other3", "Add", b, c);
	(void)modser_graph_add_output(g, blocks_conv(g, "d", b, 8, 8, 1));
	expect_changes(g, 2, 2); /* x and b; a for both readers, and the output */
}

/* The output is converted to the caller's memory, and read in blocks. */
Test(layouts, an_output_in_the_middle_is_rows)
{
	modser_sg_tensor *x;
	modser_graph *g = begin(&x, 8);
	modser_sg_tensor *a = blocks_conv(g, "a", x, 8, 8, 3);
	modser_sg_tensor *b = blocks_node(g, "b", "ReLu", a, NULL);

	(void)modser_graph_add_output(g, a);
	(void)modser_graph_add_output(g, blocks_conv(g, "c", b, 8, 8, 1));
	(void)modser_graph_add_output(g, b);
	(void)modser_graph_add_output(g, a);
	expect_changes(g, 1, 3);
}

/* The rows of an output that others read are not in the caller's memory. */
Test(layouts, an_output_that_another_engine_reads_is_copied)
{
	modser_sg_tensor *x;
	modser_graph *g = begin(&x, 8);
	modser_sg_tensor *a = blocks_conv(g, "a", x, 8, 8, 3);

	(void)modser_graph_add_output(g, a);
	(void)modser_graph_add_output(g, blocks_node(g, "other", "ReLu", a, NULL));
	(void)modser_graph_add_output(g, blocks_conv(g, "c", a, 8, 8, 1));
	expect_changes(g, 1, 2);
}

Test(layouts, rows_that_are_an_output_are_also_converted)
{
	modser_sg_tensor *x;
	modser_graph *g = begin(&x, 8);
	modser_sg_tensor *a = blocks_node(g, "other", "ReLu", x, NULL);

	(void)modser_graph_add_output(g, a);
	(void)modser_graph_add_output(g, blocks_conv(g, "c", a, 8, 8, 1));
	(void)modser_graph_add_output(g, x);
	expect_changes(g, 1, 1);
}

Test(layouts, a_constant_is_converted_with_the_entry)
{
	modser_sg_tensor *x;
	modser_graph *g = begin(&x, 8);
	modser_sg_tensor *k = blocks_constant(g, "k", 1, 8, 5, 4);
	modser_sg_tensor *a = blocks_conv(g, "a", x, 8, 8, 3);

	a = blocks_node(g, "b", "Add", a, k);
	(void)modser_graph_add_output(g, blocks_node(g, "c", "Add", a, k));
	blocks_compare(g);
	expect_sums(RUNS + 1, RUNS);
	modser_graph_destroy(g);
	msd_pool_stop();
}

enum { SETS = 10 };

/* Run twice with each of SETS sets of extents: the outputs, one behind the other. */
static size_t run_all(modser_graph *g, modser_sg_tensor *x, float *ret)
{
	size_t n = 0;

	(void)modser_sg_tensor_set_dims(x, (const int64_t[]){1, 8, -1, -1}, 4);
	struct msd_plan *plan = blocks_plan(g);
	for (int i = 0; i < 2 * SETS; i++) {
		const int64_t dims[] = {1, 8, i % SETS + 1, (i + 3) % SETS + 1};

		(void)modser_sg_tensor_set_dims(x, dims, 4);
		n += blocks_run(plan, g, i % 3 == 0, ret + n);
	}
	msd_plan_destroy(plan);
	return n;
}

/* More sets of shapes than are kept: each has layouts of its own. */
Test(layouts, open_extents_have_an_entry_each)
{
	static float want[BLOCKS_MOST], got[BLOCKS_MOST];
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = blocks_input(g, "x", 8, -1, -1);

	blocks_register();
	modser_sg_tensor *a = blocks_conv(g, "a", x, 8, 8, 3);
	a = blocks_node(g, "b", "Add", a, x);
	(void)modser_graph_add_output(g, blocks_node(g, "other", "ReLu", a, NULL));
	blocks.is_off = true;
	const size_t n = run_all(g, x, want);
	blocks.is_off = false;
	cr_assert_eq(run_all(g, x, got), n);
	cr_expect_arr_eq(got, want, n * sizeof(float));
	expect_sums(2 * SETS, 2 * SETS);
	cr_expect_eq(blocks.n_asked, 2 * 2 * SETS, "two nodes of each entry");
	modser_graph_destroy(g);
	msd_pool_stop();
}

/* The mean has the extents of the constant, whatever those of the input are. */
Test(layouts, entries_share_a_constant)
{
	static float want[BLOCKS_MOST], got[BLOCKS_MOST];
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = blocks_input(g, "x", 8, -1, -1);
	modser_sg_tensor *k = blocks_constant(g, "k", 1, 8, 1, 1);

	blocks_register();
	modser_sg_tensor *a = blocks_conv(g, "a", x, 8, 8, 3);
	modser_sg_tensor *mean = blocks_mean(g, "other", a);
	modser_sg_tensor *whole = blocks_node(g, "other_too", "Floor", mean, NULL);
	modser_sg_tensor *b = blocks_conv(g, "b", whole, 8, 8, 1);
	(void)modser_graph_add_output(g, blocks_node(g, "c", "Add", b, k));
	blocks.is_off = true;
	const size_t n = run_all(g, x, want);
	blocks.is_off = false;
	cr_assert_eq(run_all(g, x, got), n);
	cr_expect_arr_eq(got, want, n * sizeof(float));
	expect_sums(2 * 2 * SETS + 1, 2 * 2 * SETS);
	modser_graph_destroy(g);
	msd_pool_stop();
}

/* A computed shape: tensors are rows, and no engine is asked for layouts. */
Test(layouts, shapes_that_depend_on_values_have_rows)
{
	modser_sg_tensor *x;
	modser_graph *g = begin(&x, 8);
	modser_sg_tensor *a = blocks_conv(g, "a", x, 8, 8, 3);
	modser_sg_tensor *places = blocks_node(g, "other", "NonZero", a, NULL);

	(void)modser_graph_add_output(g, blocks_node(g, "b", "ReLu", a, NULL));
	(void)modser_graph_add_output(g, blocks_node(g, "c", "Shape", places, NULL));
	static float want[BLOCKS_MOST], got[BLOCKS_MOST];
	blocks.is_off = true;
	struct msd_plan *plan = blocks_plan(g);
	(void)blocks_run(plan, g, false, want);
	msd_plan_destroy(plan);
	blocks.is_off = false;
	plan = blocks_plan(g);
	const size_t n = blocks_run(plan, g, false, got);
	cr_expect_eq(n, 8 * 5 * 4 + 2);
	cr_expect_arr_eq(got, want, 8 * 5 * 4 * sizeof(float));
	expect_sums(0, 0);
	cr_expect_eq(blocks.n_asked, 0);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
	msd_pool_stop();
}

/* Layouts of engines: outputs are the reference engine's, and a run converts no tensor
 * more often than it must. */
#include <criterion/criterion.h>

#include "runtime/engine/engine.h"
#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/blocks_engine.h"

#define RUNS 4 /* of blocks_compare() */

static void expect(int n_from_rows, int n_to_rows)
{
	cr_expect_eq(blocks.n_from_rows, n_from_rows, "%d", blocks.n_from_rows);
	cr_expect_eq(blocks.n_to_rows, n_to_rows, "%d", blocks.n_to_rows);
}

/* Ends a test: @n conversions in each run. */
static void finish(modser_graph *g, int n_from_rows, int n_to_rows)
{
	blocks_compare(g);
	expect(RUNS * n_from_rows, RUNS * n_to_rows);
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
	finish(g, 1, 1);
}

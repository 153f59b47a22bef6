/* Layouts with mistakes, engines of the header before, and failing allocations. */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/engine/engine.h"
#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/blocks_engine.h"
#include "tests/support/fail_alloc.h"

/* y = add(relu(conv(x)), k), where k is converted with the entry. */
static modser_graph *network(void)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = blocks_input(g, "x", 8, 2, 3);
	modser_sg_tensor *k = blocks_constant(g, "k", 1, 8, 2, 3);

	x = blocks_node(g, "relu", "ReLu", blocks_conv(g, "conv", x, 8, 8, 1), NULL);
	(void)modser_graph_add_output(g, blocks_node(g, "y", "Add", x, k));
	return g;
}

static void expect_refusal(modser_graph *g, msd_err code, const char *text)
{
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	cr_expect_eq(msd_plan_create(g, &plan, &d), code);
	cr_expect_str_eq(msd_diag_text(&d), text);
	cr_expect_null(plan);
	msd_diag_finish(&d);
}

static void finish(modser_graph *g)
{
	modser_graph_destroy(g);
	msd_pool_stop();
}

Test(layouts_refused, a_tensor_that_does_not_fit_stays_in_rows)
{
	modser_graph *g = network();

	blocks_register();
	blocks.is_lying = true;
	blocks_compare(g);
	cr_expect_eq(blocks.n_from_rows, 0);
	cr_expect_eq(blocks.n_to_rows, 0);
	finish(g);
}

Test(layouts_refused, a_size_beyond_all_memory)
{
	modser_graph *g = network();

	blocks_register();
	blocks.is_lying = true;
	blocks.bytes = SIZE_MAX;
	expect_refusal(g, MSD_TOO_LARGE,
		       "node 3 \"conv\": engine blocks: layout NCHW8c of \"x\" takes "
		       "18446744073709551615 bytes");
	blocks.bytes = SIZE_MAX / 4 + 1;
	expect_refusal(g, MSD_TOO_LARGE,
		       "node 3 \"conv\": engine blocks: layout NCHW8c of \"x\" takes "
		       "4611686018427387904 bytes");
	finish(g);
}

Test(layouts_refused, a_layout_that_lacks_a_function)
{
	modser_graph *g = network();

	blocks_register();
	blocks.layout.to_rows = NULL;
	expect_refusal(
		g, MSD_BAD_ARTIFACT,
		"node 3 \"conv\": engine blocks: modserd_layout.to_rows is NULL");
	blocks.layout.size--;
	expect_refusal(g, MSD_BAD_ARTIFACT,
		       "node 3 \"conv\": engine blocks: modserd_layout.size is 39, "
		       "expected 40: set it to sizeof(modserd_layout)");
	finish(g);
}

Test(layouts_refused, a_constant_that_cannot_be_converted)
{
	modser_graph *g = network();

	blocks_register();
	blocks.is_broken = true;
	expect_refusal(g, MSD_BAD_ARTIFACT,
		       "node 5 \"y\": engine blocks: layout NCHW8c of \"k\": it is "
		       "broken");
	finish(g);
}

/* The call fails, and the next one may do better. */
Test(layouts_refused, a_conversion_that_fails)
{
	static float out[BLOCKS_MOST];
	static const float x[48] = {1};
	const void *const in[] = {x};
	modser_graph *g = network();
	struct msd_diag d = {0};

	blocks_register();
	struct msd_plan *plan = blocks_plan(g);
	blocks.is_broken = true;
	cr_expect_eq(msd_plan_run(plan, in, &d), MSD_CALL_FAILED);
	cr_expect_str_eq(msd_diag_text(&d),
			 "node 3 \"conv\": engine blocks: layout NCHW8c of \"x\": it "
			 "is broken");
	msd_diag_finish(&d);
	blocks.is_broken = false;
	cr_expect_eq(blocks_run(plan, g, true, out), 48);
	msd_plan_destroy(plan);
	finish(g);
}

/* The struct of the header before ends at lay_out. */
Test(layouts_refused, an_engine_of_the_header_before_has_rows)
{
	modser_graph *g = network();

	blocks_init();
	blocks.engine.size = MODSERD_ENGINE_LEAST;
	cr_assert_eq(msd_engine_register(&blocks.engine), 0);
	blocks_compare(g);
	cr_expect_eq(blocks.n_asked, 0);
	cr_expect_eq(blocks.n_from_rows, 0);
	finish(g);
}

Test(layouts_refused, a_size_of_no_header)
{
	blocks_init();
	blocks.engine.size = MODSERD_ENGINE_LEAST - sizeof(void *);
	cr_expect_eq(msd_engine_register(&blocks.engine), -1);
	blocks.engine.size = MODSERD_ENGINE_LEAST + 1;
	cr_expect_eq(msd_engine_register(&blocks.engine), -1);
	blocks.engine.size = sizeof(modserd_engine) + sizeof(void *);
	cr_expect_eq(msd_engine_register(&blocks.engine), -1);
	cr_expect_str_eq(modser_registration_error(),
			 "modserd_engine.size is 96, expected 88: set it to "
			 "sizeof(modserd_engine)");
}

static void expect_every_failure(modser_graph *g)
{
	static float want[BLOCKS_MOST], got[BLOCKS_MOST];
	struct msd_plan *plan = blocks_plan(g);
	const size_t n = blocks_run(plan, g, false, want);
	bool failed = true;
	long k = 0;

	msd_plan_destroy(plan);
	for (; failed; k++) {
		plan = NULL;
		msd_fail_alloc(k);
		const msd_err err = msd_plan_create(g, &plan, NULL);
		failed = msd_fail_alloc_stop();
		cr_assert_eq(err, failed ? MSD_NOMEM : MSD_OK, "allocation %ld", k);
		if (err != MSD_OK)
			continue;
		cr_expect_eq(blocks_run(plan, g, false, got), n);
		cr_expect_arr_eq(got, want, n * sizeof(float));
		msd_plan_destroy(plan);
	}
	cr_expect_gt(k, 20);
}

Test(layouts_refused, every_failing_allocation_is_reported)
{
	modser_graph *g = network();

	blocks_register();
	expect_every_failure(g);
	finish(g);
}

/* In a call with new extents: the plan stays, and the next call is fine. */
Test(layouts_refused, every_failing_allocation_of_a_call_is_reported)
{
	static float want[BLOCKS_MOST], got[BLOCKS_MOST];
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = blocks_input(g, "x", 8, -1, -1);
	const int64_t dims[] = {1, 8, 2, 3};
	const void *const in[] = {want};
	struct msd_plan *plan;
	bool failed = true;

	(void)modser_graph_add_output(g, blocks_conv(g, "conv", x, 8, 8, 1));
	blocks_register();
	for (long k = 0; failed; k++) {
		(void)modser_sg_tensor_set_dims(x, (const int64_t[]){1, 8, -1, -1}, 4);
		plan = blocks_plan(g);
		(void)modser_sg_tensor_set_dims(x, dims, 4);
		msd_fail_alloc(k);
		const msd_err err = msd_plan_run(plan, in, NULL);
		failed = msd_fail_alloc_stop();
		cr_assert(err == MSD_OK || (failed && err == MSD_NOMEM));
		cr_expect_eq(blocks_run(plan, g, false, got), 48);
		msd_plan_destroy(plan);
	}
	finish(g);
}

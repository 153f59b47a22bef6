/* Engines that run several nodes as one: which nodes they get, when the plan asks, and
 * that the results stay those of the reference engine. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/engine.h"
#include "runtime/plan/clock.h"
#include "runtime/plan/timed.h"
#include "runtime/pool/pool.h"
#include "tests/graph/joiner_engine.h"
#include "tests/support/fail_alloc.h"

/* Run @g by the reference engine, then with the engine that joins. */
static void expect_equal(modser_graph *g, int n_groups)
{
	float want[4 * JOINER_FLOATS];
	float is[4 * JOINER_FLOATS];

	cr_assert_eq(setenv("MODSERD_ENGINE", "reference", 1), 0);
	const size_t n = joiner_answer(g, 5, want);
	joiner_register();
	cr_assert_eq(joiner_answer(g, 5, is), n);
	for (size_t i = 0; i < n; i++)
		cr_assert_lt(fabsf(is[i] - want[i]), 1e-6f * (1 + fabsf(want[i])));
	cr_expect_eq(seen.n_joined, n_groups);
	cr_expect_eq(seen.n_run, n_groups);
	cr_expect_eq(seen.n_left, n_groups);
	modser_graph_destroy(g);
	msd_pool_stop();
}

Test(group, a_block_of_one_engine_runs_as_one)
{
	expect_equal(joiner_block(5), 1);
	cr_expect_eq(seen.n_nodes, 5);
	cr_expect_eq(seen.n_in, 1); /* x, which two nodes read */
	cr_expect_eq(seen.n_out, 1);
}

/* A node of another engine reads the first half, and the second half reads it. */
Test(group, a_node_outside_between_two_makes_two_groups)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = joiner_input(g, 5);
	modser_sg_tensor *a =
		joiner_node(g, "ReLu", "relu1", joiner_conv(g, "conv1", x), NULL);
	modser_sg_tensor *b = joiner_conv(g, "conv2", a);
	modser_sg_tensor *f = joiner_node(g, "Floor", "floor", a, NULL);

	b = joiner_node(g, "ReLu", "relu2", joiner_node(g, "Add", "add", b, f), NULL);
	(void)modser_graph_add_output(g, b);
	expect_equal(g, 2);
	cr_expect_eq(seen.n_in, 2);
	cr_expect_eq(seen.n_nodes, 2);
}

Test(group, an_output_of_the_graph_within_a_group_is_an_output)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *a = joiner_conv(g, "conv1", joiner_input(g, 5));

	(void)modser_graph_add_output(g, joiner_node(g, "ReLu", "relu1", a, NULL));
	(void)modser_graph_add_output(g, a);
	expect_equal(g, 1);
	cr_expect_eq(seen.n_out, 2);
}

Test(group, a_tensor_read_inside_and_outside_is_an_output)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *a = joiner_conv(g, "conv1", joiner_input(g, 5));

	(void)modser_graph_add_output(g, joiner_node(g, "ReLu", "relu1", a, NULL));
	(void)modser_graph_add_output(g, joiner_node(g, "Floor", "floor", a, NULL));
	expect_equal(g, 1);
	cr_expect_eq(seen.n_out, 2);
}

Test(group, one_node_is_no_group)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *a = joiner_node(
		g, "Floor", "floor", joiner_conv(g, "c", joiner_input(g, 5)), NULL);

	(void)modser_graph_add_output(g, joiner_node(g, "ReLu", "relu", a, NULL));
	expect_equal(g, 0);
	cr_expect_eq(seen.n_asked, 0);
}

Test(group, an_engine_that_declines_runs_the_nodes_one_by_one)
{
	modser_graph *g = joiner_block(5);
	float want[4 * JOINER_FLOATS];
	float is[4 * JOINER_FLOATS];

	joiner_register();
	(void)joiner_answer(g, 5, want);
	seen = (struct joiner_seen){.says = 0};
	(void)joiner_answer(g, 5, is);
	cr_expect_eq(memcmp(is, want, JOINER_FLOATS * sizeof(*is)), 0);
	cr_expect_eq(seen.n_asked, 1);
	cr_expect_eq(seen.n_run + seen.n_left, 0);
	modser_graph_destroy(g);
}

Test(group, an_engine_that_fails_to_join_fails_the_load)
{
	modser_graph *g = joiner_block(5);
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	joiner_register();
	seen.says = -1;
	cr_expect_eq(msd_plan_create(g, &plan, &d), MSD_BAD_ARTIFACT);
	cr_expect_str_eq(msd_diag_text(&d),
			 "nodes 2 \"conv1\" to 9 \"relu2\", run as one: engine joiner: "
			 "not today");
	cr_expect_eq(seen.n_left, 0);
	msd_diag_finish(&d);
	modser_graph_destroy(g);
}

Test(group, a_run_that_fails_names_the_nodes_and_the_next_one_works)
{
	modser_graph *g = joiner_block(5);
	struct msd_diag d = {0};

	joiner_register();
	struct msd_plan *plan = joiner_plan(g);
	seen.fails = true;
	cr_expect_eq(joiner_call(plan, 5, &d), MSD_CALL_FAILED);
	cr_expect_str_eq(msd_diag_text(&d),
			 "nodes 2 \"conv1\" to 9 \"relu2\", run as one: engine joiner: "
			 "the device is gone");
	msd_diag_finish(&d);
	seen.fails = false;
	cr_expect_eq(joiner_call(plan, 5, NULL), MSD_OK);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
}

/* More sets of shapes than a plan keeps. */
Test(group, each_set_of_shapes_has_a_group_that_is_left_once)
{
	modser_graph *g = joiner_block(-1);

	joiner_register();
	struct msd_plan *plan = joiner_plan(g);
	cr_expect_eq(seen.n_asked, 0, "no shape is known");
	for (int64_t round = 0; round < 2; round++) {
		for (int64_t height = 1; height <= 12; height++)
			cr_assert_eq(joiner_call(plan, height, NULL), MSD_OK);
	}
	cr_expect_eq(seen.n_joined, 24, "the shapes of the first round are gone");
	cr_expect_eq(seen.n_left, 16, "8 are kept");
	cr_assert_eq(joiner_call(plan, 12, NULL), MSD_OK);
	cr_expect_eq(seen.n_joined, 24, "those of the last call are not");
	msd_plan_destroy(plan);
	cr_expect_eq(seen.n_left, 24);
	modser_graph_destroy(g);
}

Test(group, a_call_whose_shapes_fail_to_join_leaves_the_plan_usable)
{
	modser_graph *g = joiner_block(-1);
	struct msd_diag d = {0};

	joiner_register();
	struct msd_plan *plan = joiner_plan(g);
	cr_assert_eq(joiner_call(plan, 3, NULL), MSD_OK);
	seen.says = -1;
	for (int64_t height = 4; height < 20; height++) {
		cr_expect_eq(joiner_call(plan, height, &d), MSD_BAD_ARTIFACT);
		msd_diag_finish(&d);
	}
	cr_expect_eq(joiner_call(plan, 3, NULL), MSD_OK, "its shapes are kept");
	msd_plan_destroy(plan);
	cr_expect_eq(seen.n_left, 1);
	modser_graph_destroy(g);
}

Test(group, tensors_within_a_group_take_no_memory_of_the_plan)
{
	modser_graph *g = joiner_block(5);
	const size_t room = (JOINER_FLOATS * sizeof(float) + 63) / 64 * 64;

	joiner_register();
	struct msd_plan *plan = joiner_plan(g);
	cr_expect_eq(msd_plan_arena_bytes(plan), room);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
}

static void *give(void *ctx, size_t i, const modser_sg_tensor *t)
{
	cr_expect_eq(i, 0);
	cr_expect_eq(modser_sg_tensor_ndim(t), 4);
	return ctx;
}

Test(group, the_callers_memory_is_an_output_of_a_group)
{
	static const float x[JOINER_FLOATS] = {1, 2, 3};
	modser_graph *g = joiner_block(5);
	const int64_t dims[] = {1, JOINER_CHANNELS, 5, 4};
	const struct msd_plan_input in = {x, dims, 4, {MSD_DT_FLOAT, 32, 1}};
	float mine[JOINER_FLOATS] = {0};

	joiner_register();
	struct msd_plan *plan = joiner_plan(g);
	const struct msd_plan_args args = {&in, give, mine};
	cr_assert_eq(msd_plan_call(plan, &args, NULL), MSD_OK);
	cr_expect_eq(msd_plan_output(plan, 0), mine);
	const float first = mine[0];
	cr_assert_eq(msd_plan_call(plan, &(struct msd_plan_args){.inputs = &in}, NULL),
		     MSD_OK);
	cr_expect_eq(*(const float *)msd_plan_output(plan, 0), first);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
}

Test(group, its_time_is_that_of_its_first_node)
{
	modser_graph *g = joiner_block(5);

	joiner_register();
	struct msd_plan *plan = joiner_plan(g);
	cr_assert_eq(msd_plan_clock_start(plan, NULL), MSD_OK);
	cr_assert_eq(joiner_call(plan, 5, NULL), MSD_OK);
	struct msd_clock *clock = msd_plan_clock_stop(plan);
	cr_assert_eq(clock->n, 5);
	for (size_t i = 0; i < 5; i++)
		cr_expect_eq(clock->rows[i].runs, i == 0, "row %zu", i);
	free(clock);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
}

Test(group, an_allocation_that_fails_fails_the_load_or_the_call)
{
	modser_graph *g = joiner_block(-1);

	joiner_register();
	for (long k = 0;; k++) {
		struct msd_plan *plan = NULL;
		struct msd_diag d = {0};

		seen = (struct joiner_seen){.says = 1};
		msd_fail_alloc(k);
		msd_err err = msd_plan_create(g, &plan, &d);
		if (err == MSD_OK)
			err = joiner_call(plan, 5, &d);
		const bool has_failed = msd_fail_alloc_stop();
		cr_assert_eq(err == MSD_OK, !has_failed || seen.n_run == 1);
		msd_plan_destroy(plan);
		cr_assert_eq(seen.n_left, seen.n_joined);
		msd_diag_finish(&d);
		if (!has_failed)
			break;
	}
	modser_graph_destroy(g);
}

Test(group, an_engine_of_the_earlier_header_runs_node_by_node)
{
	modser_graph *g = joiner_block(5);
	float y[4 * JOINER_FLOATS];
	unsigned char earlier[sizeof(joiner)] = {0};

	joiner_register();
	watched.size = MODSERD_ENGINE_LEAST;
	watched.name = "earlier";
	memcpy(earlier, &watched, MODSERD_ENGINE_LEAST);
	memset(earlier + MODSERD_ENGINE_LEAST, 0xff,
	       sizeof(earlier) - MODSERD_ENGINE_LEAST); /* not to be read */
	cr_assert_eq(msd_engine_register((const modserd_engine *)(void *)earlier), 0);
	(void)joiner_answer(g, 5, y);
	cr_expect_eq(seen.n_asked, 0);
	modser_graph_destroy(g);
}

Test(group, an_engine_of_another_size_or_without_a_run_is_refused)
{
	modserd_engine bad = joiner;

	bad.run_group = NULL;
	cr_expect_eq(msd_engine_register(&bad), -1);
	cr_expect_str_eq(modser_registration_error(),
			 "modserd_engine.run_group is NULL, but join is not");
	for (uint32_t size = 0; size < sizeof(bad) + 16; size++) {
		const bool is_known = size >= MODSERD_ENGINE_LEAST &&
				      size <= sizeof(bad) && size % 8 == 0;

		if (is_known)
			continue;
		bad.size = size;
		cr_expect_eq(msd_engine_register(&bad), -1, "%u", (unsigned)size);
		cr_expect_not_null(strstr(modser_registration_error(), "set it to"));
	}
}

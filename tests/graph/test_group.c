/* Engines that run several nodes as one: which nodes they get, when the plan asks, and
 * that the results stay those of the reference engine. The engine is that of
 * tests/e2e/plugins/joiner.c, which knows only the public headers. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/engine.h"
#include "runtime/plan/args.h"
#include "runtime/plan/clock.h"
#include "runtime/plan/describe.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/timed.h"
#include "runtime/pool/pool.h"
#include "tests/graph/blocks_engine.h"
#include "tests/graph/constant.h"
#include "tests/support/fail_alloc.h"

#define C 3 /* channels */
#define N ((size_t)C * 5 * 4)

extern const modserd_engine joiner;

/* What the engine was asked, and what it says. */
static struct seen {
	int n_asked, n_joined, n_run, n_left;
	size_t n_nodes, n_in, n_out; /* of the last group */
	int says;                    /* by join() */
	bool fails;                  /* run_group() does */
} seen;

/* Nodes that are called "blocks" are for the engine of blocks_engine.h. */
static int take(const modser_sg_node *node, void **ret_state, char *ret_why,
		size_t why_bytes)
{
	return strcmp(modser_sg_node_name(node), "blocks") != 0 &&
	       joiner.take(node, ret_state, ret_why, why_bytes);
}

static int join(const modserd_group *g, void *const *states, void **ret_state,
		char *ret_why, size_t why_bytes)
{
	seen.n_asked++;
	cr_expect_eq(g->size, sizeof(*g));
	seen.n_nodes = g->n_nodes;
	seen.n_in = g->n_inputs;
	seen.n_out = g->n_outputs;
	if (seen.says != 1) {
		(void)strncpy(ret_why, "not today", why_bytes);
		return seen.says;
	}
	const int said = joiner.join(g, states, ret_state, ret_why, why_bytes);
	seen.n_joined += said == 1;
	return said;
}

static int run_group(void *state, const void *const *in, void *const *out,
		     char *ret_why, size_t why_bytes)
{
	seen.n_run++;
	if (seen.fails)
		(void)strncpy(ret_why, "the device is gone", why_bytes);
	return seen.fails ? -1 : joiner.run_group(state, in, out, ret_why, why_bytes);
}

static void leave_group(void *state)
{
	seen.n_left++;
	joiner.leave_group(state);
}

static modserd_engine watched; /* by the functions above */

static void add_engine(void)
{
	seen = (struct seen){.says = 1};
	watched = joiner;
	watched.take = take;
	watched.join = join;
	watched.run_group = run_group;
	watched.leave_group = leave_group;
	cr_assert_eq(msd_engine_register(&watched), 0);
}

static float value(size_t i)
{
	return (float)((double)(i * 37 % 23) / 11 - 1);
}

static modser_sg_tensor *begin(modser_graph *g, int64_t height)
{
	const int64_t dims[] = {1, C, height, 4};

	return modser_graph_create_input(g, "x", "float32", dims, 4);
}

static modser_sg_tensor *then(modser_graph *g, const char *op, const char *name,
			      modser_sg_tensor *a, modser_sg_tensor *b)
{
	modser_sg_tensor *y = modser_sg_tensor_create(g, name);
	modser_sg_node *node = net_node(g, name, op, y);

	(void)modser_sg_node_add_input(node, a);
	if (b != NULL)
		(void)modser_sg_node_add_input(node, b);
	return y;
}

static modser_sg_tensor *conv(modser_graph *g, const char *name, modser_sg_tensor *x)
{
	static const char *const pads[] = {"pad_h0", "pad_h1", "pad_w0", "pad_w1"};
	static const int64_t w_dims[] = {C, C, 3, 3};
	static const int64_t b_dims[] = {C};
	static float weights[C * C * 9];

	for (size_t i = 0; i < C * C * 9; i++)
		weights[i] = value(i);
	modser_sg_tensor *w = net_constant(g, "float32", 4, w_dims, weights);
	modser_sg_tensor *y = then(g, "Convolution", name, x, w);
	modser_sg_node *node = modser_graph_node(g, modser_graph_node_count(g) - 1);
	(void)modser_sg_node_add_input(node,
				       net_constant(g, "float32", 1, b_dims, weights));
	for (size_t i = 0; i < 4; i++)
		(void)modser_sg_op_set_int(modser_sg_node_op(node), pads[i], 1);
	(void)modser_sg_op_set_int(modser_sg_node_op(node), "kernel_h", 3);
	(void)modser_sg_op_set_int(modser_sg_node_op(node), "kernel_w", 3);
	return y;
}

/* A block of ResNet: conv, relu, conv, + x, relu. */
static modser_graph *block(int64_t height)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = begin(g, height);
	modser_sg_tensor *y = then(g, "ReLu", "relu1", conv(g, "conv1", x), NULL);

	y = then(g, "Add", "add", conv(g, "conv2", y), x);
	(void)modser_graph_add_output(g, then(g, "ReLu", "relu2", y, NULL));
	return g;
}

static msd_err call(struct msd_plan *plan, int64_t height, struct msd_diag *d)
{
	static float x[4 * N];
	const int64_t dims[] = {1, C, height, 4};
	const struct msd_plan_input in = {x, dims, 4, {MSD_DT_FLOAT, 32, 1}};

	for (size_t i = 0; i < 4 * N; i++)
		x[i] = value(i + 5);
	return msd_plan_call(plan, &(struct msd_plan_args){.inputs = &in}, d);
}

static struct msd_plan *plan_of(modser_graph *g)
{
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	cr_assert_eq(msd_plan_create(g, &plan, &d), MSD_OK, "%s", msd_diag_text(&d));
	return plan;
}

/* The outputs of one run, one after the other. */
static size_t answer(modser_graph *g, int64_t height, float ret[static 4 * N])
{
	struct msd_plan *plan = plan_of(g);
	size_t n = 0;

	cr_assert_eq(call(plan, height, NULL), MSD_OK);
	for (size_t i = 0; i < modser_graph_output_count(g); i++) {
		const size_t more = (size_t)(C * height * 4);

		memcpy(ret + n, msd_plan_output(plan, i), more * sizeof(float));
		n += more;
	}
	msd_plan_destroy(plan);
	return n;
}

/* Run @g by the reference engine, then with the engine that joins. */
static void expect_equal(modser_graph *g, int n_groups)
{
	float want[4 * N];
	float is[4 * N];

	cr_assert_eq(setenv("MODSERD_ENGINE", "reference", 1), 0);
	const size_t n = answer(g, 5, want);
	add_engine();
	cr_assert_eq(answer(g, 5, is), n);
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
	expect_equal(block(5), 1);
	cr_expect_eq(seen.n_nodes, 5);
	cr_expect_eq(seen.n_in, 1); /* x, which two nodes read */
	cr_expect_eq(seen.n_out, 1);
}

/* A node of another engine reads the first half, and the second half reads it. */
Test(group, a_node_outside_between_two_makes_two_groups)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = begin(g, 5);
	modser_sg_tensor *a = then(g, "ReLu", "relu1", conv(g, "conv1", x), NULL);
	modser_sg_tensor *b = conv(g, "conv2", a);
	modser_sg_tensor *f = then(g, "Floor", "floor", a, NULL);

	b = then(g, "ReLu", "relu2", then(g, "Add", "add", b, f), NULL);
	(void)modser_graph_add_output(g, b);
	expect_equal(g, 2);
	cr_expect_eq(seen.n_in, 2);
	cr_expect_eq(seen.n_nodes, 2);
}

Test(group, an_output_of_the_graph_within_a_group_is_an_output)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *a = conv(g, "conv1", begin(g, 5));

	(void)modser_graph_add_output(g, then(g, "ReLu", "relu1", a, NULL));
	(void)modser_graph_add_output(g, a);
	expect_equal(g, 1);
	cr_expect_eq(seen.n_out, 2);
}

Test(group, a_tensor_read_inside_and_outside_is_an_output)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *a = conv(g, "conv1", begin(g, 5));

	(void)modser_graph_add_output(g, then(g, "ReLu", "relu1", a, NULL));
	(void)modser_graph_add_output(g, then(g, "Floor", "floor", a, NULL));
	expect_equal(g, 1);
	cr_expect_eq(seen.n_out, 2);
}

Test(group, one_node_is_no_group)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *a =
		then(g, "Floor", "floor", conv(g, "c", begin(g, 5)), NULL);

	(void)modser_graph_add_output(g, then(g, "ReLu", "relu", a, NULL));
	expect_equal(g, 0);
	cr_expect_eq(seen.n_asked, 0);
}

Test(group, an_engine_that_declines_runs_the_nodes_one_by_one)
{
	modser_graph *g = block(5);
	float want[4 * N];
	float is[4 * N];

	add_engine();
	(void)answer(g, 5, want);
	seen = (struct seen){.says = 0};
	(void)answer(g, 5, is);
	cr_expect_eq(memcmp(is, want, N * sizeof(*is)), 0);
	cr_expect_eq(seen.n_asked, 1);
	cr_expect_eq(seen.n_run + seen.n_left, 0);
	modser_graph_destroy(g);
}

Test(group, an_engine_that_fails_to_join_fails_the_load)
{
	modser_graph *g = block(5);
	struct msd_plan *plan = NULL;
	struct msd_diag d = {0};

	add_engine();
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
	modser_graph *g = block(5);
	struct msd_diag d = {0};

	add_engine();
	struct msd_plan *plan = plan_of(g);
	seen.fails = true;
	cr_expect_eq(call(plan, 5, &d), MSD_CALL_FAILED);
	cr_expect_str_eq(msd_diag_text(&d),
			 "nodes 2 \"conv1\" to 9 \"relu2\", run as one: engine joiner: "
			 "the device is gone");
	msd_diag_finish(&d);
	seen.fails = false;
	cr_expect_eq(call(plan, 5, NULL), MSD_OK);
	msd_plan_destroy(plan);
	modser_graph_destroy(g);
}

/* More sets of shapes than a plan keeps. */
Test(group, each_set_of_shapes_has_a_group_that_is_left_once)
{
	modser_graph *g = block(-1);

	add_engine();
	struct msd_plan *plan = plan_of(g);
	cr_expect_eq(seen.n_asked, 0, "no shape is known");
	for (int64_t round = 0; round < 2; round++) {
		for (int64_t height = 1; height <= 12; height++)
			cr_assert_eq(call(plan, height, NULL), MSD_OK);
	}
	cr_expect_eq(seen.n_joined, 24, "the shapes of the first round are gone");
	cr_expect_eq(seen.n_left, 16, "8 are kept");
	cr_assert_eq(call(plan, 12, NULL), MSD_OK);
	cr_expect_eq(seen.n_joined, 24, "those of the last call are not");
	msd_plan_destroy(plan);
	cr_expect_eq(seen.n_left, 24);
	modser_graph_destroy(g);
}

Test(group, a_call_whose_shapes_fail_to_join_leaves_the_plan_usable)
{
	modser_graph *g = block(-1);
	struct msd_diag d = {0};

	add_engine();
	struct msd_plan *plan = plan_of(g);
	cr_assert_eq(call(plan, 3, NULL), MSD_OK);
	seen.says = -1;
	for (int64_t height = 4; height < 20; height++) {
		cr_expect_eq(call(plan, height, &d), MSD_BAD_ARTIFACT);
		msd_diag_finish(&d);
	}
	cr_expect_eq(call(plan, 3, NULL), MSD_OK, "its shapes are kept");
	msd_plan_destroy(plan);
	cr_expect_eq(seen.n_left, 1);
	modser_graph_destroy(g);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 16;
}

/* Nodes of the engine and others (Floor), each of which reads earlier ones. */
static modser_graph *random_graph(uint32_t seed)
{
	static const char *const ops[] = {"Add", "ReLu", "Floor"};
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *tensors[21] = {begin(g, 5)};
	const size_t n = 2 + next_random(&seed) % 19;

	for (size_t i = 1; i <= n; i++) {
		const uint32_t op = next_random(&seed) % 3;
		modser_sg_tensor *a = tensors[next_random(&seed) % i];
		modser_sg_tensor *b = tensors[next_random(&seed) % i];

		tensors[i] = then(g, ops[op], "n", a, op == 0 ? b : NULL);
	}
	for (size_t i = 0; i < 3; i++)
		(void)modser_graph_add_output(g, tensors[n - i % n]);
	(void)modser_graph_add_output(g, tensors[1 + next_random(&seed) % n]);
	return g;
}

#define SEEDS 300u

Test(group, random_graphs_have_the_bits_of_the_reference_engine)
{
	static float want[SEEDS][4 * N];
	float is[4 * N];

	cr_assert_eq(setenv("MODSERD_ENGINE", "reference", 1), 0);
	for (uint32_t seed = 0; seed < SEEDS; seed++) {
		modser_graph *g = random_graph(seed);

		(void)answer(g, 5, want[seed]);
		modser_graph_destroy(g);
	}
	add_engine();
	for (uint32_t seed = 0; seed < SEEDS; seed++) {
		modser_graph *g = random_graph(seed);

		(void)answer(g, 5, is);
		cr_assert_eq(memcmp(is, want[seed], sizeof(is)), 0, "%u",
			     (unsigned)seed);
		modser_graph_destroy(g);
	}
	cr_expect_gt(seen.n_joined, (int)SEEDS / 2);
	cr_expect_eq(seen.n_left, seen.n_joined);
}

/* Nodes of both engines, all of which could run on either. */
static modser_graph *mixed_graph(uint32_t seed)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *tensors[16] = {blocks_input(g, "x", 16, 3, 2)};
	const size_t n = 3 + next_random(&seed) % 13;

	for (size_t i = 1; i <= n; i++) {
		const char *name = next_random(&seed) % 2 == 0 ? "blocks" : "other";
		modser_sg_tensor *a = tensors[next_random(&seed) % i];
		modser_sg_tensor *b = tensors[next_random(&seed) % i];

		if (next_random(&seed) % 3 == 0) {
			tensors[i] = blocks_conv(g, name, a, 16, 16, 1);
		} else if (next_random(&seed) % 2 == 0) {
			tensors[i] = blocks_node(g, name, "Add", a, b);
		} else {
			tensors[i] = blocks_node(g, name, "ReLu", a, NULL);
		}
	}
	(void)modser_graph_add_output(g, tensors[n]);
	(void)modser_graph_add_output(g, tensors[n / 2]);
	return g;
}

#define MIXED 100u

Test(group, groups_of_one_engine_meet_layouts_of_another)
{
	static float want[MIXED][256], is[BLOCKS_MOST];

	blocks_register();
	blocks.is_off = true; /* all nodes to the reference engine */
	for (uint32_t seed = 0; seed < MIXED; seed++) {
		modser_graph *g = mixed_graph(seed);
		struct msd_plan *plan = blocks_plan(g);

		cr_assert_leq(blocks_run(plan, g, false, want[seed]), 256);
		msd_plan_destroy(plan);
		modser_graph_destroy(g);
	}
	blocks.is_off = false;
	add_engine();
	for (uint32_t seed = 0; seed < MIXED; seed++) {
		modser_graph *g = mixed_graph(seed);
		struct msd_plan *plan = blocks_plan(g);

		for (int makes = 0; makes < 2; makes++) {
			const size_t n = blocks_run(plan, g, makes == 1, is);
			cr_assert_eq(memcmp(is, want[seed], n * sizeof(*is)), 0, "%u",
				     (unsigned)seed);
		}
		msd_plan_destroy(plan);
		modser_graph_destroy(g);
	}
	cr_expect_gt(seen.n_joined, (int)MIXED / 2);
	cr_expect_eq(seen.n_left, seen.n_joined);
	cr_expect_gt(blocks.n_from_rows, (int)MIXED / 2);
	cr_expect_gt(blocks.n_to_rows, (int)MIXED / 2);
}

Test(group, tensors_within_a_group_take_no_memory_of_the_plan)
{
	modser_graph *g = block(5);
	const size_t room = (N * sizeof(float) + 63) / 64 * 64;

	add_engine();
	struct msd_plan *plan = plan_of(g);
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
	static const float x[N] = {1, 2, 3};
	modser_graph *g = block(5);
	const int64_t dims[] = {1, C, 5, 4};
	const struct msd_plan_input in = {x, dims, 4, {MSD_DT_FLOAT, 32, 1}};
	float mine[N] = {0};

	add_engine();
	struct msd_plan *plan = plan_of(g);
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
	modser_graph *g = block(5);

	add_engine();
	struct msd_plan *plan = plan_of(g);
	cr_assert_eq(msd_plan_clock_start(plan, NULL), MSD_OK);
	cr_assert_eq(call(plan, 5, NULL), MSD_OK);
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
	modser_graph *g = block(-1);

	add_engine();
	for (long k = 0;; k++) {
		struct msd_plan *plan = NULL;
		struct msd_diag d = {0};

		seen = (struct seen){.says = 1};
		msd_fail_alloc(k);
		msd_err err = msd_plan_create(g, &plan, &d);
		if (err == MSD_OK)
			err = call(plan, 5, &d);
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
	modser_graph *g = block(5);
	float y[4 * N];
	unsigned char earlier[sizeof(joiner)] = {0};

	add_engine();
	watched.size = MODSERD_ENGINE_LEAST;
	watched.name = "earlier";
	memcpy(earlier, &watched, MODSERD_ENGINE_LEAST);
	memset(earlier + MODSERD_ENGINE_LEAST, 0xff,
	       sizeof(earlier) - MODSERD_ENGINE_LEAST); /* not to be read */
	cr_assert_eq(msd_engine_register((const modserd_engine *)(void *)earlier), 0);
	(void)answer(g, 5, y);
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

/* Random graphs whose nodes an engine joins, also beside one with layouts: their
 * outputs have the bits of the reference engine. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/plan/plan.h"
#include "tests/graph/blocks_engine.h"
#include "tests/graph/joiner_engine.h"

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
	modser_sg_tensor *tensors[21] = {joiner_input(g, 5)};
	const size_t n = 2 + next_random(&seed) % 19;

	for (size_t i = 1; i <= n; i++) {
		const uint32_t op = next_random(&seed) % 3;
		modser_sg_tensor *a = tensors[next_random(&seed) % i];
		modser_sg_tensor *b = tensors[next_random(&seed) % i];

		tensors[i] = joiner_node(g, ops[op], "n", a, op == 0 ? b : NULL);
	}
	for (size_t i = 0; i < 3; i++)
		(void)modser_graph_add_output(g, tensors[n - i % n]);
	(void)modser_graph_add_output(g, tensors[1 + next_random(&seed) % n]);
	return g;
}

#define SEEDS 300u

Test(any_group, random_graphs_have_the_bits_of_the_reference_engine)
{
	static float want[SEEDS][4 * JOINER_FLOATS];
	float is[4 * JOINER_FLOATS];

	cr_assert_eq(setenv("MODSERD_ENGINE", "reference", 1), 0);
	for (uint32_t seed = 0; seed < SEEDS; seed++) {
		modser_graph *g = random_graph(seed);

		(void)joiner_answer(g, 5, want[seed]);
		modser_graph_destroy(g);
	}
	joiner_register();
	for (uint32_t seed = 0; seed < SEEDS; seed++) {
		modser_graph *g = random_graph(seed);

		(void)joiner_answer(g, 5, is);
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

Test(any_group, groups_of_one_engine_meet_layouts_of_another)
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
	joiner_register();
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

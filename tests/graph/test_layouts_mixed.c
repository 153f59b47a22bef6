/* Layouts in random graphs: engines alternate, and convolutions choose without regard
 * to what is there. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "runtime/engine/engine.h"
#include "runtime/pool/pool.h"
#include "tests/graph/blocks_engine.h"

#define N_GRAPHS 300
#define MOST_NODES 14
#define CHANNELS 9

static uint32_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* A tensor of the graph, and the convolutions before it: few keep sums exact. */
struct value {
	modser_sg_tensor *t;
	uint32_t depth;
};

static struct value add(modser_graph *g, const struct value *values, uint32_t n,
			uint32_t i)
{
	const struct value a = values[below(n)], b = values[below(n)];
	char name[32];

	(void)snprintf(name, sizeof(name), "%s%u", below(4) == 0 ? "other" : "n",
		       below(8) + 10 * i);
	switch (a.depth < 3 ? below(3) : 1 + below(2)) {
	case 0:
		return (struct value){blocks_conv(g, name, a.t, CHANNELS, CHANNELS, 1),
				      a.depth + 1};
	case 1:
		return (struct value){blocks_node(g, name, "ReLu", a.t, NULL), a.depth};
	default:
		return (struct value){blocks_node(g, name, "Add", a.t, b.t),
				      a.depth > b.depth ? a.depth : b.depth};
	}
}

static modser_graph *random_graph(void)
{
	modser_graph *g = modser_graph_create("g");
	struct value values[MOST_NODES + 3] = {
		{blocks_input(g, "x", CHANNELS, 2, 3), 0},
		{blocks_input(g, "y", CHANNELS, 2, 3), 0},
		{blocks_constant(g, "k", 1, CHANNELS, 2, 3), 0}};
	const uint32_t n = 3 + 1 + below(MOST_NODES);

	for (uint32_t i = 3; i < n; i++)
		values[i] = add(g, values, i, i);
	for (uint32_t i = 0; i < 3; i++) {
		const uint32_t k = 3 + below(n - 3);

		(void)modser_graph_add_output(g, values[i == 0 ? n - 1 : k].t);
	}
	return g;
}

static void expect_same_outputs(void)
{
	for (seed = 0; seed < N_GRAPHS; seed++) {
		const uint32_t kept = seed;
		modser_graph *g = random_graph();

		blocks.n_from_rows = blocks.n_to_rows = 0;
		blocks_compare(g);
		/* Four runs convert each tensor at most once in each direction. */
		cr_expect_leq(blocks.n_from_rows, 4 * (MOST_NODES + 3));
		cr_expect_leq(blocks.n_to_rows, 4 * (MOST_NODES + 3));
		modser_graph_destroy(g);
		seed = kept;
	}
	msd_pool_stop();
}

Test(layouts_mixed, random_graphs_give_the_outputs_of_the_reference)
{
	blocks_register();
	expect_same_outputs();
}

Test(layouts_mixed, convolutions_that_choose_at_random_do_so_too)
{
	blocks_register();
	blocks.is_scattered = true;
	expect_same_outputs();
}

/* A second engine whose layout is its own. */
static modserd_engine second;
static modserd_layout second_layout;
static int n_second;

static int take_others(const modser_sg_node *node, void **ret_state, char *ret_why,
		       size_t why_bytes)
{
	char name[8] = "";

	(void)strncpy(name, modser_sg_node_name(node), 5);
	return !blocks.is_off && strcmp(name, "other") == 0 &&
	       blocks.take(node, ret_state, ret_why, why_bytes) == 1;
}

static int lay_out_second(void *state, const modser_sg_node *node,
			  const modserd_layout **in, const modserd_layout **out)
{
	const size_t n = modser_sg_node_input_count(node);

	for (size_t i = 0; i < n; i++) {
		cr_expect(in[i] == NULL || in[i] == &second_layout,
			  "a layout of another engine");
	}
	if (blocks.engine.lay_out(state, node, in, out) != 1)
		return 0;
	for (size_t i = 0; i < n; i++)
		in[i] = in[i] != NULL ? &second_layout : NULL;
	out[0] = out[0] != NULL ? &second_layout : NULL;
	return 1;
}

static int second_from_rows(const modser_sg_tensor *t, const void *rows, void *ret,
			    char *ret_why, size_t why_bytes)
{
	n_second++;
	return blocks.layout.from_rows(t, rows, ret, ret_why, why_bytes);
}

static void register_second(void)
{
	second = blocks.engine;
	second.name = "second";
	second.take = take_others;
	second.lay_out = lay_out_second;
	second_layout = blocks.layout;
	second_layout.from_rows = second_from_rows;
	cr_assert_eq(msd_engine_register(&second), 0);
}

Test(layouts_mixed, two_engines_meet_in_rows)
{
	blocks_register();
	register_second();
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = blocks_input(g, "x", 8, 2, 3);

	x = blocks_conv(g, "a", x, 8, 8, 1);
	x = blocks_conv(g, "other", x, 8, 8, 1);
	(void)modser_graph_add_output(g, blocks_conv(g, "b", x, 8, 8, 1));
	blocks_compare(g);
	cr_expect_eq(blocks.n_from_rows, 4 * 3);
	cr_expect_eq(blocks.n_to_rows, 4 * 3);
	cr_expect_eq(n_second, 4);
	modser_graph_destroy(g);
	expect_same_outputs();
}

Test(layouts_mixed, two_engines_that_choose_at_random_do_so_too)
{
	blocks_register();
	register_second();
	blocks.is_scattered = true;
	expect_same_outputs();
}

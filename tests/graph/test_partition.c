/* Which nodes an engine can run as one, on graphs made by hand and at random. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/order.h"
#include "runtime/plan/partition.h"
#include "tests/graph/net.h"

#define MOST 40u /* nodes */

/* A graph whose nodes are of kinds, and its partition. */
struct parted {
	modser_graph *g;
	size_t n_kinds, n_groups;
	size_t kind[MOST], order[MOST], now[MOST], group[MOST];
	size_t place[MOST]; /* by node: in the new order */
};

static modser_sg_tensor *add_node(struct parted *p, size_t kind)
{
	modser_sg_tensor *y = modser_sg_tensor_create(p->g, "t");
	const modser_sg_node *node = net_node(p->g, "n", "Concat", y);

	p->kind[modser_sg_node_index(node)] = kind;
	return y;
}

static void read(modser_sg_tensor *y, modser_sg_tensor *x)
{
	(void)modser_sg_node_add_input(y->producer, x);
}

static void init(struct parted *p, size_t n_kinds)
{
	*p = (struct parted){.g = modser_graph_create("g"), .n_kinds = n_kinds};
	cr_assert_not_null(p->g);
}

static void part(struct parted *p)
{
	cr_assert_leq(p->g->n_nodes, MOST);
	cr_assert_eq(msd_sg_order(p->g, p->order), 0);
	cr_assert_eq(msd_partition(p->g, p->order, p->kind, p->n_kinds, p->now,
				   p->group, &p->n_groups, NULL),
		     MSD_OK);
	for (size_t i = 0; i < p->g->n_nodes; i++)
		p->place[p->now[i]] = i;
}

/* True if @to reads @from, perhaps over nodes between. */
static bool leads(const struct parted *p, size_t from, size_t to)
{
	const modser_sg_node *node = p->g->nodes[to];

	for (size_t k = 0; k < node->n_inputs; k++) {
		const size_t by = node->inputs[k]->producer->index;

		if (by == from || leads(p, from, by))
			return true;
	}
	return false;
}

static void expect_order(const struct parted *p)
{
	bool seen[MOST] = {false};

	for (size_t i = 0; i < p->g->n_nodes; i++) {
		const modser_sg_node *node = p->g->nodes[p->now[i]];

		cr_assert_not(seen[node->index], "node %zu twice", node->index);
		seen[node->index] = true;
		for (size_t k = 0; k < node->n_inputs; k++)
			cr_assert(seen[node->inputs[k]->producer->index]);
	}
}

static void expect_groups(const struct parted *p)
{
	size_t next = 1;

	for (size_t i = 0; i < p->g->n_nodes; i++) {
		const size_t node = p->now[i];
		const size_t group = p->group[node];

		cr_assert_eq(group == 0, p->kind[node] == 0);
		cr_assert_leq(group, next);
		next = group == next ? next + 1 : next;
		if (group > 0 && i > 0 && p->group[p->now[i - 1]] == group)
			cr_assert_eq(p->kind[node], p->kind[p->now[i - 1]]);
		if (group > 0 && i > 0 && p->group[p->now[i - 1]] != group)
			cr_assert_eq(group, next - 1); /* not begun before */
	}
	cr_assert_eq(p->n_groups, next - 1);
}

/* No node outside lies between two of a group. */
static void expect_convex(const struct parted *p)
{
	for (size_t a = 0; a < p->g->n_nodes; a++) {
		for (size_t b = 0; p->group[a] > 0 && b < p->g->n_nodes; b++) {
			if (p->group[b] == p->group[a] || !leads(p, a, b))
				continue;
			for (size_t c = 0; c < p->g->n_nodes; c++) {
				cr_assert(p->group[c] != p->group[a] || !leads(p, b, c),
					  "%zu lies between %zu and %zu", b, a, c);
			}
		}
	}
}

/* The nodes of a group keep their order. */
static void expect_stable(const struct parted *p)
{
	for (size_t i = 0; i < p->g->n_nodes; i++) {
		for (size_t k = i + 1; k < p->g->n_nodes; k++) {
			const size_t a = p->order[i];
			const size_t b = p->order[k];

			if (p->group[a] > 0 && p->group[a] == p->group[b])
				cr_assert_lt(p->place[a], p->place[b]);
		}
	}
}

/* With one kind: the changes of kind on the longest way to @node, which no order can
 * avoid, say which group it is in. */
static size_t changes(const struct parted *p, size_t node)
{
	size_t most = p->kind[node];

	for (size_t k = 0; k < p->g->nodes[node]->n_inputs; k++) {
		const size_t by = p->g->nodes[node]->inputs[k]->producer->index;
		const size_t n = changes(p, by) + (p->kind[by] != p->kind[node]);

		most = n > most ? n : most;
	}
	return most;
}

static void expect_fewest(const struct parted *p)
{
	for (size_t i = 0; p->n_kinds == 1 && i < p->g->n_nodes; i++) {
		if (p->kind[i] == 1)
			cr_assert_eq(p->group[i], (changes(p, i) + 1) / 2);
	}
}

static void expect_sound(struct parted *p)
{
	part(p);
	expect_order(p);
	expect_groups(p);
	expect_convex(p);
	expect_stable(p);
	expect_fewest(p);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 16;
}

static void make_random(struct parted *p, uint32_t seed)
{
	modser_sg_tensor *tensors[MOST];
	size_t n = 0;

	init(p, seed % 4);
	const size_t n_nodes = 1 + next_random(&seed) % 14;
	while (n < n_nodes) {
		modser_sg_tensor *y =
			add_node(p, next_random(&seed) % (p->n_kinds + 1));
		const size_t n_inputs = n == 0 ? 0 : next_random(&seed) % 4;

		for (size_t k = 0; k < n_inputs; k++)
			read(y, tensors[next_random(&seed) % n]);
		tensors[n++] = y;
	}
}

Test(partition, each_random_graph_has_a_sound_one)
{
	for (uint32_t seed = 0; seed < 2000; seed++) {
		struct parted p;

		make_random(&p, seed);
		expect_sound(&p);
		modser_graph_destroy(p.g);
	}
}

Test(partition, a_chain_of_one_engine_is_one_group)
{
	struct parted p;
	modser_sg_tensor *last = NULL;

	init(&p, 1);
	for (size_t i = 0; i < 9; i++) {
		modser_sg_tensor *y = add_node(&p, 1);

		if (last != NULL)
			read(y, last);
		last = y;
	}
	expect_sound(&p);
	cr_expect_eq(p.n_groups, 1);
	modser_graph_destroy(p.g);
}

/* a -> b -> d and a -> x -> d, where another engine runs x. */
Test(partition, a_node_of_another_engine_between_two_ends_the_group)
{
	struct parted p;

	init(&p, 1);
	modser_sg_tensor *a = add_node(&p, 1);
	modser_sg_tensor *x = add_node(&p, 0);
	modser_sg_tensor *b = add_node(&p, 1);
	modser_sg_tensor *d = add_node(&p, 1);
	read(x, a);
	read(b, a);
	read(d, b);
	read(d, x);
	expect_sound(&p);
	cr_expect_eq(p.n_groups, 2);
	cr_expect_eq(p.group[a->producer->index], p.group[b->producer->index]);
	cr_expect_eq(p.group[d->producer->index], 2);
	modser_graph_destroy(p.g);
}

/* x does not depend on a: it runs first, and a and d become one group. */
Test(partition, a_node_beside_a_group_runs_before_it)
{
	struct parted p;

	init(&p, 1);
	modser_sg_tensor *a = add_node(&p, 1);
	modser_sg_tensor *x = add_node(&p, 0);
	modser_sg_tensor *d = add_node(&p, 1);
	read(d, a);
	read(d, x);
	expect_sound(&p);
	cr_expect_eq(p.n_groups, 1);
	cr_expect_eq(p.now[0], x->producer->index);
	modser_graph_destroy(p.g);
}

Test(partition, engines_have_groups_of_their_own)
{
	struct parted p;

	init(&p, 2);
	modser_sg_tensor *a = add_node(&p, 1);
	modser_sg_tensor *b = add_node(&p, 2);
	modser_sg_tensor *c = add_node(&p, 1);
	modser_sg_tensor *d = add_node(&p, 2);
	read(c, a);
	read(d, b);
	expect_sound(&p);
	cr_expect_eq(p.n_groups, 2);
	cr_expect_eq(p.group[a->producer->index], p.group[c->producer->index]);
	cr_expect_eq(p.group[b->producer->index], p.group[d->producer->index]);
	modser_graph_destroy(p.g);
}

Test(partition, without_engines_that_join_the_order_stays)
{
	for (uint32_t seed = 0; seed < 100; seed += 4) {
		struct parted p;

		make_random(&p, seed);
		expect_sound(&p);
		cr_expect_eq(p.n_groups, 0);
		cr_expect_eq(memcmp(p.order, p.now, p.g->n_nodes * sizeof(*p.order)),
			     0);
		modser_graph_destroy(p.g);
	}
}

/* 25,000 changes of engine: no step is done for each pair of nodes. */
Test(partition, a_long_chain_of_changing_engines_is_parted_in_one_walk)
{
	enum { N = 50000 };
	modser_graph *g = modser_graph_create("g");
	size_t *lists = calloc(4 * N, sizeof(*lists));
	modser_sg_tensor *last = NULL;
	size_t n_groups = 0;

	cr_assert_not_null(lists);
	for (size_t i = 0; i < N; i++) {
		modser_sg_tensor *y = modser_sg_tensor_create(g, "t");

		(void)net_node(g, "n", "Concat", y);
		if (last != NULL)
			read(y, last);
		last = y;
		lists[i] = i;         /* the order */
		lists[N + i] = i % 2; /* the kinds */
	}
	cr_assert_eq(msd_partition(g, lists, lists + N, 1, lists + 2 * N, lists + 3 * N,
				   &n_groups, NULL),
		     MSD_OK);
	cr_expect_eq(n_groups, N / 2);
	cr_expect_eq(memcmp(lists, lists + 2 * N, N * sizeof(*lists)), 0);
	free(lists);
	modser_graph_destroy(g);
}

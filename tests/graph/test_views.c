/* Which tensors lie in which, and which nodes have nothing to do. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/layout/memory_plan.h"
#include "graph/layout/views.h"
#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/constant.h"
#include "tests/support/fail_alloc.h"

enum { ROW = 20, MOST_NODES = 24, MOST_TENSORS = 48 };

/* A graph, its input x of 1 x 4 x 5 float32, and its views. */
struct net {
	modser_graph *g;
	modser_sg_tensor *x;
	struct msd_views v;
	bool is_foreign[MOST_NODES];
};

static struct net begin(void)
{
	static const int64_t dims[] = {1, 4, 5};
	struct net n = {.g = modser_graph_create("g")};

	n.x = modser_sg_tensor_create(n.g, "x");
	(void)modser_sg_tensor_set_type(n.x, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dims(n.x, dims, 3);
	(void)net_node(n.g, "x", "InputOp", n.x);
	(void)modser_graph_add_input(n.g, n.x);
	return n;
}

static modser_sg_node *add(struct net *n, const char *op, modser_sg_tensor *x,
			   modser_sg_tensor *other)
{
	modser_sg_node *node = modser_sg_node_create(n->g, op);

	(void)modser_sg_node_set_op(node, modser_sg_op_create(n->g, op));
	(void)modser_sg_node_add_input(node, x);
	if (other != NULL)
		(void)modser_sg_node_add_input(node, other);
	return node;
}

static modser_sg_tensor *end(struct net *n, modser_sg_node *node, size_t n_outputs)
{
	for (size_t i = 0; i < n_outputs; i++) {
		(void)modser_sg_node_add_output(node,
						modser_sg_tensor_create(n->g, "y"));
	}
	cr_assert_eq(msd_sg_infer_node(node), 0, "%s", modser_graph_error(n->g));
	return node->outputs[0];
}

static modser_sg_tensor *relu(struct net *n, modser_sg_tensor *x)
{
	return end(n, add(n, "ReLu", x, NULL), 1);
}

static modser_sg_tensor *sum(struct net *n, modser_sg_tensor *a, modser_sg_tensor *b)
{
	return end(n, add(n, "Add", a, b), 1);
}

static modser_sg_tensor *flat(struct net *n, modser_sg_tensor *x)
{
	return end(n, add(n, "Flatten", x, NULL), 1);
}

static modser_sg_tensor *join(struct net *n, modser_sg_tensor *a, modser_sg_tensor *b)
{
	return end(n, add(n, "Concat", a, b), 1); /* along axis 1 */
}

static modser_sg_node *split(struct net *n, modser_sg_tensor *x)
{
	modser_sg_node *node = add(n, "Split", x, NULL);

	(void)modser_sg_op_set_int(modser_sg_node_op(node), "axis", 1);
	(void)end(n, node, 2);
	return node;
}

static void output(struct net *n, modser_sg_tensor *t)
{
	(void)modser_graph_add_output(n->g, t);
}

static void find(struct net *n)
{
	size_t order[MOST_NODES];
	size_t last[MOST_TENSORS] = {0};

	cr_assert(n->g->n_nodes <= MOST_NODES && n->g->n_tensors <= MOST_TENSORS);
	for (size_t i = 0; i < n->g->n_nodes; i++)
		order[i] = i;
	msd_memory_plan_find_last_reads(last, n->g, order);
	cr_assert_eq(msd_views_init(&n->v, n->g, order, last, n->is_foreign, NULL),
		     MSD_OK);
}

static void finish(struct net *n)
{
	msd_views_finish(&n->v);
	modser_graph_destroy(n->g);
}

#define expect_in(n, t, of, rows)                                                      \
	do {                                                                           \
		cr_expect_eq((n)->v.list[(t)->index].root, (of)->index);               \
		cr_expect_eq((n)->v.list[(t)->index].offset, (size_t)(rows)*ROW);      \
	} while (0)

static bool is_view(const struct net *n, const modser_sg_tensor *made)
{
	return n->v.is_view[made->producer->index];
}

Test(views, a_flatten_lies_in_its_input)
{
	struct net n = begin();
	modser_sg_tensor *of_x = flat(&n, n.x);
	modser_sg_tensor *a = relu(&n, of_x);
	modser_sg_tensor *b = flat(&n, a);
	modser_sg_tensor *c = sum(&n, b, of_x);

	output(&n, c);
	find(&n);
	expect_in(&n, of_x, n.x, 0);
	expect_in(&n, b, a, 0);
	expect_in(&n, c, c, 0);
	cr_expect(is_view(&n, of_x) && is_view(&n, b) && !is_view(&n, a));
	finish(&n);
}

/* The caller keeps it, and shares the input with others. */
Test(views, an_output_of_the_graph_never_lies_in_an_input)
{
	struct net n = begin();
	modser_sg_tensor *a = flat(&n, n.x);
	modser_sg_tensor *b = flat(&n, n.x);

	output(&n, a);
	output(&n, flat(&n, b));
	find(&n);
	expect_in(&n, a, a, 0);
	cr_expect(!is_view(&n, a));
	cr_expect_neq(n.v.list[n.g->outputs[1]->index].root, n.x->index);
	finish(&n);
}

Test(views, what_only_an_output_reads_is_written_into_it)
{
	struct net n = begin();
	modser_sg_tensor *a = relu(&n, n.x);
	modser_sg_tensor *b = relu(&n, flat(&n, n.x));
	modser_sg_tensor *c = end(&n, add(&n, "Flatten", a, NULL), 1);
	modser_sg_tensor *d = flat(&n, b);

	output(&n, c);
	output(&n, d);
	output(&n, relu(&n, b)); /* reads b, too */
	find(&n);
	expect_in(&n, a, c, 0);
	cr_expect(is_view(&n, c));
	expect_in(&n, b, b, 0);
	cr_expect(!is_view(&n, d));
	finish(&n);
}

Test(views, the_pieces_of_a_concat_lie_in_it)
{
	struct net n = begin();
	modser_sg_tensor *a = relu(&n, n.x);
	modser_sg_tensor *b = relu(&n, a);
	modser_sg_tensor *inner = join(&n, a, b);
	modser_sg_tensor *c = relu(&n, b);
	modser_sg_tensor *outer = join(&n, c, inner);

	output(&n, outer);
	output(&n, relu(&n, outer));
	find(&n);
	expect_in(&n, inner, outer, 4);
	expect_in(&n, a, outer, 4);
	expect_in(&n, b, outer, 8);
	expect_in(&n, c, outer, 0);
	cr_expect(is_view(&n, inner) && is_view(&n, outer));
	finish(&n);
}

/* Others share that memory: a node would read what they may change. */
Test(views, no_piece_of_an_output_is_read)
{
	struct net n = begin();
	modser_sg_tensor *a = relu(&n, n.x);
	modser_sg_tensor *b = relu(&n, a);
	modser_sg_tensor *y = join(&n, a, b);
	modser_sg_tensor *p = relu(&n, n.x);
	modser_sg_tensor *z = join(&n, p, relu(&n, n.x));

	output(&n, y);
	output(&n, z);
	find(&n);
	expect_in(&n, a, a, 0);
	cr_expect(!is_view(&n, y));
	expect_in(&n, p, z, 0);
	cr_expect(is_view(&n, z));
	finish(&n);
}

Test(views, a_concat_copies_what_has_another_place)
{
	struct net n = begin();
	modser_sg_tensor *a = relu(&n, n.x);
	modser_sg_tensor *y = join(&n, n.x, a);
	modser_sg_tensor *twice = join(&n, y, y);

	output(&n, relu(&n, twice));
	find(&n);
	expect_in(&n, y, twice, 0);
	expect_in(&n, a, twice, 4);
	cr_expect(!is_view(&n, y) && !is_view(&n, twice));
	finish(&n);
}

Test(views, a_split_tensor_comes_to_where_its_pieces_are_joined)
{
	struct net n = begin();
	modser_sg_tensor *x = relu(&n, n.x);
	const modser_sg_node *halves = split(&n, x);
	modser_sg_tensor *c = relu(&n, halves->outputs[1]);
	modser_sg_tensor *both = join(&n, halves->outputs[0], halves->outputs[1]);
	modser_sg_tensor *y = join(&n, c, both);

	output(&n, relu(&n, y));
	find(&n);
	expect_in(&n, x, y, 2);
	expect_in(&n, halves->outputs[0], y, 2);
	expect_in(&n, halves->outputs[1], y, 4);
	expect_in(&n, c, y, 0);
	cr_expect(n.v.is_view[halves->index] && is_view(&n, y) && is_view(&n, both));
	finish(&n);
}

Test(views, elementwise_nodes_write_onto_inputs_that_nothing_reads_later)
{
	struct net n = begin();
	modser_sg_tensor *a = relu(&n, n.x);
	modser_sg_tensor *b = relu(&n, a); /* a is read again */
	modser_sg_tensor *c = sum(&n, a, b);
	modser_sg_tensor *d = sum(&n, b, c); /* a is free: c took its place */
	modser_sg_tensor *e = relu(&n, d);

	output(&n, e);
	find(&n);
	expect_in(&n, a, a, 0);
	expect_in(&n, b, b, 0);
	expect_in(&n, c, a, 0);
	expect_in(&n, d, b, 0);
	expect_in(&n, e, e, 0); /* the caller's memory */
	finish(&n);
}

/* A view of the input, or a piece beside it, is read later. */
Test(views, nothing_is_written_onto_what_a_view_shows)
{
	struct net n = begin();
	modser_sg_tensor *a = relu(&n, n.x);
	modser_sg_tensor *view = flat(&n, a);
	modser_sg_tensor *b = relu(&n, a);
	const modser_sg_node *halves = split(&n, b);
	modser_sg_tensor *first = relu(&n, halves->outputs[0]);
	modser_sg_tensor *second = relu(&n, halves->outputs[1]);

	output(&n, relu(&n, view));
	output(&n, sum(&n, first, second));
	find(&n);
	expect_in(&n, view, a, 0);
	expect_in(&n, b, b, 0);
	expect_in(&n, first, b, 0);
	expect_in(&n, second, b, 2);
	finish(&n);
}

/* Its kernel may expect aligned tensors, and it may count its runs. */
Test(views, the_tensors_of_plugins_are_aligned)
{
	struct net n = begin();
	modser_sg_tensor *a = relu(&n, n.x);
	modser_sg_tensor *b = relu(&n, n.x);
	modser_sg_tensor *y = join(&n, a, b);
	modser_sg_tensor *view = flat(&n, y);
	modser_sg_tensor *z = relu(&n, view);

	output(&n, sum(&n, z, view));
	n.is_foreign[b->producer->index] = true;
	n.is_foreign[view->producer->index] = true;
	find(&n);
	expect_in(&n, a, y, 0);
	expect_in(&n, b, b, 0); /* 80 bytes behind a */
	expect_in(&n, view, view, 0);
	cr_expect(!is_view(&n, y) && !is_view(&n, view));
	finish(&n);
}

/* Rows along axis 1 are consecutive only if there is one outer element. */
Test(views, only_one_stretch_of_bytes_is_a_piece)
{
	static const int64_t dims[] = {2, 4, 5};
	static const int64_t step[] = {0, 4, 1, 2};
	struct net n = begin();
	(void)modser_sg_tensor_set_dims(n.x, dims, 3);
	modser_sg_tensor *a = relu(&n, n.x);
	modser_sg_tensor *y = join(&n, a, relu(&n, n.x));
	modser_sg_node *slice = add(&n, "Slice", y, NULL);

	for (size_t i = 0; i < 4; i++) {
		(void)modser_sg_node_add_input(
			slice, net_constant(n.g, "int64", 1, &(int64_t){1}, &step[i]));
	}
	modser_sg_tensor *z = end(&n, slice, 1);
	output(&n, relu(&n, z));
	find(&n);
	expect_in(&n, a, a, 0);
	cr_expect(!is_view(&n, y) && !is_view(&n, z));
	finish(&n);
}

static void *make_output(void *ctx, size_t i, const modser_sg_tensor *t)
{
	(void)t;
	return (float *)ctx + i;
}

/* Both halves of the output are written where the caller said. */
Test(views, a_joined_output_is_not_copied)
{
	struct net n = begin();
	float x[ROW] = {-1, 2};
	float y[2 * ROW] = {0};
	const struct msd_plan_input in = {x, n.x->dims, 3, n.x->dtype};
	const struct msd_plan_args args = {&in, make_output, y};
	struct msd_plan *plan = NULL;

	output(&n, join(&n, relu(&n, n.x), end(&n, add(&n, "Neg", n.x, NULL), 1)));
	cr_assert_eq(msd_plan_create(n.g, &plan, NULL), MSD_OK);
	cr_expect_eq(msd_plan_arena_bytes(plan), 192); /* the output, if no caller */
	cr_assert_eq(msd_plan_call(plan, &args, NULL), MSD_OK);
	cr_expect(y[0] == 0 && y[1] == 2 && y[ROW] == 1 && y[ROW + 1] == -2);
	msd_plan_destroy(plan);
	finish(&n);
	msd_pool_stop();
}

Test(views, every_failing_allocation_is_reported)
{
	struct net n = begin();
	long k = 0;

	output(&n, join(&n, relu(&n, n.x), relu(&n, n.x)));
	for (bool failed = true; failed; k++) {
		struct msd_plan *plan = NULL;

		msd_fail_alloc(k);
		const msd_err err = msd_plan_create(n.g, &plan, NULL);
		failed = msd_fail_alloc_stop();
		cr_assert(err == MSD_OK || (failed && err == MSD_NOMEM));
		msd_plan_destroy(plan);
	}
	cr_assert_gt(k, 16);
	finish(&n);
}

/* Chains of views, and of nodes that write in one place, as long as a large graph. */
Test(views, long_chains_take_one_place)
{
	enum { LENGTH = 20000 };
	struct net n = begin();
	modser_sg_tensor *t = relu(&n, n.x);
	struct msd_plan *plan = NULL;

	for (size_t i = 0; i < LENGTH; i++)
		t = i % 2 == 0 ? flat(&n, t) : relu(&n, t);
	output(&n, relu(&n, t));
	cr_assert_eq(msd_plan_create(n.g, &plan, NULL), MSD_OK);
	cr_expect_eq(msd_plan_arena_bytes(plan), 2 * 128);
	msd_plan_destroy(plan);
	finish(&n);
	msd_pool_stop();
}

/* Random graphs of nodes that copy, compute and join: a run, whose tensors lie in each
 * other, gives the bits of node after node in memory of their own. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/layout/memory_plan.h"
#include "graph/layout/views.h"
#include "runtime/engine/engine.h"
#include "runtime/kernel/kernel.h"
#include "runtime/plan/plan.h"
#include "runtime/pool/pool.h"
#include "tests/graph/constant.h"

enum { GRAPHS = 1000, NODES = 24, MOST_TENSORS = 120, MOST_ELEMENTS = 3000 };

struct maker {
	modser_graph *g;
	uint64_t seed;
	modser_sg_tensor *list[MOST_TENSORS]; /* float32, in the order of a run */
	size_t n;
	int64_t ints[NODES][4]; /* of constants */
	size_t n_ints;
};

static float numbers[MOST_ELEMENTS];

static size_t any(struct maker *m, size_t n)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(m->seed >> 33) % n;
}

static size_t elements(const modser_sg_tensor *t)
{
	size_t n = 1;

	for (int i = 0; i < t->ndim; i++)
		n *= (size_t)t->dims[i];
	return n;
}

static size_t bytes_of(const modser_sg_tensor *t)
{
	uint64_t n = 0;

	cr_assert(msd_sg_tensor_bytes(t, &n));
	return (size_t)n;
}

static modser_sg_tensor *any_tensor(struct maker *m)
{
	return m->list[any(m, m->n)];
}

static modser_sg_node *begin(struct maker *m, const char *op, modser_sg_tensor *x)
{
	modser_sg_node *node = modser_sg_node_create(m->g, op);

	(void)modser_sg_node_set_op(node, modser_sg_op_create(m->g, op));
	(void)modser_sg_node_add_input(node, x);
	return node;
}

static void end(struct maker *m, modser_sg_node *node, size_t n_outputs)
{
	for (size_t i = 0; i < n_outputs; i++) {
		modser_sg_tensor *y = modser_sg_tensor_create(m->g, "y");

		(void)modser_sg_node_add_output(node, y);
		m->list[m->n++] = y;
	}
	cr_assert_eq(msd_sg_infer_node(node), 0, "%s", modser_graph_error(m->g));
}

static void set_ints(modser_sg_node *node, const char *param, const int64_t *list,
		     size_t n)
{
	const modser_sg_attr attr = {MODSER_ATTR_INTS, n, {.ints = list}};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(node), param, &attr), 0);
}

static void set_int(modser_sg_node *node, const char *param, size_t value)
{
	cr_assert_eq(
		modser_sg_op_set_int(modser_sg_node_op(node), param, (int64_t)value),
		0);
}

static void add_input(struct maker *m)
{
	static const int64_t shapes[][4] = {{1, 3, 5, 7}, {1, 4, 5, 7}, {2, 3, 5, 1}};
	modser_sg_tensor *x = modser_sg_tensor_create(m->g, "x");

	(void)modser_sg_tensor_set_type(x, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dims(x, shapes[any(m, 3)], 4);
	(void)net_node(m->g, "x", "InputOp", x);
	(void)modser_graph_add_input(m->g, x);
	m->list[m->n++] = x;
}

static void add_unary(struct maker *m)
{
	static const char *const ops[] = {"ReLu", "Neg", "Sigmoid", "Tanh", "Erf"};

	end(m, begin(m, ops[any(m, 5)], any_tensor(m)), 1);
}

static void add_binary(struct maker *m)
{
	static const char *const ops[] = {"Add", "Sub", "Mul"};
	static const int64_t one = 1;
	const modser_sg_tensor *x = any_tensor(m);
	modser_sg_node *node = begin(m, ops[any(m, 3)], m->list[any(m, m->n)]);
	modser_sg_tensor *other = any_tensor(m);

	x = node->inputs[0];
	for (size_t i = 0; i < 8 && (other->ndim != x->ndim ||
				     memcmp(other->dims, x->dims,
					    (size_t)x->ndim * sizeof(*x->dims)) != 0);
	     i++)
		other = any_tensor(m);
	if (other->ndim != x->ndim ||
	    memcmp(other->dims, x->dims, (size_t)x->ndim * sizeof(*x->dims)) != 0)
		other = net_constant(m->g, "float32", 1, &one, numbers);
	(void)modser_sg_node_add_input(node, other);
	end(m, node, 1);
}

static void add_reshape(struct maker *m)
{
	modser_sg_tensor *x = any_tensor(m);
	const int64_t n = (int64_t)elements(x);
	const int64_t shapes[][4] = {{n, 1, 1, 1}, {1, n, 1, 1}, {1, 1, n, 1}};
	int64_t dims[4] = {1, 1, 1, n};

	if (x->ndim == 4 && any(m, 2) == 0) {
		(void)memcpy(
			dims,
			(int64_t[]){x->dims[0], 1, x->dims[1], x->dims[2] * x->dims[3]},
			sizeof(dims));
	} else if (any(m, 2) == 0) {
		(void)memcpy(dims, shapes[any(m, 3)], sizeof(dims));
	}
	for (int64_t k = 7; n > 0 && k > 2; k -= 2) {
		if (n % k == 0 && any(m, 2) == 0)
			(void)memcpy(dims, (int64_t[]){1, n / k, k, 1}, sizeof(dims));
	}
	modser_sg_node *node = begin(m, "Reshape", x);
	set_int(node, "allowzero", 1);
	set_ints(node, "re_shape", dims, 4);
	end(m, node, 1);
}

static void add_split(struct maker *m)
{
	modser_sg_tensor *x = any_tensor(m);
	const size_t axis = any(m, (size_t)x->ndim);
	const int64_t all = x->dims[axis];
	const int64_t first = (int64_t)any(m, (size_t)all + 1);
	const int64_t second = (int64_t)any(m, (size_t)(all - first) + 1);
	const int64_t sizes[] = {first, second, all - first - second};
	modser_sg_node *node = begin(m, "Split", x);

	set_int(node, "axis", axis);
	set_ints(node, "sizes", sizes, 3);
	end(m, node, 3);
}

static bool can_join(const modser_sg_tensor *x, const modser_sg_tensor *y, size_t axis)
{
	for (int i = 0; x->ndim == y->ndim && i < x->ndim; i++) {
		if ((size_t)i != axis && x->dims[i] != y->dims[i])
			return false;
	}
	return x->ndim == y->ndim;
}

static void add_concat(struct maker *m)
{
	modser_sg_tensor *x = any_tensor(m);
	const size_t axis = any(m, (size_t)x->ndim);
	modser_sg_node *node = begin(m, "Concat", x);
	size_t n = elements(x);

	for (size_t i = 0; i < 16; i++) {
		modser_sg_tensor *y = any_tensor(m);

		if (!can_join(x, y, axis) || n + elements(y) > MOST_ELEMENTS)
			continue;
		(void)modser_sg_node_add_input(node, y);
		n += elements(y);
	}
	set_int(node, "axis", axis);
	end(m, node, 1);
}

/* Constants of int64, which live as long as the graph. */
static void add_ints(struct maker *m, modser_sg_node *node, const int64_t *list,
		     size_t n)
{
	const int64_t dims = (int64_t)n;
	int64_t *own = m->ints[m->n_ints++];

	memcpy(own, list, n * sizeof(*list));
	(void)modser_sg_node_add_input(node,
				       net_constant(m->g, "int64", 1, &dims, own));
}

static void add_slice(struct maker *m)
{
	if (m->n_ints + 4 > NODES)
		return;
	modser_sg_tensor *x = any_tensor(m);
	const size_t axis = any(m, (size_t)x->ndim);
	const size_t all = (size_t)x->dims[axis];
	const int64_t begin_at = (int64_t)any(m, all + 1);
	const int64_t end_at = begin_at + (int64_t)any(m, all + 1);
	modser_sg_node *node = begin(m, "Slice", x);

	add_ints(m, node, &begin_at, 1);
	add_ints(m, node, &end_at, 1);
	add_ints(m, node, &(int64_t){(int64_t)axis}, 1);
	add_ints(m, node, &(int64_t){any(m, 4) == 0 ? 2 : 1}, 1);
	end(m, node, 1);
}

static void add_gather(struct maker *m)
{
	modser_sg_tensor *x = any_tensor(m);
	const size_t axis = any(m, (size_t)x->ndim);

	if (x->dims[axis] == 0 || m->n_ints == NODES)
		return;
	modser_sg_node *node = begin(m, "Gather", x);
	set_int(node, "axis", axis);
	add_ints(m, node,
		 &(int64_t){(int64_t)any(m, (size_t)x->dims[axis]) -
			    (int64_t)any(m, 2) * x->dims[axis]},
		 1);
	end(m, node, 1);
}

static void add_transpose(struct maker *m)
{
	static const int64_t orders[][4] = {{0, 2, 1, 3}, {0, 1, 3, 2}, {3, 0, 1, 2}};
	modser_sg_tensor *x = any_tensor(m);
	modser_sg_node *node = begin(m, "Transpose", x);

	if (x->ndim == 4)
		set_ints(node, "perm", orders[any(m, 3)], 4);
	end(m, node, 1);
}

static void add_convolution(struct maker *m)
{
	static const char *const pads[] = {"pad_h0", "pad_h1", "pad_w0", "pad_w1"};
	modser_sg_tensor *x = any_tensor(m);

	if (x->ndim != 4 || x->dims[1] > 24 || elements(x) == 0)
		return;
	const int64_t k = any(m, 2) == 0 ? 3 : 1;
	const int64_t dims[] = {1 + (int64_t)any(m, 6), x->dims[1], k, k};
	modser_sg_node *node = begin(m, "Convolution", x);
	(void)modser_sg_node_add_input(node,
				       net_constant(m->g, "float32", 4, dims, numbers));
	for (size_t i = 0; i < 2; i++)
		set_int(node, i == 0 ? "kernel_h" : "kernel_w", (size_t)k);
	for (size_t i = 0; i < 4; i++)
		set_int(node, pads[i], (size_t)k / 2);
	end(m, node, 1);
}

static void add_outputs(struct maker *m)
{
	for (size_t i = 1; i < m->n; i++) {
		if (any(m, 5) == 0 || i + 2 > m->n)
			(void)modser_graph_add_output(m->g, m->list[i]);
	}
	if (any(m, 4) == 0) /* twice */
		(void)modser_graph_add_output(m->g, m->list[m->n - 1]);
}

static void make(struct maker *m, uint64_t seed)
{
	static void (*const add[])(struct maker * m) = {
		add_unary,     add_unary,  add_binary,     add_reshape,
		add_split,     add_concat, add_concat,     add_slice,
		add_transpose, add_gather, add_convolution};

	*m = (struct maker){.g = modser_graph_create("any"), .seed = seed};
	for (size_t i = 0; i < 10; i++)
		(void)any(m, 2);
	add_input(m);
	add_input(m);
	for (size_t i = 0; i < NODES && m->n + 3 < MOST_TENSORS; i++)
		add[any(m, sizeof(add) / sizeof(add[0]))](m);
	add_outputs(m);
}

/* Each node with its engine, all tensors in memory of their own. */
static void compute(const modser_graph *g, void **at)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const modser_sg_node *node = g->nodes[i];
		const void *in[32];
		void *out[32];
		struct msd_claim claim = {0};

		cr_assert(node->n_inputs <= 32 && node->n_outputs <= 32);
		for (size_t k = 0; k < node->n_inputs; k++) {
			const modser_sg_tensor *t = node->inputs[k];

			in[k] = t->type == MODSER_TENSOR_CONST ? t->data : at[t->index];
		}
		if (msd_sg_node_is_given(node))
			continue;
		for (size_t k = 0; k < node->n_outputs; k++) {
			out[k] = malloc(bytes_of(node->outputs[k]) + 1);
			at[node->outputs[k]->index] = out[k];
		}
		cr_assert_eq(msd_claim_make(&claim, node, NULL), MSD_OK);
		cr_assert_eq(claim.by.engine->run(
				     claim.by.state,
				     &(struct msd_kernel_call){
					     .node = node, .in = in, .out = out},
				     NULL),
			     MSD_OK);
		msd_claim_release(&claim);
	}
}

/* Memory of exactly the size of an output, so that sanitizers see what lies beyond. */
struct made {
	void *at[MOST_TENSORS];
};

static void *make_output(void *ctx, size_t i, const modser_sg_tensor *t)
{
	struct made *made = ctx;

	made->at[i] = malloc(bytes_of(t) > 0 ? bytes_of(t) : 1);
	return made->at[i];
}

static void expect_outputs(const modser_graph *g, struct msd_plan *plan,
			   void *const *want, bool are_made, uint64_t seed)
{
	struct msd_plan_input in[2];
	struct made made = {{NULL}};
	const struct msd_plan_args args = {in, are_made ? make_output : NULL, &made};

	for (size_t i = 0; i < 2; i++) {
		const modser_sg_tensor *t = g->inputs[i];

		in[i] = (struct msd_plan_input){want[t->index], t->dims,
						(size_t)t->ndim, t->dtype};
	}
	cr_assert_eq(msd_plan_call(plan, &args, NULL), MSD_OK);
	for (size_t i = 0; i < g->n_outputs; i++) {
		cr_expect_eq(memcmp(msd_plan_output(plan, i),
				    want[g->outputs[i]->index],
				    bytes_of(g->outputs[i])),
			     0, "seed %d, output %zu", (int)seed, i);
		free(made.at[i]);
	}
}

/* How many nodes have nothing to do, and how many tensors lie in another one. */
static void count(const modser_graph *g, size_t *n_views, size_t *n_within)
{
	size_t *order = calloc(g->n_nodes + 1, sizeof(*order));
	size_t *last = calloc(g->n_tensors + 1, sizeof(*last));
	struct msd_views v;

	for (size_t i = 0; i < g->n_nodes; i++)
		order[i] = i;
	msd_memory_plan_find_last_reads(last, g, order);
	cr_assert_eq(msd_views_init(&v, g, order, last, NULL, NULL), MSD_OK);
	for (size_t i = 0; i < g->n_nodes; i++)
		*n_views += v.is_view[i];
	for (size_t i = 0; i < g->n_tensors; i++)
		*n_within += v.list[i].root != i;
	msd_views_finish(&v);
	free(order);
	free(last);
}

static void expect_all(enum msd_engine_word engine)
{
	size_t n_views = 0;
	size_t n_within = 0;

	msd_engine_choose(engine);
	for (size_t i = 0; i < MOST_ELEMENTS; i++)
		numbers[i] = (float)((i * 37) % 101) / 50 - 1;
	for (uint64_t seed = 0; seed < GRAPHS; seed++) {
		void *want[4 * MOST_TENSORS] = {NULL};
		struct msd_plan *plan = NULL;
		struct maker m;

		make(&m, seed);
		cr_assert_lt(m.g->n_tensors, 4u * MOST_TENSORS);
		for (size_t i = 0; i < 2; i++) {
			const modser_sg_tensor *x = m.g->inputs[i];

			want[x->index] = malloc(bytes_of(x));
			memcpy(want[x->index], numbers + i, bytes_of(x));
		}
		compute(m.g, want);
		cr_assert_eq(msd_plan_create(m.g, &plan, NULL), MSD_OK);
		expect_outputs(m.g, plan, want, true, seed);
		expect_outputs(m.g, plan, want, false, seed);
		count(m.g, &n_views, &n_within);
		msd_plan_destroy(plan);
		for (size_t i = 0; i < m.g->n_tensors; i++)
			free(want[i]);
		modser_graph_destroy(m.g);
	}
	cr_expect_gt(n_views, 3u * GRAPHS);
	cr_expect_gt(n_within, 5u * GRAPHS);
	cr_log_info("%zu views, %zu tensors within others\n", n_views, n_within);
	msd_pool_stop();
}

Test(any_views, the_reference_engine_gives_the_bits_of_node_after_node)
{
	expect_all(MSD_ENGINE_REFERENCE);
}

Test(any_views, the_native_engine_gives_the_bits_of_node_after_node)
{
	expect_all(MSD_ENGINE_NATIVE);
}

/*
 * Exporters write some layers as their formulas: Gelu by Erf, layer norm by means. Such
 * nodes of float32 become one node if nothing else reads the tensors between. Only for
 * an engine that computes fused operators: others keep the bits of the formula.
 *
 * Gelu: x (1 + erf(x / sqrt(2))) / 2, the products in any order; approximated:
 * x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
 * LayerNorm of the last axis: d = x - mean(x); d / sqrt(mean(d d) + eps) * scale +
 * shift.
 */
#include <math.h>
#include <stdlib.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/op/layer/product.h"
#include "graph/op/reduce/params.h"
#include "graph/op/reduce/reduce.h"
#include "graph/pass/fusion.h"

enum { MOST = 12 }; /* nodes of a formula */

/* Nodes of a formula, in order; the last one computes the result. */
struct formula {
	const struct msd_fusion *f;
	modser_sg_node *nodes[MOST];
	size_t n;
};

/* Note that @node belongs to it, if it is @op with two or, for one, one input. */
static bool accept(struct formula *m, modser_sg_node *node, const char *op, size_t n_in)
{
	if (node == NULL || !msd_links_is_op(node, op) || node->n_inputs != n_in ||
	    m->n == MOST || !m->f->job->host.may_make(node, MSD_FUSED_PRODUCT))
		return false;
	m->nodes[m->n++] = node;
	return true;
}

/* The same of the node that alone reads @t. */
static modser_sg_tensor *next(struct formula *m, const modser_sg_tensor *t,
			      const char *op, size_t n_in)
{
	modser_sg_node *node = t != NULL ? msd_links_only(&m->f->links, t) : NULL;

	return node != NULL && accept(m, node, op, n_in) ? node->outputs[0] : NULL;
}

static bool is_about(const modser_sg_tensor *t, double v)
{
	float is;

	return msd_fusion_scalar(t, &is) && fabs((double)is - v) <= fabs(v) * 1e-6;
}

/* The other operand of the node that produced @y, beside @t. */
static modser_sg_tensor *operand(const modser_sg_tensor *y, const modser_sg_tensor *t)
{
	return y != NULL ? msd_fusion_beside(y->producer, t) : NULL;
}

/* Note that the node of @t belongs to the formula, if nothing else reads @t. NULL: it
 * does not. */
static modser_sg_node *before(struct formula *m, const modser_sg_tensor *t,
			      const char *op)
{
	return t->producer != NULL && msd_links_only(&m->f->links, t) != NULL &&
			       accept(m, t->producer, op, 2)
		       ? t->producer
		       : NULL;
}

/* The tensor that @t is @factor times of. */
static modser_sg_tensor *part_of(struct formula *m, const modser_sg_tensor *t,
				 double factor)
{
	const modser_sg_node *node = before(m, t, "Mul");

	if (node == NULL)
		return NULL;
	if (is_about(node->inputs[1], factor))
		return node->inputs[0];
	return is_about(node->inputs[0], factor) ? node->inputs[1] : NULL;
}

/* x / sqrt(2), or times its reciprocal: x */
static modser_sg_tensor *scaled_by_root(struct formula *m, const modser_sg_tensor *t)
{
	const modser_sg_node *node = before(m, t, "Div");

	if (node != NULL)
		return is_about(node->inputs[1], M_SQRT2) ? node->inputs[0] : NULL;
	return part_of(m, t, M_SQRT1_2);
}

/* Is @t 0.044715 x^3? */
static bool is_part_of_cube(struct formula *m, const modser_sg_tensor *t,
			    const modser_sg_tensor *x)
{
	const modser_sg_tensor *cube = part_of(m, t, 0.044715);
	const modser_sg_node *node = cube != NULL ? before(m, cube, "Pow") : NULL;

	return node != NULL && node->inputs[0] == x && is_about(node->inputs[1], 3);
}

/* x + 0.044715 x^3: x */
static modser_sg_tensor *with_cube(struct formula *m, const modser_sg_tensor *t)
{
	const modser_sg_node *add = before(m, t, "Add");
	const size_t n = m->n;

	for (size_t i = 0; add != NULL && i < 2; i++) {
		m->n = n;
		if (is_part_of_cube(m, add->inputs[1 - i], add->inputs[i]))
			return add->inputs[i];
	}
	return NULL;
}

/* Is @t x / 2, by a node that only the formula reads? */
static bool is_half(struct formula *m, const modser_sg_tensor *t,
		    const modser_sg_tensor *x)
{
	return before(m, t, "Mul") != NULL && is_about(operand(t, x), 0.5);
}

/* From (1 + erf or tanh): times x and 1/2. */
static bool is_gelu_end(struct formula *m, const modser_sg_tensor *t,
			const modser_sg_tensor *x)
{
	const modser_sg_tensor *y = next(m, t, "Mul", 2);
	const modser_sg_tensor *other = operand(y, t);

	if (other == NULL)
		return false;
	if (other == x || is_about(other, 0.5)) {
		const modser_sg_tensor *last = next(m, y, "Mul", 2);
		const modser_sg_tensor *with = operand(last, y);

		return with != NULL && (other == x ? is_about(with, 0.5) : with == x);
	}
	modser_sg_node *end = m->nodes[--m->n];
	return is_half(m, other, x) && accept(m, end, "Mul", 2);
}

/* @node is Erf or, for the approximation, Tanh. */
static modser_sg_tensor *find_gelu(struct formula *m, modser_sg_node *node,
				   bool is_tanh)
{
	const modser_sg_tensor *in = node->inputs[0];
	modser_sg_tensor *x = NULL;

	if (is_tanh) {
		in = part_of(m, in, M_2_SQRTPI * M_SQRT1_2);
		x = in != NULL ? with_cube(m, in) : NULL;
	} else {
		x = scaled_by_root(m, in);
	}
	if (x == NULL || !accept(m, node, is_tanh ? "Tanh" : "Erf", 1))
		return NULL;
	const modser_sg_tensor *sum = next(m, node->outputs[0], "Add", 2);
	return sum != NULL && is_about(operand(sum, node->outputs[0]), 1) &&
			       is_gelu_end(m, sum, x)
		       ? x
		       : NULL;
}

/* The mean over the last axis, which stays with the extent 1: its output. */
static modser_sg_tensor *is_mean(struct formula *m, modser_sg_node *node,
				 const modser_sg_tensor *x)
{
	bool goes[MODSER_GRAPH_MAX_NDIM];

	if (!msd_links_is_op(node, "Reduction") || node->inputs[0] != x ||
	    x->ndim < 1 || msd_params_reduction(node).type != MSD_REDUCE_MEAN ||
	    msd_params_reduction(node).keepdim == 0 ||
	    msd_op_reduce_axes(node, goes) != 0 ||
	    !accept(m, node, "Reduction", node->n_inputs))
		return NULL;
	for (int i = 0; i < x->ndim; i++) {
		if (goes[i] != (i == x->ndim - 1))
			return NULL;
	}
	return node->outputs[0];
}

/* d d, as a power or a product, and d / ...: the readers of d. */
static modser_sg_tensor *find_square(struct formula *m, const modser_sg_tensor *d,
				     modser_sg_node **ret_div)
{
	const struct msd_readers *r = &m->f->links.readers[d->index];

	for (size_t i = 0; r->n == 2 && i < 2; i++) {
		modser_sg_node *square = r->first[i];

		*ret_div = r->first[1 - i];
		if (msd_links_is_op(square, "Pow") && square->inputs[0] == d &&
		    is_about(square->inputs[1], 2) && accept(m, square, "Pow", 2))
			return square->outputs[0];
	}
	return NULL;
}

struct norm {
	modser_sg_tensor *x, *scale, *shift;
	float eps;
};

/* A constant with an element for each one of the last axis of @x. */
static bool is_row(const modser_sg_tensor *t, const modser_sg_tensor *x)
{
	return msd_fusion_is_single(t) && t->ndim == 1 &&
	       t->dims[0] == x->dims[x->ndim - 1];
}

static bool find_norm(struct formula *m, modser_sg_node *sub, struct norm *ret)
{
	modser_sg_tensor *x = sub->inputs[0];
	const modser_sg_tensor *mean = sub->inputs[1];
	const modser_sg_tensor *d = sub->outputs[0];
	modser_sg_node *div = NULL;

	if (x == NULL || mean == NULL || !m->f->known.tensors[x->index] ||
	    msd_links_only(&m->f->links, mean) != sub ||
	    is_mean(m, mean->producer, x) == NULL || !accept(m, sub, "Sub", 2))
		return false;
	const modser_sg_tensor *square = find_square(m, d, &div);
	modser_sg_node *reduce =
		square != NULL ? msd_links_only(&m->f->links, square) : NULL;
	const modser_sg_tensor *variance =
		reduce != NULL ? is_mean(m, reduce, square) : NULL;
	const modser_sg_tensor *sum = next(m, variance, "Add", 2);
	const modser_sg_tensor *root = next(m, sum, "Sqrt", 1);
	if (root == NULL || !msd_fusion_scalar(operand(sum, variance), &ret->eps) ||
	    next(m, root, "Div", 2) == NULL || m->nodes[m->n - 1] != div ||
	    div->inputs[0] != d)
		return false;
	const modser_sg_tensor *scaled = next(m, div->outputs[0], "Mul", 2);
	ret->scale = operand(scaled, div->outputs[0]);
	ret->shift = operand(next(m, scaled, "Add", 2), scaled);
	ret->x = x;
	return ret->scale != NULL && is_row(ret->scale, x) && ret->shift != NULL &&
	       is_row(ret->shift, x);
}

static int compose_gelu(struct formula *m, modser_sg_node *node, size_t *ret_n)
{
	const bool is_tanh = msd_links_is_op(node, "Tanh");
	const modser_sg_attr how = {.kind = MODSER_ATTR_STR,
				    .as.s = is_tanh ? "tanh" : "none"};
	modser_sg_tensor *x = find_gelu(m, node, is_tanh);

	if (x == NULL)
		return 0;
	modser_sg_op *op = modser_sg_op_create(node->graph, "Gelu");
	if (op == NULL || modser_sg_op_set_param(op, "approximate", &how) != 0)
		return -1;
	++*ret_n;
	return msd_fusion_become(m->nodes, m->n, op, &x, 1);
}

static int compose(struct formula *m, modser_sg_node *node, size_t *ret_n)
{
	modser_graph *g = node->graph;
	struct norm norm = {0};

	if (msd_links_is_op(node, "Erf") || msd_links_is_op(node, "Tanh"))
		return compose_gelu(m, node, ret_n);
	if (!msd_links_is_op(node, "Sub") || !find_norm(m, node, &norm))
		return 0;
	modser_sg_op *op = modser_sg_op_create(g, "LayerNorm");
	if (op == NULL || msd_sg_set_float(op, "eps", norm.eps) != 0)
		return -1;
	++*ret_n;
	return msd_fusion_become(m->nodes, m->n, op,
				 (modser_sg_tensor *[]){norm.x, norm.scale, norm.shift},
				 3);
}

static int run(const struct msd_pass_job *job, size_t *ret_n)
{
	const size_t n_nodes = job->g->n_nodes;
	struct msd_fusion f;

	if (job->host.may_make == NULL)
		return 0;
	int result = msd_fusion_init(&f, job);
	for (size_t i = 0; result == 0 && i < n_nodes; i++) {
		modser_sg_node *node = job->g->nodes[job->order[i]];
		struct formula m = {.f = &f};

		result = compose(&m, node, ret_n);
	}
	msd_fusion_finish(&f);
	return result;
}

const struct msd_pass msd_pass_compose = {"layers made of their formulas", {NULL}, run};

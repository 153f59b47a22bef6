/*
 * Fuse what follows a convolution of float32 into it: a residual that is added, then
 * one activation, if nothing else reads the tensors between (FusedConvolution). Only
 * for an engine that computes this operator: its sums are rounded once where the
 * separate nodes round several times.
 *
 * A residual must have the convolution's shape in every run, so it is fused only where
 * shapes are known.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/op/window/window.h"
#include "graph/pass/known.h"
#include "graph/pass/pass.h"

enum { WEIGHTS = 1, BIAS, TERMS, RESIDUAL };

/* The readers of a tensor; an output of the graph counts as one more. */
struct readers {
	size_t n;
	modser_sg_node *first[2];
};

struct fusion {
	const struct msd_pass_job *job;
	struct msd_known known;
	struct readers *readers; /* by tensor */
};

/* A convolution and the nodes that it takes. */
struct found {
	modser_sg_node *conv;
	modser_sg_tensor *y; /* its output now */
	modser_sg_tensor *residual;
	enum msd_fused kind;
	float a, b;
	size_t n; /* nodes that it took */
};

static bool is_op(const modser_sg_node *node, const char *name)
{
	return node != NULL && node->op != NULL &&
	       strcmp(node->op->schema->name, name) == 0;
}

static bool is_single(const modser_sg_tensor *t)
{
	return t != NULL && t->type == MODSER_TENSOR_CONST && t->data != NULL &&
	       t->dtype.code == MSD_DT_FLOAT && t->dtype.bits == 32;
}

static bool is_convolution(const modser_sg_node *node)
{
	if (!is_op(node, "Convolution") && !is_op(node, "ScaledConvolution"))
		return false;
	return node->n_inputs > WEIGHTS && is_single(node->inputs[WEIGHTS]) &&
	       (node->n_inputs <= BIAS || node->inputs[BIAS] == NULL ||
		is_single(node->inputs[BIAS])) &&
	       modser_sg_op_int(node->op, "activation") == -1;
}

static const struct readers *readers_of(const struct fusion *f,
					const modser_sg_tensor *t)
{
	return &f->readers[t->index];
}

static modser_sg_node *only_reader(const struct fusion *f, const modser_sg_tensor *t)
{
	const struct readers *r = readers_of(f, t);

	return r->n == 1 ? r->first[0] : NULL;
}

static bool is_same_shape(const struct fusion *f, const modser_sg_tensor *a,
			  const modser_sg_tensor *b)
{
	return f->known.tensors[a->index] && f->known.tensors[b->index] &&
	       msd_dtype_eq(a->dtype, b->dtype) && a->ndim == b->ndim &&
	       memcmp(a->dims, b->dims, (size_t)a->ndim * sizeof(*a->dims)) == 0;
}

static bool may_take(const struct fusion *f, const modser_sg_node *node)
{
	return f->job->host.may_make(node, MSD_FUSED_CONVOLUTION);
}

static void take(struct found *found, modser_sg_node *node)
{
	modser_sg_tensor *y = node->outputs[0];

	msd_sg_take_out(node);
	found->y = y;
	found->n++;
}

static void find_residual(const struct fusion *f, struct found *found)
{
	modser_sg_node *add = only_reader(f, found->y);

	if (!is_op(add, "Add") || add->n_inputs != 2 || !may_take(f, add))
		return;
	modser_sg_tensor *other = add->inputs[add->inputs[0] == found->y ? 1 : 0];
	if (other == NULL || other == found->y || !is_same_shape(f, other, found->y) ||
	    !is_same_shape(f, add->outputs[0], found->y))
		return;
	found->residual = other;
	take(found, add);
}

/* A limit of a Clip: a constant, or its parameter. */
static bool limit(const modser_sg_node *clip, size_t i, const char *param, float *ret)
{
	const modser_sg_tensor *t = i < clip->n_inputs ? clip->inputs[i] : NULL;

	*ret = t == NULL ? modser_sg_op_float(clip->op, param) : 0;
	if (t != NULL && (!is_single(t) || t->bytes != sizeof(*ret)))
		return false;
	if (t != NULL)
		memcpy(ret, t->data, sizeof(*ret));
	return true;
}

static enum msd_fused function_of(const modser_sg_node *node, float *a, float *b)
{
	if (is_op(node, "ReLu")) {
		*a = modser_sg_op_float(node->op, "negative_slope");
		*b = INFINITY;
		return *a != 0 ? MSD_FUSED_LEAKY : MSD_FUSED_BOUNDS;
	}
	if (is_op(node, "Clip")) {
		return limit(node, 1, "min", a) && limit(node, 2, "max", b)
			       ? MSD_FUSED_BOUNDS
			       : MSD_FUSED_NONE;
	}
	if (is_op(node, "Sigmoid"))
		return MSD_FUSED_SIGMOID;
	if (is_op(node, "HardSwish")) {
		*a = modser_sg_op_float(node->op, "alpha");
		*b = modser_sg_op_float(node->op, "beta");
		return MSD_FUSED_HARD_SWISH;
	}
	return MSD_FUSED_NONE;
}

/* The output is read by Sigmoid, and by the Mul with its result. */
static bool find_silu(const struct fusion *f, struct found *found)
{
	const struct readers *r = readers_of(f, found->y);
	const size_t i = r->n == 2 && is_op(r->first[0], "Sigmoid") ? 0 : 1;
	modser_sg_node *sigmoid = r->n == 2 ? r->first[i] : NULL;
	modser_sg_node *mul = r->n == 2 ? r->first[1 - i] : NULL;

	if (!is_op(sigmoid, "Sigmoid") || !is_op(mul, "Mul") ||
	    only_reader(f, sigmoid->outputs[0]) != mul || !may_take(f, sigmoid) ||
	    !may_take(f, mul))
		return false;
	take(found, sigmoid);
	take(found, mul);
	found->kind = MSD_FUSED_SILU;
	return true;
}

static void find_function(const struct fusion *f, struct found *found)
{
	modser_sg_node *next = only_reader(f, found->y);

	if (find_silu(f, found) || next == NULL || next->n_outputs != 1)
		return;
	const enum msd_fused kind = function_of(next, &found->a, &found->b);
	if (kind == MSD_FUSED_NONE || next->inputs[0] != found->y || !may_take(f, next))
		return;
	found->kind = kind;
	take(found, next);
}

static int set_op(const struct found *found)
{
	modser_graph *g = found->conv->graph;
	const modser_sg_op *old = found->conv->op;
	modser_sg_op *op = modser_sg_op_create(g, MSD_FUSED_CONVOLUTION);
	const modser_sg_attr a = {.kind = MODSER_ATTR_FLOAT, .as.f = found->a};
	const modser_sg_attr b = {.kind = MODSER_ATTR_FLOAT, .as.f = found->b};

	if (op == NULL)
		return -1;
	for (size_t i = 0; i < old->schema->n_fields; i++) {
		if (modser_sg_op_set_param(op, old->schema->fields[i].name,
					   &old->params[i]) != 0)
			return -1;
	}
	if (modser_sg_op_set_int(op, "fused", found->kind) != 0 ||
	    modser_sg_op_set_param(op, "fused_a", &a) != 0 ||
	    modser_sg_op_set_param(op, "fused_b", &b) != 0)
		return -1;
	msd_sg_node_take_op(found->conv, op);
	return 0;
}

static int visit(const struct fusion *f, modser_sg_node *conv, size_t *ret_n)
{
	struct found found = {.conv = conv, .y = conv->outputs[0]};

	if (!may_take(f, conv))
		return 0;
	find_residual(f, &found);
	find_function(f, &found);
	if (found.n == 0)
		return 0;
	*ret_n += found.n;
	msd_sg_give_output(conv, 0, found.y);
	for (size_t i = conv->n_inputs; found.residual != NULL && i < RESIDUAL; i++) {
		if (modser_sg_node_add_input(conv, NULL) < 0)
			return -1;
	}
	if (found.residual != NULL &&
	    modser_sg_node_add_input(conv, found.residual) < 0)
		return -1;
	return set_op(&found);
}

static void count(struct fusion *f, modser_sg_node *node, modser_sg_tensor *const *list,
		  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == NULL)
			continue;
		struct readers *r = &f->readers[list[i]->index];

		if (r->n < 2)
			r->first[r->n] = node;
		r->n++;
	}
}

static int run(const struct msd_pass_job *job, size_t *ret_n)
{
	modser_graph *g = job->g;
	const size_t n_nodes = g->n_nodes;
	struct fusion f = {.job = job};
	int result = 0;

	if (job->host.may_make == NULL)
		return 0;
	f.readers = calloc(g->n_tensors + 1, sizeof(*f.readers));
	if (f.readers == NULL)
		return msd_sg_no_memory(g);
	result = msd_known_init(&f.known, job);
	for (size_t i = 0; result == 0 && i < n_nodes; i++) {
		modser_sg_node *node = g->nodes[job->order[i]];

		(void)msd_known_infer(&f.known, job, node);
		count(&f, node, node->inputs, node->n_inputs);
	}
	if (result == 0)
		count(&f, NULL, g->outputs, g->n_outputs);
	for (size_t i = 0; result == 0 && i < n_nodes; i++) {
		if (is_convolution(g->nodes[job->order[i]]))
			result = visit(&f, g->nodes[job->order[i]], ret_n);
	}
	msd_known_finish(&f.known);
	free(f.readers);
	return result;
}

const struct msd_pass msd_pass_fuse = {"nodes fused into convolutions",
				       MSD_FUSED_CONVOLUTION, run};

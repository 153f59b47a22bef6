/*
 * Fuse what follows a convolution or a product of float32 into it: the bias of a
 * product, a residual that is added, then one activation, if nothing else reads the
 * tensors between (FusedConvolution, FusedProduct). Only for an engine that computes
 * these operators: its sums are rounded once where the separate nodes round several
 * times.
 *
 * A residual must have the convolution's shape in every run, so it is fused only where
 * shapes are known.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/op/element/params.h"
#include "graph/op/layer/params.h"
#include "graph/op/layer/product.h"
#include "graph/op/window/params.h"
#include "graph/op/window/window.h"
#include "graph/pass/fusion.h"

enum { WEIGHTS = 1, BIAS };

/* A convolution or product, and the nodes that it takes. */
struct found {
	modser_sg_node *node;
	const char *made;       /* its operator then */
	size_t residual_at;     /* input of it */
	modser_sg_tensor *bias; /* of a product; NULL: as before */
	modser_sg_tensor *y;    /* its output now */
	modser_sg_tensor *residual;
	enum msd_fused kind;
	float a, b;
	size_t n; /* nodes that it took */
};

static bool is_convolution(const modser_sg_node *node)
{
	if (!msd_links_is_op(node, "Convolution") &&
	    !msd_links_is_op(node, "ScaledConvolution"))
		return false;
	return node->n_inputs > WEIGHTS &&
	       msd_fusion_is_single(node->inputs[WEIGHTS]) &&
	       (node->n_inputs <= BIAS || node->inputs[BIAS] == NULL ||
		msd_fusion_is_single(node->inputs[BIAS])) &&
	       msd_params_convolution(node).activation == -1;
}

/* A bias may be added to all rows: it has one axis. */
static bool is_bias(const modser_sg_node *product, bool is_turned,
		    const modser_sg_tensor *t)
{
	const modser_sg_tensor *b = product->inputs[WEIGHTS];

	return msd_fusion_is_single(t) && t->ndim == 1 &&
	       t->dims[0] == b->dims[is_turned ? 0 : 1];
}

static bool is_product(const modser_sg_node *node)
{
	const bool is_gemm = msd_links_is_op(node, "Gemm");

	if ((!is_gemm && !msd_links_is_op(node, "MatMul")) ||
	    node->n_inputs <= WEIGHTS || !msd_fusion_is_single(node->inputs[WEIGHTS]) ||
	    node->inputs[WEIGHTS]->ndim != 2)
		return false;
	if (!is_gemm)
		return node->n_inputs == 2;
	const struct msd_params_gemm p = msd_params_gemm(node);
	return p.alpha == 1 && p.beta == 1 && p.transA == 0 &&
	       (node->n_inputs == 2 || node->inputs[BIAS] == NULL ||
		is_bias(node, p.transB != 0, node->inputs[BIAS]));
}

static bool may_take(const struct msd_fusion *f, const struct found *found,
		     const modser_sg_node *node)
{
	return f->job->host.may_make(node, found->made);
}

static void take(struct found *found, modser_sg_node *node)
{
	modser_sg_tensor *y = node->outputs[0];

	msd_sg_merge(node, found->node);
	found->y = y;
	found->n++;
}

/* A Gemm has its bias as an input. */
static void find_bias(const struct msd_fusion *f, struct found *found)
{
	modser_sg_node *add = msd_links_only(&f->links, found->y);

	if (!msd_links_is_op(found->node, "MatMul") || !msd_links_is_op(add, "Add") ||
	    !may_take(f, found, add))
		return;
	modser_sg_tensor *other = msd_fusion_beside(add, found->y);
	if (other == NULL || !is_bias(found->node, false, other))
		return;
	found->bias = other;
	take(found, add);
}

static void find_residual(const struct msd_fusion *f, struct found *found)
{
	modser_sg_node *add = msd_links_only(&f->links, found->y);

	if (!msd_links_is_op(add, "Add") || !may_take(f, found, add))
		return;
	modser_sg_tensor *other = msd_fusion_beside(add, found->y);
	if (other == NULL || !msd_fusion_is_same_shape(f, other, found->y) ||
	    !msd_fusion_is_same_shape(f, add->outputs[0], found->y))
		return;
	found->residual = other;
	take(found, add);
}

/* A limit of a Clip: a constant, or its parameter. */
static bool limit(const modser_sg_node *clip, size_t i, float own, float *ret)
{
	const modser_sg_tensor *t = i < clip->n_inputs ? clip->inputs[i] : NULL;

	*ret = t == NULL ? own : 0;
	return t == NULL || msd_fusion_scalar(t, ret);
}

static enum msd_fused function_of(const modser_sg_node *node, float *a, float *b)
{
	if (msd_links_is_op(node, "ReLu")) {
		*a = msd_params_relu(node).negative_slope;
		*b = INFINITY;
		return *a != 0 ? MSD_FUSED_LEAKY : MSD_FUSED_BOUNDS;
	}
	if (msd_links_is_op(node, "Clip")) {
		const struct msd_params_clip p = msd_params_clip(node);

		return limit(node, 1, p.min, a) && limit(node, 2, p.max, b)
			       ? MSD_FUSED_BOUNDS
			       : MSD_FUSED_NONE;
	}
	if (msd_links_is_op(node, "Sigmoid"))
		return MSD_FUSED_SIGMOID;
	if (msd_links_is_op(node, "Tanh"))
		return MSD_FUSED_TANH;
	if (msd_links_is_op(node, "Gelu")) {
		const char *how = msd_params_gelu(node).approximate;

		return strcmp(how, "tanh") == 0 ? MSD_FUSED_GELU_TANH : MSD_FUSED_GELU;
	}
	if (msd_links_is_op(node, "HardSwish")) {
		*a = msd_params_hard_swish(node).alpha;
		*b = msd_params_hard_swish(node).beta;
		return MSD_FUSED_HARD_SWISH;
	}
	return MSD_FUSED_NONE;
}

/* The output is read by Sigmoid or Hardsigmoid, and by the Mul with its result. */
static bool find_silu(const struct msd_fusion *f, struct found *found)
{
	const struct msd_readers *r = &f->links.readers[found->y->index];
	const bool is_first = r->n == 2 && !msd_links_is_op(r->first[0], "Mul");
	modser_sg_node *gate = r->n == 2 ? r->first[is_first ? 0 : 1] : NULL;
	modser_sg_node *mul = r->n == 2 ? r->first[is_first ? 1 : 0] : NULL;
	const bool is_hard = msd_links_is_op(gate, "Hardsigmoid");

	if (gate == NULL || mul == NULL ||
	    (!is_hard && !msd_links_is_op(gate, "Sigmoid")) ||
	    !msd_links_is_op(mul, "Mul") ||
	    msd_links_only(&f->links, gate->outputs[0]) != mul ||
	    !may_take(f, found, gate) || !may_take(f, found, mul))
		return false;
	found->kind = is_hard ? MSD_FUSED_HARD_SWISH : MSD_FUSED_SILU;
	if (is_hard) {
		found->a = msd_params_hardsigmoid(gate).alpha;
		found->b = msd_params_hardsigmoid(gate).beta;
	}
	take(found, gate);
	take(found, mul);
	return true;
}

static void find_function(const struct msd_fusion *f, struct found *found)
{
	modser_sg_node *next = msd_links_only(&f->links, found->y);

	if (find_silu(f, found) || next == NULL || next->n_outputs != 1)
		return;
	const enum msd_fused kind = function_of(next, &found->a, &found->b);
	if (kind == MSD_FUSED_NONE || next->inputs[0] != found->y ||
	    !may_take(f, found, next))
		return;
	found->kind = kind;
	take(found, next);
}

static int set_op(const struct found *found)
{
	modser_sg_op *op = modser_sg_op_create(found->node->graph, found->made);

	if (op == NULL || msd_sg_copy_params(op, found->node->op) != 0 ||
	    modser_sg_op_set_int(op, "fused", found->kind) != 0 ||
	    msd_sg_set_float(op, "fused_a", found->a) != 0 ||
	    msd_sg_set_float(op, "fused_b", found->b) != 0)
		return -1;
	msd_sg_node_take_op(found->node, op);
	return 0;
}

static int add_input(modser_sg_node *node, size_t at, modser_sg_tensor *t)
{
	while (t != NULL && node->n_inputs < at) {
		if (modser_sg_node_add_input(node, NULL) < 0)
			return -1;
	}
	return t == NULL || modser_sg_node_add_input(node, t) >= 0 ? 0 : -1;
}

static int visit(const struct msd_fusion *f, struct found *found, size_t *ret_n)
{
	if (!may_take(f, found, found->node))
		return 0;
	find_bias(f, found);
	find_residual(f, found);
	find_function(f, found);
	if (found->n == 0)
		return 0;
	*ret_n += found->n;
	msd_sg_give_output(found->node, 0, found->y);
	if (add_input(found->node, BIAS, found->bias) != 0 ||
	    add_input(found->node, found->residual_at, found->residual) != 0)
		return -1;
	return set_op(found);
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
		struct found found = {.node = node};

		if (is_convolution(node)) {
			found.made = MSD_FUSED_CONVOLUTION;
			found.residual_at = MSD_FUSED_CONVOLUTION_RESIDUAL;
		} else if (is_product(node)) {
			found.made = MSD_FUSED_PRODUCT;
			found.residual_at = MSD_FUSED_PRODUCT_RESIDUAL;
		} else {
			continue;
		}
		found.y = node->outputs[0];
		result = visit(&f, &found, ret_n);
	}
	msd_fusion_finish(&f);
	return result;
}

const struct msd_pass msd_pass_fuse = {"nodes fused into convolutions and products",
				       {MSD_FUSED_CONVOLUTION, MSD_FUSED_PRODUCT},
				       run};

/*
 * Operators between DequantizeLinear and QuantizeLinear become integer operators of
 * the native engine: a convolution, MatMul or Gemm with constant weights, Add, Sub and
 * Mul, functions of one tensor as tables, and operators that only move elements. A
 * Relu or Clip becomes limits. A node of the file becomes the integer node, which
 * makes the QuantizeLinear's output; a DequantizeLinear that nothing reads any more
 * goes.
 *
 * The integer operators have no other engine: a node is changed only if the native
 * engine computes it with all shapes. Bytes differ from those of the separate nodes at
 * ties, by one. The pass runs before `fold`, which makes floats of quantized weights.
 */
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/op/window/window.h"
#include "graph/pass/links.h"
#include "graph/pass/pass.h"
#include "graph/pass/quantized.h"
#include "graph/pass/quantizer.h"

static int set_param(modser_sg_op *op, const char *name, float value)
{
	const modser_sg_attr a = {.kind = MODSER_ATTR_FLOAT, .as.f = value};

	return modser_sg_op_set_param(op, name, &a);
}

/* Parameters that both operators have stay. */
static modser_sg_op *make_op(const modser_sg_node *node,
			     const struct msd_quantizer_made *m)
{
	modser_sg_op *op = modser_sg_op_create(node->graph, m->op);

	for (size_t i = 0; op != NULL && i < op->schema->n_fields; i++) {
		const char *name = op->schema->fields[i].name;
		const modser_sg_attr *old = modser_sg_op_param(node->op, name);

		if (old != NULL && modser_sg_op_set_param(op, name, old) != 0)
			return NULL;
	}
	if (op == NULL ||
	    (m->param != NULL && modser_sg_op_set_int(op, m->param, m->value) != 0))
		return NULL;
	if (m->has_limits && (set_param(op, "low", m->tail.low) != 0 ||
			      set_param(op, "high", m->tail.high) != 0))
		return NULL;
	return op;
}

bool msd_quantizer_may(const struct msd_quantizer *q, const modser_sg_node *node,
		       const struct msd_quantizer_made *m)
{
	const struct msd_quantized_tail *t = &m->tail;

	for (size_t i = 0; i < t->n; i++) {
		if (!q->job->host.may_make(t->nodes[i], m->op))
			return false;
	}
	return q->job->host.may_make(node, m->op);
}

static void take_tail(modser_sg_node *node, const struct msd_quantized_tail *t)
{
	for (size_t i = 0; i < t->n; i++)
		msd_sg_merge(t->nodes[i], node);
	if (t->n > 0)
		msd_sg_give_output(node, 0, t->y);
}

/* Turn @node into the integer node. */
int msd_quantizer_make(struct msd_quantizer *q, modser_sg_node *node,
		       const struct msd_quantizer_made *m)
{
	size_t n = MSD_QUANTIZED_INPUTS;

	if (!msd_quantizer_may(q, node, m))
		return 0;
	modser_sg_op *op = make_op(node, m);
	if (op == NULL)
		return -1;
	while (n > 0 && m->inputs[n - 1] == NULL)
		n--;
	take_tail(node, &m->tail);
	msd_sg_node_take_op(node, op);
	node->n_inputs = 0;
	for (size_t i = 0; i < n; i++) {
		if (modser_sg_node_add_input(node, m->inputs[i]) < 0)
			return -1;
	}
	q->n++;
	return 0;
}

void msd_quantizer_operand(struct msd_quantizer_made *m, size_t at,
			   const struct msd_quantized *x)
{
	m->inputs[at] = x->x;
	m->inputs[at + 1] = x->scale;
	m->inputs[at + 2] = x->zero;
}

void msd_quantizer_end(struct msd_quantizer_made *m)
{
	m->has_limits = true;
	m->inputs[MSD_QUANTIZED_Y_SCALE] = m->tail.to.scale;
	m->inputs[MSD_QUANTIZED_Y_ZERO] =
		m->tail.to.scale != NULL ? m->tail.to.zero : NULL;
}

static int visit(struct msd_quantizer *q, modser_sg_node *node)
{
	static const char *const moves[] = {
		"Reshape",  "Flatten",      "Squeeze",     "Unsqueeze", "Transpose",
		"Permute",  "Slice",        "Split",       "Pad",       "Gather",
		"GatherND", "Tile",         "Expand",      "Noop",      "Reverse",
		"SwapAxis", "DepthToSpace", "SpaceToDepth"};

	if (node->op == NULL || node->n_inputs == 0 || node->n_outputs == 0 ||
	    node->outputs[0] == NULL)
		return 0;
	if (msd_links_is_op(node, "Convolution"))
		return msd_quantize_convolution(q, node);
	if (msd_links_is_op(node, "MatMul") || msd_links_is_op(node, "Gemm"))
		return msd_quantize_matrix(q, node);
	if (msd_links_is_op(node, "MatMulInteger"))
		return msd_quantize_dynamic(q, node);
	if (msd_links_is_op(node, "Add") || msd_links_is_op(node, "Sub") ||
	    msd_links_is_op(node, "Mul"))
		return msd_quantize_binary(q, node);
	if (msd_links_is_op(node, "QuantizeLinear") || msd_quantized_has_function(node))
		return msd_quantize_function(q, node);
	if (msd_links_is_op(node, "Shape"))
		return msd_quantize_shape(q, node);
	if (msd_links_is_op(node, "Pooling"))
		return msd_quantize_pooling(q, node);
	if (msd_links_is_op(node, "Concat"))
		return msd_quantize_move(q, node, true);
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		if (msd_links_is_op(node, moves[i]))
			return msd_quantize_move(q, node, false);
	}
	return 0;
}

/* Take out each DequantizeLinear that nothing reads any more. */
static int drop_unread(struct msd_quantizer *q)
{
	modser_graph *g = q->job->g;

	msd_links_finish(&q->links);
	if (msd_links_init(&q->links, q->job) != 0)
		return -1;
	for (size_t i = 0; i < g->n_nodes; i++) {
		modser_sg_node *node = g->nodes[i];

		if ((msd_links_is_op(node, "DequantizeLinear") ||
		     msd_links_is_op(node, "Mul")) &&
		    q->links.readers[node->outputs[0]->index].n == 0)
			msd_sg_take_out(node);
	}
	return 0;
}

static int run(const struct msd_pass_job *job, size_t *ret_n)
{
	const size_t n_nodes = job->g->n_nodes; /* new ones are finished */
	struct msd_quantizer q = {.job = job};
	int result = 0;

	if (job->host.may_make == NULL)
		return 0;
	result = msd_links_init(&q.links, job);
	for (size_t i = 0; result == 0 && i < n_nodes; i++)
		result = msd_quantize_hoist(&q, job->g->nodes[job->order[i]]);
	for (size_t i = 0; result == 0 && i < n_nodes; i++)
		result = visit(&q, job->g->nodes[job->order[i]]);
	if (result == 0 && q.n > 0)
		result = drop_unread(&q);
	msd_links_finish(&q.links);
	*ret_n += q.n;
	return result;
}

const struct msd_pass msd_pass_quantize = {"nodes computed in integers",
					   {MSD_QUANTIZED_CONVOLUTION,
					    MSD_QUANTIZED_MAT_MUL, MSD_QUANTIZED_BINARY,
					    MSD_QUANTIZED_TABLE, MSD_QUANTIZED_POOLING},
					   run};

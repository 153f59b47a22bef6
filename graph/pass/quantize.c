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
#include "graph/op/quantized/quantize.h"

#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/op/window/window.h"
#include "graph/pass/links.h"
#include "graph/pass/pass.h"
#include "graph/pass/quantizer.h"

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

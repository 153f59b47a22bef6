/*
 * Operators with subgraphs. Happy path: the subgraphs are found, their inputs and
 * outputs are counted against the node's, and shapes are left to the run. A mismatch
 * is an error of the node's graph.
 */
#include "graph/op/flow/flow.h"

#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/op/flow/params.h"
#include "graph/op/op.h"

static const char *const if_graphs[MSD_FLOW_GRAPHS] = {"then_branch", "else_branch"};
static const char *const body[MSD_FLOW_GRAPHS] = {"body"};

static bool is_op(const modser_sg_node *node, const char *name)
{
	return strcmp(node->op->schema->name, name) == 0;
}

static const char *const *names_of(const modser_sg_node *node)
{
	return is_op(node, "If") ? if_graphs : body;
}

modser_graph *msd_flow_graph(const modser_sg_node *node, size_t i)
{
	const char *name = names_of(node)[i];
	const modser_sg_attr *a =
		name != NULL ? modser_sg_op_attr(node->op, name) : NULL;

	return a != NULL && a->kind == MODSER_ATTR_GRAPH ? a->as.graph : NULL;
}

/* Inputs that are neither captured nor a Loop's count and condition. */
static size_t own_inputs(const modser_sg_node *node)
{
	const size_t n_captured = (size_t)msd_params_loop(node).captured;

	return node->n_inputs - n_captured - (is_op(node, "Loop") ? 2 : 0);
}

size_t msd_flow_states(const modser_sg_node *node)
{
	return is_op(node, "Loop")
		       ? own_inputs(node)
		       : own_inputs(node) -
				 (size_t)msd_params_scan(node).num_scan_inputs;
}

static int check_ends(const modser_sg_node *node, const modser_graph *g, size_t n_in,
		      size_t n_out)
{
	if (g->n_inputs != n_in) {
		return msd_infer_fail(node, "its graph takes %zu values, and gets %zu",
				      g->n_inputs, n_in);
	}
	if (g->n_outputs != n_out) {
		return msd_infer_fail(node, "its graph gives %zu values, expected %zu",
				      g->n_outputs, n_out);
	}
	return 0;
}

static int check_branches(const modser_sg_node *node)
{
	const modser_graph *g = msd_flow_graph(node, 0);
	const modser_graph *other = msd_flow_graph(node, 1);

	if (g->n_inputs > node->n_inputs - 1)
		return check_ends(node, g, node->n_inputs - 1, node->n_outputs);
	const size_t n_other = node->n_inputs - 1 - g->n_inputs;
	if (check_ends(node, g, g->n_inputs, node->n_outputs) != 0)
		return -1;
	return check_ends(node, other, n_other, node->n_outputs);
}

static int check_axes(const modser_sg_node *node, const char *param, size_t n_axes,
		      size_t n)
{
	if (n_axes == 0 || n_axes == n)
		return 0;
	return msd_infer_fail(node, "%s has %zu numbers, expected %zu", param, n_axes,
			      n);
}

static int check_scan(const modser_sg_node *node)
{
	const size_t n_in = node->n_inputs;
	const struct msd_params_scan p = msd_params_scan(node);
	const int64_t n_most = (int64_t)n_in - p.captured;
	const size_t n_sliced = (size_t)p.num_scan_inputs;

	if (n_sliced < 1)
		return msd_infer_fail(node, "it scans nothing");
	if (MSD_PARAM_RANGE(node, scan, num_scan_inputs, 0, n_most) != 0)
		return -1;
	const size_t n_states = msd_flow_states(node);
	if (node->n_outputs < n_states)
		return msd_infer_fail(node, "it has fewer outputs than values");
	const size_t n_out = node->n_outputs - n_states;
	if (check_axes(node, "scan_input_axes", p.scan_input_axes.n, n_sliced) != 0 ||
	    check_axes(node, "scan_input_directions", p.scan_input_directions.n,
		       n_sliced) != 0 ||
	    check_axes(node, "scan_output_axes", p.scan_output_axes.n, n_out) != 0 ||
	    check_axes(node, "scan_output_directions", p.scan_output_directions.n,
		       n_out) != 0)
		return -1;
	return check_ends(node, msd_flow_graph(node, 0), n_in, node->n_outputs);
}

int msd_flow_check(const modser_sg_node *node)
{
	for (size_t i = 0; i < MSD_FLOW_GRAPHS; i++) {
		const char *name = names_of(node)[i];

		if (name != NULL && msd_flow_graph(node, i) == NULL)
			return msd_infer_fail(node, "it has no graph \"%s\"", name);
	}
	if (is_op(node, "If"))
		return check_branches(node);
	const size_t least = is_op(node, "Loop") ? 2 : 0;
	if (node->n_inputs < least)
		return msd_infer_fail(node, "it has fewer than two inputs");
	if (MSD_PARAM_RANGE(node, loop, captured, 0,
			    (int64_t)(node->n_inputs - least)) != 0)
		return -1;
	if (is_op(node, "Scan"))
		return check_scan(node);
	if (node->n_outputs < msd_flow_states(node))
		return msd_infer_fail(node, "it has fewer outputs than values");
	return check_ends(node, msd_flow_graph(node, 0), node->n_inputs,
			  node->n_outputs + 1);
}

/* Shapes are known only in a run. The subgraph gives the dtypes of the outputs as far
 * as the file does. A Loop's condition precedes them. */
static int infer(modser_sg_node *node)
{
	const size_t first = is_op(node, "Loop") ? 1 : 0;

	if (msd_flow_check(node) != 0)
		return -1;
	for (size_t i = 0; i < node->n_outputs; i++) {
		const modser_sg_tensor *t = msd_flow_graph(node, 0)->outputs[first + i];

		if (t->has_dtype)
			msd_infer_dtype(node, i, t->dtype);
	}
	return MSD_INFER_LATER;
}

/* An If without inputs of its subgraphs has only the condition. */
const modser_sg_op_schema msd_op_if_else = {
	.name = "If",
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	.infer = infer,
};

const modser_sg_op_schema msd_op_loop = {
	.name = "Loop",
	OP_PARAMS(MSD_PARAMS_LOOP),
	OP_IN(0, MODSER_MANY),
	.optional_in = 3,
	OP_OUT(1, MODSER_MANY),
	.infer = infer,
};

const modser_sg_op_schema msd_op_scan = {
	.name = "Scan",
	OP_PARAMS(MSD_PARAMS_SCAN),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	.infer = infer,
};

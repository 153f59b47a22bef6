/* Nodes with subgraphs. A captured tensor is not written as an input: ONNX finds it
 * by its name in the enclosing graph. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/emit.h"
#include "graph/serializer/onnx/out.h"
#include "graph/serializer/onnx/store.h"

/* A subgraph of a node. */
struct within {
	const char *name;
	size_t first; /* its input that is the node's input `from` */
	size_t from;
	size_t n_given; /* number of captured inputs, the last ones */
};

/* Take the dtype from the node's input, because the file need not give it; for a
 * captured tensor the shape, too. */
static int tell(modser_sg_tensor *t, const modser_sg_tensor *outer, bool is_captured)
{
	if (outer->has_dtype)
		msd_sg_tensor_take_dtype(t, outer->dtype);
	return is_captured && outer->ndim >= 0
		       ? modser_sg_tensor_set_dims(t, outer->dims, (size_t)outer->ndim)
		       : 0;
}

static int tell_all(const struct onnx_out *o, struct onnx_emit *e,
		    const struct within *w)
{
	for (size_t i = w->first; i < e->g->n_inputs; i++) {
		const size_t from = w->from + i - w->first;
		const modser_sg_tensor *outer = modser_sg_node_input(o->node, from);
		const bool is_captured = i + w->n_given >= e->g->n_inputs;

		if (outer == NULL)
			continue;
		if (tell(e->g->inputs[i], outer, is_captured) != 0)
			return -1;
		if (is_captured)
			e->given[i] = onnx_out_input(o, from);
	}
	return 0;
}

static int put_graph(const struct onnx_out *o, Onnx__NodeProto *node,
		     const struct within *w)
{
	modser_graph *g = modser_sg_op_attr(o->op, w->name)->as.graph;
	Onnx__GraphProto *message = onnx_emit_alloc(o->e, sizeof(*message));
	struct onnx_emit *e = onnx_emit_within(o->e, g);

	if (message == NULL || e == NULL)
		return 0; /* checked at the end */
	e->given = onnx_emit_alloc(o->e, (g->n_inputs + 1) * sizeof(*e->given));
	if (e->given == NULL)
		return 0;
	if (tell_all(o, e, w) != 0 || onnx_store_graph(e, message) != 0) {
		return msd_sg_fail(o->e->g, g->diag.code, "node %zu \"%s\", %s: %s",
				   o->node->index, o->node->name, o->op->schema->name,
				   modser_graph_error(g));
	}
	onnx_emit_graph(o->e, node, w->name, message);
	return 0;
}

/* Write the node with its first @n inputs: the rest are captured. */
static Onnx__NodeProto *put_node(const struct onnx_out *o, size_t n)
{
	Onnx__NodeProto *node =
		onnx_emit_node(o->e, o->op->schema->name, o->node->name);

	for (size_t i = 0; i < n; i++)
		onnx_emit_in(o->e, node, onnx_out_input(o, i));
	for (size_t i = 0; i < o->node->n_outputs; i++)
		onnx_emit_out(o->e, node, onnx_out_output(o, i));
	return node;
}

/* True if the subgraphs exist and match the node. Inference checks this first. */
static bool is_whole(const struct onnx_out *o)
{
	modser_sg_node *node = o->e->g->nodes[o->node->index];

	return o->op->schema->infer(node) >= 0;
}

static int put_branches(const struct onnx_out *o)
{
	const modser_graph *then = modser_sg_op_attr(o->op, "then_branch")->as.graph;
	const modser_graph *other = modser_sg_op_attr(o->op, "else_branch")->as.graph;
	const struct within first = {"then_branch", 0, 1, then->n_inputs};
	const struct within second = {"else_branch", 0, 1 + then->n_inputs,
				      other->n_inputs};
	Onnx__NodeProto *node = put_node(o, 1);

	if (put_graph(o, node, &first) != 0)
		return -1;
	return put_graph(o, node, &second);
}

static int store_if(const struct onnx_out *o)
{
	return is_whole(o) ? put_branches(o) : -1;
}

static int store_body(const struct onnx_out *o, Onnx__NodeProto *node, size_t first)
{
	const size_t n_captured = (size_t)modser_sg_op_int(o->op, "captured");
	const struct within body = {"body", first, first, n_captured};

	return put_graph(o, node, &body);
}

static size_t n_own(const struct onnx_out *o)
{
	return o->node->n_inputs - (size_t)modser_sg_op_int(o->op, "captured");
}

/* A Loop's body gets the iteration number and the condition. */
static int store_loop(const struct onnx_out *o)
{
	return is_whole(o) ? store_body(o, put_node(o, n_own(o)), 2) : -1;
}

static int put_scan(const struct onnx_out *o)
{
	static const char *const lists[] = {"scan_input_axes", "scan_input_directions",
					    "scan_output_axes",
					    "scan_output_directions"};
	Onnx__NodeProto *node = put_node(o, n_own(o));

	onnx_emit_int(o->e, node, "num_scan_inputs",
		      modser_sg_op_int(o->op, "num_scan_inputs"));
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const modser_sg_attr *a = modser_sg_op_param(o->op, lists[i]);

		if (a->n > 0)
			onnx_emit_ints(o->e, node, lists[i], a->as.ints, a->n);
	}
	return store_body(o, node, 0);
}

static int store_scan(const struct onnx_out *o)
{
	return is_whole(o) ? put_scan(o) : -1;
}

const struct onnx_form onnx_forms_flow[] = {
	{"If", store_if},
	{"Loop", store_loop},
	{"Scan", store_scan},
	{0},
};

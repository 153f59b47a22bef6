/* Nodes with subgraphs. A subgraph becomes an attribute of the node's operator.
 * Tensors that it captures from enclosing graphs become inputs of both. */
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/read.h"
#include "graph/serializer/onnx/rows/row.h"

/* Read graph @p into @graph, which has no parent yet. */
static int read_into(struct onnx_node *n, const Onnx__GraphProto *p,
		     modser_graph *graph, size_t *ret_captured)
{
	struct onnx_load within = {.g = graph,
				   .functions = n->l->functions,
				   .file = n->l->file,
				   .external = n->l->external,
				   .imports = n->l->imports,
				   .opset = n->l->opset,
				   .outer = n->l,
				   .left = n->l->left,
				   .depth = n->l->depth + 1};
	int result = onnx_load_graph(&within, p);

	if (result != 0) {
		result = msd_sg_fail(n->l->g, graph->diag.code,
				     "node %zu \"%s\", %s: %s", n->index,
				     onnx_text(n->proto->name), n->proto->op_type,
				     modser_graph_error(graph));
	}
	for (size_t i = 0; result == 0 && i < within.n_captured; i++) {
		if (modser_sg_node_add_input(n->node, within.captured[i]) < 0)
			result = -1;
	}
	*ret_captured = within.n_captured;
	msd_names_finish(&within.names);
	free(within.captured);
	return result;
}

static int load_graph(struct onnx_node *n, const char *name, size_t *ret_captured)
{
	const Onnx__AttributeProto *a = onnx_attr(n, name);
	modser_sg_attr value = {.kind = MODSER_ATTR_GRAPH};

	if (a == NULL || a->g == NULL)
		return onnx_fail(n, "it has no graph \"%s\"", name);
	modser_graph *graph = modser_graph_create(onnx_text(a->g->name));
	if (graph == NULL)
		return msd_sg_no_memory(n->l->g);
	value.as.graph = graph;
	if (read_into(n, a->g, graph, ret_captured) != 0 ||
	    modser_sg_op_add_attr(n->op, name, &value) != 0) {
		modser_graph_destroy(graph);
		return -1;
	}
	return 0;
}

static int load_if(struct onnx_node *n)
{
	size_t n_captured = 0;

	if (load_graph(n, "then_branch", &n_captured) != 0)
		return -1;
	return load_graph(n, "else_branch", &n_captured);
}

static int load_body(struct onnx_node *n)
{
	size_t n_captured = 0;

	if (load_graph(n, "body", &n_captured) != 0)
		return -1;
	return onnx_set_int(n, "captured", (int64_t)n_captured);
}

const struct onnx_row onnx_rows_flow[] = {
	{"If", 1, "If", "-then_branch -else_branch", load_if},
	{"Loop", 1, "Loop", "-body", load_body},
	{"Scan", 9, "Scan",
	 "-body num_scan_inputs! scan_input_axes scan_input_directions "
	 "scan_output_axes scan_output_directions",
	 load_body},
	{0},
};

/* modser_graph_check(): does a graph hold together? */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/order.h"

static int bad_node(const modser_node *node, const char *text)
{
	return msd_sg_fail(node->graph, MSD_BAD_ARTIFACT, "node %zu \"%s\"%s%s: %s",
			   node->index, node->name, node->op != NULL ? ", " : "",
			   node->op != NULL ? node->op->schema->name : "", text);
}

static int bad_tensor(const modser_tensor *t, const char *text)
{
	return msd_sg_fail(t->graph, MSD_BAD_ARTIFACT, "tensor %zu \"%s\": %s",
			   t->index, t->name, text);
}

static int check_count(const modser_node *node, const char *what, size_t n, size_t min,
		       size_t max)
{
	char text[96];

	if (n >= min && (n <= max || max == MODSER_MANY))
		return 0;
	(void)snprintf(text, sizeof(text), "it has %zu %s, expected %s%zu", n, what,
		       min == max ? ""
		       : n < min  ? "at least "
				  : "at most ",
		       n < min ? min : max);
	return bad_node(node, text);
}

static bool is_op(const modser_node *node, const char *name)
{
	return strcmp(node->op->schema->name, name) == 0;
}

static int check_attrs(modser_graph *g, const struct msd_sg_attrs *attrs)
{
	for (size_t i = 0; i < attrs->n; i++) {
		const modser_attr *a = &attrs->items[i].value;

		if (a->kind == MODSER_ATTR_GRAPH &&
		    modser_graph_check(a->as.graph) != 0)
			return msd_sg_fail(g, a->as.graph->diag.code,
					   "attribute \"%s\": %s", attrs->items[i].name,
					   modser_graph_error(a->as.graph));
	}
	return 0;
}

static int check_outputs(const modser_node *node)
{
	for (size_t k = 0; k < node->n_outputs; k++) {
		const modser_tensor *t = node->outputs[k];

		if (t == NULL)
			continue; /* one that nobody asked for */
		const bool is_const = t->type == MODSER_TENSOR_CONST;
		if (t->producer != node)
			return bad_tensor(t, "two nodes produce it");
		for (size_t i = 0; i < k; i++)
			if (node->outputs[i] == t)
				return bad_tensor(t, "a node produces it twice");
		if (is_const != is_op(node, "Const"))
			return bad_tensor(t, is_const
						     ? "a constant that a node computes"
						     : "a Const's output that is no "
						       "constant");
	}
	return 0;
}

static int check_node(const modser_node *node)
{
	const modser_op_schema *s = node->op != NULL ? node->op->schema : NULL;

	if (s == NULL)
		return bad_node(node, "it has no operator");
	if (check_count(node, "inputs", node->n_inputs, s->min_in, s->max_in) != 0 ||
	    check_count(node, "outputs", node->n_outputs, s->min_out, s->max_out) != 0)
		return -1;
	for (size_t k = 0; k < node->n_inputs && k < s->min_in; k++)
		if (node->inputs[k] == NULL)
			return bad_node(node, "an input that it needs is missing");
	if (check_outputs(node) != 0)
		return -1;
	return check_attrs(node->graph, &node->op->attrs);
}

static int check_tensor(const modser_tensor *t)
{
	uint64_t bytes;
	char text[128];

	if (t->producer == NULL)
		return bad_tensor(t, "no node produces it");
	if (t->type != MODSER_TENSOR_CONST)
		return 0;
	if (!msd_sg_tensor_bytes(t, &bytes))
		return bad_tensor(t, "a constant without a known shape, or too large");
	if (bytes != t->bytes) {
		(void)snprintf(text, sizeof(text),
			       "it has %" PRIu64 " bytes, and its shape %" PRIu64,
			       t->bytes, bytes);
		return bad_tensor(t, text);
	}
	if (t->data == NULL && !t->has_location && bytes > 0)
		return bad_tensor(t, "a constant whose bytes are missing");
	return 0;
}

static int check_ends(modser_graph *g)
{
	if (g->n_outputs == 0)
		return msd_sg_fail(g, MSD_BAD_ARTIFACT, "the graph has no output");
	for (size_t i = 0; i < g->n_inputs; i++) {
		const modser_tensor *t = g->inputs[i];

		if (!is_op(t->producer, "InputOp"))
			return bad_tensor(t, "an input that a node computes");
		for (size_t k = 0; k < i; k++)
			if (g->inputs[k] == t)
				return bad_tensor(t, "it is an input twice");
	}
	return 0;
}

int modser_graph_check(modser_graph *graph)
{
	size_t *order;
	int result = check_attrs(graph, &graph->attrs);

	for (size_t i = 0; result == 0 && i < graph->n_nodes; i++)
		result = check_node(graph->nodes[i]);
	for (size_t i = 0; result == 0 && i < graph->n_tensors; i++)
		result = check_tensor(graph->tensors[i]);
	if (result == 0)
		result = check_ends(graph);
	if (result != 0)
		return result;
	order = calloc(graph->n_nodes + 1, sizeof(*order));
	if (order == NULL)
		return msd_sg_no_memory(graph);
	result = msd_sg_order(graph, order);
	free(order);
	return result;
}

/*
 * modser_graph_check(): check that a graph is consistent. Operators have the right
 * number of inputs and outputs. Each tensor has one producer, constants have their
 * bytes, and the nodes can be ordered. Subgraphs in attributes are checked
 * recursively. The error names the first faulty node or tensor.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/order.h"

static int bad_node(const modser_sg_node *node, const char *text)
{
	return msd_sg_fail(node->graph, MSD_BAD_ARTIFACT, "node %zu \"%s\"%s%s: %s",
			   node->number, node->name, node->op != NULL ? ", " : "",
			   node->op != NULL ? node->op->schema->name : "", text);
}

static int bad_tensor(const modser_sg_tensor *t, const char *text)
{
	return msd_sg_fail(t->graph, MSD_BAD_ARTIFACT, "tensor %zu \"%s\": %s",
			   t->index, t->name, text);
}

static int check_count(const modser_sg_node *node, const char *what, size_t n,
		       size_t min, size_t max)
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

static bool is_op(const modser_sg_node *node, const char *name)
{
	return strcmp(node->op->schema->name, name) == 0;
}

static int check_attrs(modser_graph *g, const struct msd_sg_attrs *attrs)
{
	for (size_t i = 0; i < attrs->n; i++) {
		const modser_sg_attr *a = &attrs->items[i].value;

		if (a->kind == MODSER_ATTR_GRAPH &&
		    modser_graph_check(a->as.graph) != 0) {
			return msd_sg_fail(g, a->as.graph->diag.code,
					   "attribute \"%s\": %s", attrs->items[i].name,
					   modser_graph_error(a->as.graph));
		}
	}
	return 0;
}

/* @seen marks each tensor that was visited. */
static int check_outputs(const modser_sg_node *node, bool *seen)
{
	for (size_t k = 0; k < node->n_outputs; k++) {
		const modser_sg_tensor *t = node->outputs[k];

		if (t == NULL)
			continue; /* not requested */
		const bool is_const = t->type == MODSER_TENSOR_CONST;
		if (t->producer != node)
			return bad_tensor(t, "two nodes produce it");
		if (t->type == MODSER_TENSOR_INPUT && !is_op(node, "InputOp")) {
			return bad_tensor(t,
					  "its type is INPUT, and a node computes it");
		}
		if (seen[t->index])
			return bad_tensor(t, "a node produces it twice");
		seen[t->index] = true;
		if (is_const != is_op(node, "Const")) {
			return bad_tensor(
				t, is_const
					   ? "a constant that a node computes"
					   : "the output of a Const is not a constant");
		}
	}
	return 0;
}

int msd_sg_check_ends(const modser_sg_node *node)
{
	const modser_sg_op_schema *s = node->op->schema;

	if (check_count(node, "inputs", node->n_inputs, s->min_in, s->max_in) != 0 ||
	    check_count(node, "outputs", node->n_outputs, s->min_out, s->max_out) != 0)
		return -1;
	for (size_t k = 0; k < node->n_inputs && k < s->min_in; k++) {
		if (node->inputs[k] == NULL)
			return bad_node(node, "an input that it needs is missing");
	}
	/* An operator with any number of outputs may leave out each of them. */
	for (size_t k = 0; s->max_out != MODSER_MANY && k < s->min_out; k++) {
		if (node->outputs[k] == NULL)
			return bad_node(node, "an output that it must have is missing");
	}
	return 0;
}

static int check_node(const modser_sg_node *node, bool *seen)
{
	if (node->op == NULL)
		return bad_node(node, "it has no operator");
	if (msd_sg_check_ends(node) != 0 || check_outputs(node, seen) != 0)
		return -1;
	return check_attrs(node->graph, &node->op->attrs);
}

static int check_tensor(const modser_sg_tensor *t)
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
	if (t->data == NULL && !t->has_location && !t->is_stripped && bytes > 0)
		return bad_tensor(t, "a constant whose bytes are missing");
	return 0;
}

/* A tensor that a caller provides and a node reads must be an input of the graph.
 * @seen marks these inputs. No caller provides any other tensor. */
static int check_given(modser_sg_tensor *const *read, size_t n, const bool *seen)
{
	for (size_t i = 0; i < n; i++) {
		if (read[i] != NULL && is_op(read[i]->producer, "InputOp") &&
		    !seen[read[i]->index]) {
			return bad_tensor(read[i], "an input that the graph does not "
						   "have among its inputs");
		}
	}
	return 0;
}

static int check_ends(modser_graph *g, bool *seen)
{
	if (g->n_outputs == 0)
		return msd_sg_fail(g, MSD_BAD_ARTIFACT, "the graph has no output");
	for (size_t i = 0; i < g->n_tensors; i++)
		seen[i] = false;
	for (size_t i = 0; i < g->n_inputs; i++) {
		const modser_sg_tensor *t = g->inputs[i];

		if (!is_op(t->producer, "InputOp"))
			return bad_tensor(t, "an input that a node computes");
		if (seen[t->index])
			return bad_tensor(t, "it is an input twice");
		seen[t->index] = true;
	}
	for (size_t i = 0; i < g->n_nodes; i++) {
		if (check_given(g->nodes[i]->inputs, g->nodes[i]->n_inputs, seen) != 0)
			return -1;
	}
	return check_given(g->outputs, g->n_outputs, seen);
}

static int check_all(modser_graph *g, bool *seen, size_t *order)
{
	if (seen == NULL || order == NULL)
		return msd_sg_no_memory(g);
	if (check_attrs(g, &g->attrs) != 0)
		return -1;
	for (size_t i = 0; i < g->n_nodes; i++) {
		if (check_node(g->nodes[i], seen) != 0)
			return -1;
	}
	for (size_t i = 0; i < g->n_tensors; i++) {
		if (check_tensor(g->tensors[i]) != 0)
			return -1;
	}
	if (check_ends(g, seen) != 0)
		return -1;
	return msd_sg_order(g, order);
}

int modser_graph_check(modser_graph *graph)
{
	if (graph == NULL)
		return msd_sg_null(NULL, "graph");
	bool *seen = calloc(graph->n_tensors + 1, sizeof(*seen));
	size_t *order = calloc(graph->n_nodes + 1, sizeof(*order));
	int result = check_all(graph, seen, order);

	free(seen);
	free(order);
	return result;
}

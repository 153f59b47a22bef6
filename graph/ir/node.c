/*
 * A node of a graph: created by name, then its operator, inputs and outputs are set.
 * All must belong to the same graph. A call that fails stores its error text in the
 * graph.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "proto/base/grow.h"

modser_sg_node *modser_sg_node_create(modser_graph *graph, const char *name)
{
	if (graph == NULL || name == NULL) {
		(void)msd_sg_null(graph, "the name of a node");
		return NULL;
	}
	if (!msd_sg_is_name(name)) {
		(void)msd_sg_fail(graph, MSD_BAD_ARGUMENT,
				  "node %zu: its name is not UTF-8", graph->n_nodes);
		return NULL;
	}
	modser_sg_node *node = calloc(1, sizeof(*node));
	if (node == NULL || !msd_grow(&graph->nodes, graph->n_nodes, sizeof(node)))
		goto fail;
	node->graph = graph;
	node->index = node->number = graph->n_nodes;
	node->name = msd_sg_copy(name, strlen(name));
	if (node->name == NULL)
		goto fail;
	graph->nodes[graph->n_nodes++] = node;
	return node;
fail:
	msd_sg_node_destroy(node);
	(void)msd_sg_no_memory(graph);
	return NULL;
}

void msd_sg_node_destroy(modser_sg_node *node)
{
	if (node == NULL)
		return;
	free(node->name);
	free(node->inputs);
	free(node->outputs);
	for (size_t i = 0; i < node->n_merged; i++)
		free(node->merged[i].name);
	free(node->merged);
	free(node);
}

void msd_sg_node_take_op(modser_sg_node *node, modser_sg_op *op)
{
	if (node->op != NULL)
		node->op->node = NULL;
	node->op = op;
	if (op != NULL)
		op->node = node;
}

int modser_sg_node_set_op(modser_sg_node *node, modser_sg_op *op)
{
	if (node == NULL)
		return msd_sg_null(NULL, "node");
	if (op != NULL && op->graph != node->graph) {
		return msd_sg_fail(node->graph, MSD_BAD_ARGUMENT,
				   "node %zu \"%s\": operator %s is another graph's",
				   node->number, node->name, op->schema->name);
	}
	if (op != NULL && op->node != NULL && op->node != node) {
		return msd_sg_fail(node->graph, MSD_BAD_ARGUMENT,
				   "node %zu \"%s\": operator %s is that of node %zu "
				   "\"%s\" already",
				   node->number, node->name, op->schema->name,
				   op->node->number, op->node->name);
	}
	msd_sg_node_take_op(node, op);
	return 0;
}

static int add_tensor(modser_sg_node *node, modser_sg_tensor ***list, size_t *n,
		      modser_sg_tensor *tensor)
{
	if (tensor != NULL && tensor->graph != node->graph) {
		return msd_sg_fail(node->graph, MSD_BAD_ARGUMENT,
				   "node %zu \"%s\": tensor \"%s\" is another graph's",
				   node->number, node->name, tensor->name);
	}
	if (*n >= INT_MAX || !msd_grow(list, *n, sizeof(**list)))
		return msd_sg_no_memory(node->graph);
	(*list)[*n] = tensor;
	return (int)(*n)++;
}

int modser_sg_node_add_input(modser_sg_node *node, modser_sg_tensor *tensor)
{
	if (node == NULL)
		return msd_sg_null(NULL, "node");
	return add_tensor(node, &node->inputs, &node->n_inputs, tensor);
}

int modser_sg_node_add_output(modser_sg_node *node, modser_sg_tensor *tensor)
{
	if (node == NULL)
		return msd_sg_null(NULL, "node");
	int number = add_tensor(node, &node->outputs, &node->n_outputs, tensor);

	if (number >= 0 && tensor != NULL && tensor->producer == NULL)
		tensor->producer = node;
	return number;
}

const char *modser_sg_node_name(const modser_sg_node *node)
{
	if (node == NULL)
		return "";
	return node->name;
}

modser_graph *modser_sg_node_graph(const modser_sg_node *node)
{
	if (node == NULL)
		return NULL;
	return node->graph;
}

size_t modser_sg_node_index(const modser_sg_node *node)
{
	if (node == NULL)
		return 0;
	return node->index;
}

modser_sg_op *modser_sg_node_op(const modser_sg_node *node)
{
	if (node == NULL)
		return NULL;
	return node->op;
}

size_t modser_sg_node_input_count(const modser_sg_node *node)
{
	if (node == NULL)
		return 0;
	return node->n_inputs;
}

size_t modser_sg_node_output_count(const modser_sg_node *node)
{
	if (node == NULL)
		return 0;
	return node->n_outputs;
}

modser_sg_tensor *modser_sg_node_input(const modser_sg_node *node, size_t i)
{
	if (node == NULL)
		return NULL;
	return i < node->n_inputs ? node->inputs[i] : NULL;
}

modser_sg_tensor *modser_sg_node_output(const modser_sg_node *node, size_t i)
{
	if (node == NULL)
		return NULL;
	return i < node->n_outputs ? node->outputs[i] : NULL;
}

bool msd_sg_node_is_given(const modser_sg_node *node)
{
	const char *op = node->op != NULL ? node->op->schema->name : "";

	return strcmp(op, "Const") == 0 || strcmp(op, "InputOp") == 0;
}

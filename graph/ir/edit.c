/* Remove nodes and tensors of a graph, and turn computed tensors into constants. */
#include "graph/ir/edit.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "proto/base/grow.h"

void msd_sg_take_out(modser_sg_node *node)
{
	for (size_t i = 0; i < node->n_outputs; i++) {
		if (node->outputs[i] != NULL && node->outputs[i]->producer == node)
			node->outputs[i]->producer = NULL;
	}
	msd_sg_node_take_op(node, NULL);
	node->n_inputs = node->n_outputs = 0;
}

static void note_merged(modser_sg_node *into, char *name, const char *op, size_t number)
{
	if (name == NULL ||
	    !msd_grow(&into->merged, into->n_merged, sizeof(*into->merged))) {
		free(name);
		return;
	}
	into->merged[into->n_merged++] = (struct msd_sg_merged){name, op, number};
}

void msd_sg_merge(modser_sg_node *node, modser_sg_node *into)
{
	for (size_t i = 0; i < node->n_merged; i++) {
		const struct msd_sg_merged *m = &node->merged[i];

		note_merged(into, m->name, m->op, m->number);
	}
	node->n_merged = 0;
	note_merged(into, msd_sg_copy(node->name, strlen(node->name)),
		    node->op != NULL ? node->op->schema->name : "", node->number);
	msd_sg_take_out(node);
}

int msd_sg_become(modser_sg_node *node, modser_sg_op *op, modser_sg_tensor *const *in,
		  size_t n)
{
	if (op == NULL)
		return -1;
	while (n > 0 && in[n - 1] == NULL)
		n--;
	msd_sg_node_take_op(node, op);
	node->n_inputs = 0;
	for (size_t i = 0; i < n; i++) {
		if (modser_sg_node_add_input(node, in[i]) < 0)
			return -1;
	}
	return 0;
}

int msd_sg_copy_params(modser_sg_op *to, const modser_sg_op *from)
{
	for (size_t i = 0; i < from->schema->n_fields; i++) {
		const char *name = from->schema->fields[i].name;

		if (modser_sg_op_param(to, name) != NULL &&
		    modser_sg_op_set_param(to, name, &from->params[i]) != 0)
			return -1;
	}
	return 0;
}

int msd_sg_set_float(modser_sg_op *op, const char *name, float v)
{
	const modser_sg_attr a = {.kind = MODSER_ATTR_FLOAT, .as.f = v};

	return modser_sg_op_set_param(op, name, &a);
}

void msd_sg_give_output(modser_sg_node *node, size_t k, modser_sg_tensor *by)
{
	node->outputs[k]->producer = NULL;
	node->outputs[k] = by;
	by->producer = node;
}

modser_sg_tensor *msd_sg_add_const(modser_graph *g, const char *name,
				   struct msd_dtype dtype, const int64_t *dims,
				   size_t n, void *data)
{
	modser_sg_tensor *t = modser_sg_tensor_create_const(g, name);
	modser_sg_node *node = t != NULL ? modser_sg_node_create(g, name) : NULL;
	modser_sg_op *op = node != NULL ? modser_sg_op_create(g, "Const") : NULL;

	if (op == NULL || modser_sg_node_add_output(node, t) < 0 ||
	    modser_sg_tensor_set_dims(t, dims, n) != 0)
		return NULL;
	msd_sg_node_take_op(node, op);
	msd_sg_tensor_take_dtype(t, dtype);
	if (!msd_sg_tensor_bytes(t, &t->bytes))
		return NULL;
	t->data = data;
	t->release = free;
	return t;
}

int msd_sg_make_const(modser_sg_node *node, modser_sg_tensor *t, const void *data,
		      void (*release)(void *data))
{
	modser_sg_op *op = modser_sg_op_create(node->graph, "Const");

	if (op == NULL || !msd_sg_tensor_bytes(t, &t->bytes))
		return -1;
	msd_sg_node_take_op(node, op);
	node->n_inputs = 0;
	node->n_outputs = 1;
	node->outputs[0] = t;
	t->producer = node;
	t->type = MODSER_TENSOR_CONST;
	t->data = data;
	t->release = release;
	return 0;
}

static void mark(bool *is_read, modser_sg_tensor *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] != NULL)
			is_read[list[i]->index] = true;
	}
}

static bool stays(const modser_sg_node *node, const bool *is_read)
{
	if (node->op == NULL)
		return false;
	return strcmp(node->op->schema->name, "Const") != 0 ||
	       node->outputs[0]->is_default || is_read[node->outputs[0]->index];
}

static void drop_nodes(modser_graph *g, const bool *is_read)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n_nodes; i++) {
		modser_sg_node *node = g->nodes[i];

		if (stays(node, is_read)) {
			node->index = n;
			g->nodes[n++] = node;
		} else {
			msd_sg_take_out(node);
			msd_sg_node_destroy(node);
		}
	}
	g->n_nodes = n;
}

static void drop_tensors(modser_graph *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n_tensors; i++) {
		modser_sg_tensor *t = g->tensors[i];

		if (t->producer != NULL) {
			t->index = n;
			g->tensors[n++] = t;
		} else {
			msd_sg_tensor_destroy(t);
		}
	}
	g->n_tensors = n;
}

int msd_sg_sweep(modser_graph *g)
{
	bool *is_read = calloc(g->n_tensors + 1, sizeof(*is_read));

	if (is_read == NULL)
		return msd_sg_no_memory(g);
	for (size_t i = 0; i < g->n_nodes; i++)
		mark(is_read, g->nodes[i]->inputs, g->nodes[i]->n_inputs);
	mark(is_read, g->outputs, g->n_outputs);
	drop_nodes(g, is_read);
	drop_tensors(g);
	free(is_read);
	return 0;
}

static bool has_reader(const modser_sg_node *node, const bool *is_read)
{
	for (size_t i = 0; i < node->n_outputs; i++) {
		const modser_sg_tensor *t = node->outputs[i];

		if (t != NULL && (is_read[t->index] || t->is_default ||
				  t->type == MODSER_TENSOR_INPUT))
			return true;
	}
	return false;
}

int msd_sg_drop_unread(modser_graph *g)
{
	bool *is_read = calloc(g->n_tensors + 1, sizeof(*is_read));

	if (is_read == NULL)
		return msd_sg_no_memory(g);
	mark(is_read, g->outputs, g->n_outputs);
	for (size_t i = g->n_nodes; i-- > 0;) {
		if (has_reader(g->nodes[i], is_read)) {
			mark(is_read, g->nodes[i]->inputs, g->nodes[i]->n_inputs);
		} else {
			msd_sg_take_out(g->nodes[i]);
		}
	}
	free(is_read);
	return msd_sg_sweep(g);
}

#include "graph/ir/view.h"

#include <stdlib.h>

#include "graph/ir/graph.h"

struct view {
	modser_graph g; /* first member */
	modser_sg_node *nodes;
	modser_sg_tensor *tensors;
	modser_sg_tensor **ends; /* inputs and outputs of the nodes, then of the graph
				  */
};

static size_t n_variable(const modser_graph *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n_tensors; i++)
		n += g->tensors[i]->type != MODSER_TENSOR_CONST;
	return n;
}

static size_t n_ends(const modser_graph *g)
{
	size_t n = g->n_inputs + g->n_outputs;

	for (size_t i = 0; i < g->n_nodes; i++)
		n += g->nodes[i]->n_inputs + g->nodes[i]->n_outputs;
	return n;
}

static bool allocate(struct view *v, const modser_graph *g)
{
	v->nodes = calloc(g->n_nodes + 1, sizeof(*v->nodes));
	v->tensors = calloc(n_variable(g) + 1, sizeof(*v->tensors));
	v->ends = calloc(n_ends(g) + 1, sizeof(*v->ends));
	v->g.nodes = calloc(g->n_nodes + 1, sizeof(*v->g.nodes));
	v->g.tensors = calloc(g->n_tensors + 1, sizeof(*v->g.tensors));
	return v->nodes != NULL && v->tensors != NULL && v->ends != NULL &&
	       v->g.nodes != NULL && v->g.tensors != NULL;
}

static void copy_tensors(struct view *v, const modser_graph *g)
{
	modser_sg_tensor *next = v->tensors;

	v->g.n_tensors = g->n_tensors;
	for (size_t i = 0; i < g->n_tensors; i++) {
		v->g.tensors[i] = g->tensors[i];
		if (g->tensors[i]->type == MODSER_TENSOR_CONST)
			continue;
		*next = *g->tensors[i];
		next->graph = &v->g;
		next->dim_names = NULL; /* the graph's; new extents have none */
		if (next->producer != NULL)
			next->producer = &v->nodes[next->producer->index];
		v->g.tensors[i] = next++;
	}
}

/* The @n tensors of the view for those of the graph in @list; *@next is free. */
static modser_sg_tensor **copy_list(const struct view *v, modser_sg_tensor *const *list,
				    size_t n, modser_sg_tensor ***next)
{
	modser_sg_tensor **copy = *next;

	for (size_t i = 0; i < n; i++)
		copy[i] = list[i] != NULL ? v->g.tensors[list[i]->index] : NULL;
	*next += n;
	return copy;
}

static void copy_nodes(struct view *v, const modser_graph *g)
{
	modser_sg_tensor **next = v->ends;

	v->g.n_nodes = g->n_nodes;
	for (size_t i = 0; i < g->n_nodes; i++) {
		modser_sg_node *node = &v->nodes[i];

		*node = *g->nodes[i];
		node->graph = &v->g;
		node->inputs = copy_list(v, node->inputs, node->n_inputs, &next);
		node->outputs = copy_list(v, node->outputs, node->n_outputs, &next);
		v->g.nodes[i] = node;
	}
	v->g.n_inputs = g->n_inputs;
	v->g.inputs = copy_list(v, g->inputs, g->n_inputs, &next);
	v->g.n_outputs = g->n_outputs;
	v->g.outputs = copy_list(v, g->outputs, g->n_outputs, &next);
}

modser_graph *msd_sg_view_create(const modser_graph *g)
{
	struct view *v = calloc(1, sizeof(*v));

	if (v == NULL)
		return NULL;
	if (!allocate(v, g)) {
		msd_sg_view_destroy(&v->g);
		return NULL;
	}
	copy_tensors(v, g);
	copy_nodes(v, g);
	return &v->g;
}

void msd_sg_view_destroy(modser_graph *view)
{
	struct view *v = (struct view *)view;

	if (v == NULL)
		return;
	msd_diag_finish(&v->g.diag);
	free(v->g.tensors);
	free(v->g.nodes);
	free(v->ends);
	free(v->tensors);
	free(v->nodes);
	free(v);
}

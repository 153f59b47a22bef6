#include "graph/ir/order.h"

#include <stdlib.h>

#include "graph/ir/graph.h"

/* A depth-first walk over nodes with an explicit stack, because chains are long. */
struct walk {
	modser_graph *g;
	size_t *next_input; /* per node: the next to visit; SIZE_MAX: done */
	bool *is_open;      /* on the stack */
	size_t *stack;
	size_t depth;
	size_t *order;
	size_t n;
};

/* The producer of the next input of @node that is not ordered yet; NULL: all are. */
static const modser_sg_node *next_producer(struct walk *w, const modser_sg_node *node)
{
	size_t *k = &w->next_input[node->index];

	while (*k < node->n_inputs) {
		const modser_sg_tensor *t = node->inputs[(*k)++];

		if (t != NULL && t->producer != NULL &&
		    w->next_input[t->producer->index] != SIZE_MAX)
			return t->producer;
	}
	return NULL;
}

static int visit(struct walk *w, size_t first)
{
	w->depth = 0;
	w->stack[w->depth++] = first;
	w->is_open[first] = true;
	while (w->depth > 0) {
		const modser_sg_node *node = w->g->nodes[w->stack[w->depth - 1]];
		const modser_sg_node *before = next_producer(w, node);

		if (before == NULL) {
			w->order[w->n++] = node->index;
			w->next_input[node->index] = SIZE_MAX;
			w->is_open[node->index] = false;
			w->depth--;
		} else if (w->is_open[before->index]) {
			return msd_sg_fail(w->g, MSD_BAD_ARTIFACT,
					   "node %zu \"%s\": its input depends on its "
					   "own output",
					   node->number, node->name);
		} else {
			w->stack[w->depth++] = before->index;
			w->is_open[before->index] = true;
		}
	}
	return 0;
}

static int visit_all(struct walk *w)
{
	if (w->next_input == NULL || w->is_open == NULL || w->stack == NULL)
		return msd_sg_no_memory(w->g);
	for (size_t i = 0; i < w->g->n_nodes; i++) {
		if (w->next_input[i] != SIZE_MAX && visit(w, i) != 0)
			return -1;
	}
	return 0;
}

int msd_sg_order(modser_graph *g, size_t *ret)
{
	struct walk w = {
		.g = g,
		.next_input = calloc(g->n_nodes + 1, sizeof(size_t)),
		.is_open = calloc(g->n_nodes + 1, sizeof(bool)),
		.stack = calloc(g->n_nodes + 1, sizeof(size_t)),
		.order = ret,
	};
	int result = visit_all(&w);

	free(w.next_input);
	free(w.is_open);
	free(w.stack);
	return result;
}

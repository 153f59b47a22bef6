/*
 * Happy path: a node that waits for no other is on the stack of its kind. One kind runs
 * until its stack is empty, which is an epoch, as in TensorFlow Lite's partition of a
 * graph. Then the nodes are sorted by epoch; the order inside an epoch is the old one.
 */
#include "runtime/plan/partition.h"

#include <stdlib.h>

#include "graph/ir/graph.h"

#define NONE SIZE_MAX

struct work {
	const modser_graph *g;
	const size_t *kind;
	size_t n_kinds;
	size_t *first;   /* by node: its first edge; one more ends the last */
	size_t *readers; /* by edge: the node that reads */
	size_t *waits;   /* by node: inputs that are not computed yet */
	size_t *epoch;   /* by node; 0: it computes nothing */
	size_t *below;   /* by node: the next of its stack */
	size_t *top;     /* by kind */
	size_t *kind_of; /* by epoch */
	size_t *at;      /* by epoch: the next place in the new order */
	size_t n_epochs;
};

/* The node that computes @t; NULL: none does. */
static const modser_sg_node *writer(const modser_sg_tensor *t)
{
	return t != NULL && t->producer != NULL && !msd_sg_node_is_given(t->producer)
		       ? t->producer
		       : NULL;
}

/* Count the edges of each node, one place ahead, so that sums are where they begin. */
static size_t count_edges(struct work *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->g->n_nodes; i++) {
		const modser_sg_node *node = w->g->nodes[i];

		for (size_t k = 0; k < node->n_inputs; k++) {
			const modser_sg_node *from = writer(node->inputs[k]);

			if (from == NULL)
				continue;
			w->first[from->index + 2]++;
			w->waits[i]++;
			n++;
		}
	}
	for (size_t i = 0; i < w->g->n_nodes; i++)
		w->first[i + 2] += w->first[i + 1];
	return n;
}

/* Afterwards first[i] to first[i + 1] are the edges of node i. */
static void list_edges(struct work *w)
{
	for (size_t i = 0; i < w->g->n_nodes; i++) {
		const modser_sg_node *node = w->g->nodes[i];

		for (size_t k = 0; k < node->n_inputs; k++) {
			const modser_sg_node *from = writer(node->inputs[k]);

			if (from != NULL)
				w->readers[w->first[from->index + 1]++] = i;
		}
	}
}

static void push(struct work *w, size_t node)
{
	w->below[node] = w->top[w->kind[node]];
	w->top[w->kind[node]] = node;
}

static void run_epoch(struct work *w, size_t kind)
{
	w->kind_of[++w->n_epochs] = kind;
	while (w->top[kind] != NONE) {
		const size_t node = w->top[kind];

		w->top[kind] = w->below[node];
		w->epoch[node] = w->n_epochs;
		for (size_t e = w->first[node]; e < w->first[node + 1]; e++) {
			if (--w->waits[w->readers[e]] == 0)
				push(w, w->readers[e]);
		}
	}
}

/* The kind of the next epoch: 0 if it can run, else the next one after @last. */
static size_t next_kind(const struct work *w, size_t last)
{
	if (w->top[0] != NONE)
		return 0;
	for (size_t i = 1; i <= w->n_kinds; i++) {
		const size_t kind = (last + i - 1) % w->n_kinds + 1;

		if (w->top[kind] != NONE)
			return kind;
	}
	return NONE;
}

static void run_all(struct work *w)
{
	size_t last = 0;

	for (size_t k = 0; k <= w->n_kinds; k++)
		w->top[k] = NONE;
	for (size_t i = 0; i < w->g->n_nodes; i++) {
		if (!msd_sg_node_is_given(w->g->nodes[i]) && w->waits[i] == 0)
			push(w, i);
	}
	for (size_t kind = next_kind(w, last); kind != NONE;
	     kind = next_kind(w, last)) {
		run_epoch(w, kind);
		last = kind > 0 ? kind : last;
	}
}

static size_t sort(struct work *w, const size_t *order, size_t *ret_order,
		   size_t *ret_group)
{
	size_t n_groups = 0;

	for (size_t i = 0; i < w->g->n_nodes; i++)
		w->at[w->epoch[i] + 1]++;
	for (size_t e = 0; e < w->n_epochs; e++)
		w->at[e + 1] += w->at[e];
	for (size_t i = 0; i < w->g->n_nodes; i++)
		ret_order[w->at[w->epoch[order[i]]]++] = order[i];
	/* The places are no longer needed: they become the numbers of the groups. */
	for (size_t e = 0; e <= w->n_epochs; e++)
		w->at[e] = w->kind_of[e] > 0 ? ++n_groups : 0;
	for (size_t i = 0; i < w->g->n_nodes; i++)
		ret_group[i] = w->at[w->epoch[i]];
	return n_groups;
}

static bool allocate(struct work *w)
{
	const size_t n = w->g->n_nodes + 2;

	w->first = calloc(n, sizeof(size_t));
	w->waits = calloc(n, sizeof(size_t));
	w->epoch = calloc(n, sizeof(size_t));
	w->below = calloc(n, sizeof(size_t));
	w->kind_of = calloc(n, sizeof(size_t));
	w->at = calloc(n, sizeof(size_t));
	w->top = calloc(w->n_kinds + 1, sizeof(size_t));
	if (w->first == NULL || w->waits == NULL || w->epoch == NULL ||
	    w->below == NULL || w->kind_of == NULL || w->at == NULL || w->top == NULL)
		return false;
	w->readers = calloc(count_edges(w) + 1, sizeof(size_t));
	return w->readers != NULL;
}

msd_err msd_partition(const modser_graph *g, const size_t *order, const size_t *kind,
		      size_t n_kinds, size_t *ret_order, size_t *ret_group,
		      size_t *ret_n_groups, struct msd_diag *d)
{
	struct work w = {.g = g, .kind = kind, .n_kinds = n_kinds};
	const bool has_memory = allocate(&w);

	if (has_memory) {
		list_edges(&w);
		run_all(&w);
		*ret_n_groups = sort(&w, order, ret_order, ret_group);
	}
	free(w.first);
	free(w.waits);
	free(w.epoch);
	free(w.below);
	free(w.kind_of);
	free(w.at);
	free(w.top);
	free(w.readers);
	return has_memory ? MSD_OK : msd_diag_no_memory(d);
}

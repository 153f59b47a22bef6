#include "graph/pass/links.h"

#include <stdlib.h>

#include "graph/ir/graph.h"

static void add(struct msd_links *l, modser_sg_node *node,
		modser_sg_tensor *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == NULL)
			continue;
		if (l->reads[list[i]->index]++ == 0)
			l->first[list[i]->index] = node;
	}
}

int msd_links_init(struct msd_links *l, const struct msd_pass_job *job)
{
	const modser_graph *g = job->g;

	l->reads = calloc(g->n_tensors + 1, sizeof(*l->reads));
	l->first = calloc(g->n_tensors + 1, sizeof(modser_sg_node *));
	if (l->reads == NULL || l->first == NULL)
		return msd_sg_no_memory(job->g);
	for (size_t i = 0; i < g->n_nodes; i++)
		add(l, g->nodes[i], g->nodes[i]->inputs, g->nodes[i]->n_inputs);
	add(l, NULL, g->outputs, g->n_outputs);
	return 0;
}

void msd_links_finish(struct msd_links *l)
{
	free(l->reads);
	free((void *)l->first);
}

modser_sg_node *msd_links_only(const struct msd_links *l, const modser_sg_tensor *t)
{
	return l->reads[t->index] == 1 ? l->first[t->index] : NULL;
}

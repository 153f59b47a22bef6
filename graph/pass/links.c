#include "graph/pass/links.h"

#include <stdlib.h>

#include "graph/ir/graph.h"

static void add(struct msd_links *l, modser_sg_node *node,
		modser_sg_tensor *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == NULL)
			continue;
		struct msd_readers *r = &l->readers[list[i]->index];

		if (r->n < 2)
			r->first[r->n] = node;
		r->n++;
	}
}

int msd_links_init(struct msd_links *l, const struct msd_pass_job *job)
{
	const modser_graph *g = job->g;

	l->readers = calloc(g->n_tensors + 1, sizeof(*l->readers));
	if (l->readers == NULL)
		return msd_sg_no_memory(job->g);
	l->n = g->n_tensors;
	for (size_t i = 0; i < g->n_nodes; i++)
		add(l, g->nodes[i], g->nodes[i]->inputs, g->nodes[i]->n_inputs);
	add(l, NULL, g->outputs, g->n_outputs);
	return 0;
}

void msd_links_finish(struct msd_links *l)
{
	free(l->readers);
}

modser_sg_node *msd_links_only(const struct msd_links *l, const modser_sg_tensor *t)
{
	if (t->index >= l->n)
		return NULL;
	const struct msd_readers *r = &l->readers[t->index];

	return r->n == 1 ? r->first[0] : NULL;
}

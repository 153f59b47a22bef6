/* The operators of the file that a graph was read from, by their names there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "proto/base/grow.h"

int msd_sg_count_source(modser_graph *g, const char *domain, const char *op)
{
	char name[256];
	size_t i = 0;

	(void)snprintf(name, sizeof(name), "%s%s%s", domain,
		       domain[0] != '\0' ? "." : "", op);
	while (i < g->n_sources && strcmp(g->sources[i].op, name) != 0)
		i++;
	if (i == g->n_sources) {
		char *copy = msd_sg_copy(name, strlen(name));

		if (copy == NULL ||
		    !msd_grow(&g->sources, g->n_sources, sizeof(*g->sources))) {
			free(copy);
			return msd_sg_no_memory(g);
		}
		g->sources[g->n_sources++] = (struct msd_sg_source){copy, 0};
	}
	g->sources[i].n++;
	return 0;
}

void msd_sg_sources_finish(modser_graph *g)
{
	for (size_t i = 0; i < g->n_sources; i++)
		free(g->sources[i].op);
	free(g->sources);
}

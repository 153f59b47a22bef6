#include "graph/layout/memory_plan.h"

#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/layout/arena.h"

msd_err msd_layout_init(struct msd_layout *l, size_t n_tensors, struct msd_diag *d)
{
	l->places = calloc(n_tensors + 1, sizeof(*l->places));
	l->live = calloc(n_tensors + 1, sizeof(*l->live));
	if (l->places == NULL || l->live == NULL)
		return msd_diag_no_memory(d);
	return MSD_OK;
}

void msd_layout_finish(struct msd_layout *l)
{
	free(l->places);
	free(l->live);
	free(l->arena);
	*l = (struct msd_layout){0};
}

static void read_last(struct msd_layout *l, modser_sg_tensor *const *list, size_t n,
		      size_t step)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] != NULL)
			l->places[list[i]->index].last = step;
	}
}

/* Tensors without readers are written, too. */
void msd_layout_find_last_reads(struct msd_layout *l, const modser_graph *g,
				const size_t *order)
{
	for (size_t step = 0; step < g->n_nodes; step++) {
		const modser_sg_node *node = g->nodes[order[step]];

		read_last(l, node->inputs, node->n_inputs, step);
		read_last(l, node->outputs, node->n_outputs, step);
	}
	read_last(l, g->outputs, g->n_outputs, MSD_ARENA_KEEP);
}

size_t msd_layout_room(const modser_sg_tensor *t)
{
	uint64_t bytes = 0;

	if (!msd_sg_tensor_bytes(t, &bytes)) /* inference has checked the size */
		return 0;
	return ((size_t)bytes + MSD_ARENA_ALIGN - 1) / MSD_ARENA_ALIGN *
	       MSD_ARENA_ALIGN;
}

msd_err msd_layout_put(struct msd_layout *l, const modser_graph *g, const size_t *order,
		       struct msd_diag *d)
{
	struct msd_arena a = {.places = l->places, .live = l->live};

	for (size_t step = 0; step < g->n_nodes; step++) {
		const modser_sg_node *node = g->nodes[order[step]];

		if (msd_sg_node_is_given(node))
			continue;
		for (size_t i = 0; i < node->n_outputs; i++) {
			const modser_sg_tensor *t = node->outputs[i];

			if (t == NULL)
				continue;
			l->places[t->index].bytes = msd_layout_room(t);
			if (!msd_arena_put(&a, t->index))
				return msd_diag_no_memory(d);
		}
		msd_arena_drop(&a, step);
	}
	l->arena_bytes = a.bytes;
	return MSD_OK;
}

msd_err msd_layout_make(struct msd_layout *l, size_t bytes, struct msd_diag *d)
{
	if (l->arena != NULL && bytes <= l->arena_bytes)
		return MSD_OK;
	free(l->arena);
	l->arena_bytes = bytes;
	l->arena = aligned_alloc(MSD_ARENA_ALIGN, bytes + MSD_ARENA_ALIGN);
	return l->arena != NULL
		       ? MSD_OK
		       : msd_diag_set(d, MSD_NOMEM,
				      "a run takes %zu bytes of memory, which are not "
				      "to be had",
				      bytes);
}

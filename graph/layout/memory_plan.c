#include "graph/layout/memory_plan.h"

#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/layout/arena.h"

static void read_last(size_t *last, modser_sg_tensor *const *list, size_t n,
		      size_t step)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] != NULL)
			last[list[i]->index] = step;
	}
}

/* Tensors without readers are written, too. */
void msd_memory_plan_find_last_reads(size_t *ret_last, const modser_graph *g,
				     const size_t *order)
{
	for (size_t step = 0; step < g->n_nodes; step++) {
		const modser_sg_node *node = g->nodes[order[step]];

		read_last(ret_last, node->inputs, node->n_inputs, step);
		read_last(ret_last, node->outputs, node->n_outputs, step);
	}
	read_last(ret_last, g->outputs, g->n_outputs, MSD_ARENA_KEEP);
}

/* A size that does not fit stays: no arena has room for it. */
static size_t round_up(size_t bytes)
{
	const size_t more =
		(MSD_ARENA_ALIGN - bytes % MSD_ARENA_ALIGN) % MSD_ARENA_ALIGN;

	return bytes <= SIZE_MAX - more ? bytes + more : bytes;
}

size_t msd_memory_plan_room(const modser_sg_tensor *t)
{
	uint64_t bytes = 0;

	if (!msd_sg_tensor_bytes(t, &bytes)) /* inference has checked the size */
		return 0;
	return round_up((size_t)bytes);
}

static bool put_outputs(struct msd_arena *a, const modser_sg_node *node,
			const size_t *last, const struct msd_memory_needs *needs)
{
	for (size_t i = 0; i < node->n_outputs; i++) {
		const modser_sg_tensor *t = node->outputs[i];

		if (t == NULL || last[t->index] == MSD_ARENA_NOWHERE)
			continue;
		a->places[t->index].bytes =
			needs->bytes != NULL && needs->bytes[t->index] > 0
				? round_up(needs->bytes[t->index])
				: msd_memory_plan_room(t);
		a->places[t->index].last = last[t->index];
		if (!msd_arena_put(a, t->index))
			return false;
	}
	return true;
}

/* Put the blocks that begin with @step; *@next is the first of them. */
static bool put_blocks(struct msd_arena *a, const modser_graph *g,
		       const struct msd_memory_needs *needs, size_t step, size_t *next)
{
	for (; *next < needs->n_blocks && needs->blocks[*next].first == step; ++*next) {
		const struct msd_memory_block *block = &needs->blocks[*next];
		const size_t i = g->n_tensors + *next;

		a->places[i].bytes = round_up(block->bytes);
		a->places[i].last = block->last;
		if (!msd_arena_put(a, i))
			return false;
	}
	return true;
}

static msd_err put_all(struct msd_memory_plan *l, struct msd_arena *a,
		       const modser_graph *g, const size_t *order, const size_t *last,
		       const struct msd_memory_needs *needs, struct msd_diag *d)
{
	size_t block = 0;

	for (size_t step = 0; step < g->n_nodes; step++) {
		const modser_sg_node *node = g->nodes[order[step]];

		if (msd_sg_node_is_given(node))
			continue;
		if (!put_blocks(a, g, needs, step, &block) ||
		    !put_outputs(a, node, last, needs))
			return msd_diag_no_memory(d);
		msd_arena_drop(a, step);
	}
	l->bytes = a->bytes;
	for (size_t i = 0; i < g->n_tensors + needs->n_blocks; i++)
		l->offsets[i] = a->places[i].offset;
	return MSD_OK;
}

msd_err msd_memory_plan_init(struct msd_memory_plan *l, const modser_graph *g,
			     const size_t *order, const size_t *last,
			     const struct msd_memory_needs *needs, struct msd_diag *d)
{
	static const struct msd_memory_needs none = {0};
	const size_t n = g->n_tensors + (needs != NULL ? needs->n_blocks : 0) + 1;
	struct msd_arena a = {
		.places = calloc(n, sizeof(*a.places)),
		.live = calloc(n, sizeof(*a.live)),
	};
	msd_err err;

	*l = (struct msd_memory_plan){.offsets = calloc(n, sizeof(*l->offsets))};
	if (a.places == NULL || a.live == NULL || l->offsets == NULL) {
		err = msd_diag_no_memory(d);
	} else {
		err = put_all(l, &a, g, order, last, needs != NULL ? needs : &none, d);
	}
	free(a.places);
	free(a.live);
	return err;
}

void msd_memory_plan_finish(struct msd_memory_plan *l)
{
	free(l->offsets);
	*l = (struct msd_memory_plan){0};
}

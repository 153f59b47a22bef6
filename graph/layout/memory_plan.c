/*
 * Happy path: in the order of a run, each root gets the first gap that is wide enough,
 * from the first node that writes a tensor in it to the last that reads one. Then all
 * are placed again, the largest first, and the smaller result is kept.
 */
#include "graph/layout/memory_plan.h"

#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/layout/arena.h"
#include "graph/layout/views.h"

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

struct placing {
	const modser_graph *g;
	const struct msd_views *views;
	const struct msd_memory_needs *needs;
	struct msd_arena arena;
	bool *is_placed; /* by tensor, then by block */
	size_t block;    /* the next one */
};

#define MOST_PACKED 2000u /* tensors that are placed in two ways */

/* A root gets its place with the first node that writes a tensor in it. */
static bool put_outputs(struct placing *p, const modser_sg_node *node, size_t step)
{
	const size_t *needs = p->needs->bytes;

	for (size_t i = 0; i < node->n_outputs; i++) {
		if (node->outputs[i] == NULL)
			continue;
		const size_t root = p->views->list[node->outputs[i]->index].root;
		const modser_sg_tensor *t = p->g->tensors[root];

		if (p->is_placed[root] || p->views->last[root] == MSD_ARENA_NOWHERE ||
		    t->type == MODSER_TENSOR_CONST || t->producer == NULL ||
		    msd_sg_node_is_given(t->producer))
			continue;
		p->is_placed[root] = true;
		p->arena.places[root].bytes = needs != NULL && needs[root] > 0
						      ? round_up(needs[root])
						      : msd_memory_plan_room(t);
		p->arena.places[root].first = step;
		p->arena.places[root].last = p->views->last[root];
		if (!msd_arena_put(&p->arena, root))
			return false;
	}
	return true;
}

/* Put the blocks that begin with @step. */
static bool put_blocks(struct placing *p, size_t step)
{
	const struct msd_memory_needs *needs = p->needs;

	while (p->block < needs->n_blocks && needs->blocks[p->block].first == step) {
		const struct msd_memory_block *block = &needs->blocks[p->block];
		const size_t i = p->g->n_tensors + p->block++;

		p->arena.places[i].bytes = round_up(block->bytes);
		p->is_placed[i] = true;
		p->arena.places[i].first = step;
		p->arena.places[i].last = block->last;
		if (!msd_arena_put(&p->arena, i))
			return false;
	}
	return true;
}

/* Place all once more, and keep the smaller result. False: memory is short. */
static bool pack(struct placing *p)
{
	const size_t n_all = p->g->n_tensors + p->needs->n_blocks;
	struct msd_arena_place *places = calloc(n_all + 1, sizeof(*places));
	bool is_packed = places != NULL;
	size_t n = 0;
	size_t bytes = 0;

	for (size_t i = 0; is_packed && i < n_all; i++) {
		if (p->is_placed[i])
			places[n++] = p->arena.places[i];
	}
	if (n <= MOST_PACKED)
		is_packed = is_packed && msd_arena_pack(places, n, &bytes);
	if (is_packed && n <= MOST_PACKED && bytes < p->arena.bytes) {
		p->arena.bytes = bytes;
		for (size_t i = n_all; i > 0; i--) {
			if (p->is_placed[i - 1])
				p->arena.places[i - 1] = places[--n];
		}
	}
	free(places);
	return is_packed;
}

static msd_err put_all(struct msd_memory_plan *l, struct placing *p,
		       const size_t *order, struct msd_diag *d)
{
	const size_t n = p->g->n_tensors;

	for (size_t step = 0; step < p->g->n_nodes; step++) {
		const modser_sg_node *node = p->g->nodes[order[step]];

		if (msd_sg_node_is_given(node))
			continue;
		if (!put_blocks(p, step) || !put_outputs(p, node, step))
			return msd_diag_no_memory(d);
		msd_arena_drop(&p->arena, step);
	}
	if (!pack(p))
		return msd_diag_no_memory(d);
	l->bytes = p->arena.bytes;
	for (size_t i = 0; i < n; i++) {
		const struct msd_view *v = &p->views->list[i];

		l->offsets[i] = p->arena.places[v->root].offset + v->offset;
	}
	for (size_t i = n; i < n + p->needs->n_blocks; i++)
		l->offsets[i] = p->arena.places[i].offset;
	return MSD_OK;
}

msd_err msd_memory_plan_init(struct msd_memory_plan *l, const modser_graph *g,
			     const size_t *order, const struct msd_views *v,
			     const struct msd_memory_needs *needs, struct msd_diag *d)
{
	static const struct msd_memory_needs none = {0};
	const size_t n = g->n_tensors + (needs != NULL ? needs->n_blocks : 0) + 1;
	struct placing p = {
		.g = g,
		.views = v,
		.needs = needs != NULL ? needs : &none,
		.arena = {.places = calloc(n, sizeof(*p.arena.places)),
			  .live = calloc(n, sizeof(*p.arena.live))},
		.is_placed = calloc(n, sizeof(*p.is_placed)),
	};
	msd_err err;

	*l = (struct msd_memory_plan){.offsets = calloc(n, sizeof(*l->offsets))};
	if (p.arena.places == NULL || p.arena.live == NULL || p.is_placed == NULL ||
	    l->offsets == NULL) {
		err = msd_diag_no_memory(d);
	} else {
		err = put_all(l, &p, order, d);
	}
	free(p.arena.places);
	free(p.arena.live);
	free(p.is_placed);
	return err;
}

void msd_memory_plan_finish(struct msd_memory_plan *l)
{
	free(l->offsets);
	*l = (struct msd_memory_plan){0};
}

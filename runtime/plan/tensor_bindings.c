#include "runtime/plan/tensor_bindings.h"

#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/layout/arena.h"

msd_err msd_tensor_bindings_init(struct msd_tensor_bindings *p, modser_graph *g,
				 struct msd_diag *d)
{
	*p = (struct msd_tensor_bindings){
		.g = g,
		.own = calloc(g->n_tensors + 1, sizeof(*p->own)),
		.at = calloc(g->n_tensors + 1, sizeof(*p->at)),
	};
	if (p->own == NULL || p->at == NULL)
		return msd_diag_no_memory(d);
	return msd_layout_init(&p->layout, g->n_tensors, d);
}

void msd_tensor_bindings_forget(struct msd_tensor_bindings *p)
{
	for (size_t i = 0; p->own != NULL && i < p->g->n_tensors; i++) {
		free(p->own[i]);
		p->own[i] = NULL;
		p->g->tensors[i]->value = NULL;
	}
}

void msd_tensor_bindings_finish(struct msd_tensor_bindings *p)
{
	if (p->g != NULL)
		msd_tensor_bindings_forget(p);
	msd_layout_finish(&p->layout);
	free(p->own);
	free(p->at);
}

void msd_tensor_bindings_bind(struct msd_tensor_bindings *p, const void *const *inputs)
{
	modser_graph *g = p->g;

	for (size_t i = 0; i < g->n_tensors; i++) {
		if (g->tensors[i]->type == MODSER_TENSOR_CONST)
			p->at[i] = g->tensors[i]->data;
	}
	for (size_t i = 0; i < g->n_inputs; i++) {
		p->at[g->inputs[i]->index] = inputs[i];
		g->inputs[i]->value = p->now == NULL ? inputs[i] : NULL;
	}
}

void *msd_tensor_bindings_make(struct msd_tensor_bindings *p, modser_sg_tensor *t)
{
	void *at;

	if (p->now != NULL) {
		at = p->layout.arena + p->now->places[t->index].offset;
		p->at[t->index] = at;
		return at;
	}
	at = aligned_alloc(MSD_ARENA_ALIGN, msd_layout_room(t) + MSD_ARENA_ALIGN);
	if (at != NULL)
		msd_connection_slots_reserve(p, t, at);
	return at;
}

void msd_connection_slots_reserve(struct msd_tensor_bindings *p, modser_sg_tensor *t,
				  void *own)
{
	p->own[t->index] = own;
	p->at[t->index] = own;
	t->value = own;
}

static void drop_list(struct msd_tensor_bindings *p, modser_sg_tensor *const *list,
		      size_t n, size_t step)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == NULL || p->layout.places[list[i]->index].last != step)
			continue;
		free(p->own[list[i]->index]);
		p->own[list[i]->index] = NULL;
		list[i]->value = NULL;
	}
}

void msd_tensor_bindings_drop(struct msd_tensor_bindings *p, const modser_sg_node *node,
			      size_t step)
{
	drop_list(p, node->inputs, node->n_inputs, step);
	drop_list(p, node->outputs, node->n_outputs, step);
}

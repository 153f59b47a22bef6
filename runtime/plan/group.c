/*
 * Happy path: each node gets its engine. If one of them can join, nodes are ordered by
 * groups, the lists of each group are made, and its engine is asked. A group that the
 * engine declines is dropped, and its nodes stay where they are in the new order.
 * Failures: memory is short, or an engine fails; its text names the nodes.
 */
#include "runtime/plan/group.h"

#include <stdbool.h>
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/layout/arena.h"
#include "graph/layout/memory_plan.h"
#include "runtime/kernel/kernel.h"
#include "runtime/plan/partition.h"
#include "runtime/plan/program.h"

struct work {
	const modser_graph *g;
	struct msd_groups *s;
	size_t *kind;  /* by node: its engine, if that can join, from 1 */
	size_t *group; /* by node: its number, from 1; 0: none */
	size_t n_groups;
	bool *is_shared; /* by tensor: an output of the graph, or read elsewhere */
	size_t *listed;  /* by tensor: the last group that lists it */
	void **states;   /* room for those of a group's nodes */
};

static msd_err run_as_step(void *state, const struct msd_kernel_call *c,
			   struct msd_diag *d)
{
	const struct msd_group *group = state;

	return group->engine->run_group(group->state, c, d);
}

static const struct msd_engine as_step = {.name = "group", .run = run_as_step};

msd_err msd_group_blame(const struct msd_group *group, msd_err err, struct msd_diag *d)
{
	const modser_sg_node *first = group->told.nodes[0];
	const modser_sg_node *last = group->told.nodes[group->told.n_nodes - 1];

	return msd_diag_wrap(d, err, "nodes %zu \"%s\" to %zu \"%s\", run as one",
			     first->number, first->name, last->number, last->name);
}

const struct msd_group *msd_groups_find(const struct msd_groups *s,
					const modser_sg_node *node)
{
	return s->of != NULL ? s->of[node->index] : NULL;
}

static msd_err choose_engines(struct msd_groups *s, struct msd_graph_program *p,
			      const modser_graph *g, bool *ret_joins,
			      struct msd_diag *d)
{
	msd_err err = MSD_OK;

	*ret_joins = false;
	for (size_t i = 0; err == MSD_OK && i < g->n_nodes; i++) {
		const modser_sg_node *node = g->nodes[p->order[i]];

		if (msd_sg_node_is_given(node))
			continue;
		err = msd_claim_choose(&p->claims[node->index], node,
				       &s->by[node->index], d);
		*ret_joins = *ret_joins || (err == MSD_OK &&
					    s->by[node->index]->engine->join != NULL);
	}
	return err;
}

/* Number the engines that can join. Returns how many there are. */
static size_t find_kinds(struct work *w, const struct msd_engine **kinds)
{
	size_t n = 0;

	for (size_t i = 0; i < w->g->n_nodes; i++) {
		const struct msd_engine_node *by = w->s->by[i];
		size_t k = 0;

		if (by == NULL || by->engine->join == NULL)
			continue;
		while (k < n && kinds[k] != by->engine)
			k++;
		if (k == n)
			kinds[n++] = by->engine;
		w->kind[i] = k + 1;
	}
	return n;
}

static msd_err make_order(struct work *w, const struct msd_graph_program *p,
			  struct msd_diag *d)
{
	const struct msd_engine **kinds = calloc(w->g->n_nodes, sizeof(*kinds));

	if (kinds == NULL)
		return msd_diag_no_memory(d);
	const size_t n = find_kinds(w, kinds);
	free((void *)kinds);
	return msd_partition(w->g, p->order, w->kind, n, w->s->own_order, w->group,
			     &w->n_groups, d);
}

static size_t group_of(const struct work *w, const modser_sg_node *node)
{
	return node != NULL ? w->group[node->index] : 0;
}

static void find_shared(struct work *w)
{
	for (size_t i = 0; i < w->g->n_nodes; i++) {
		const modser_sg_node *node = w->g->nodes[i];

		for (size_t k = 0; k < node->n_inputs; k++) {
			const modser_sg_tensor *t = node->inputs[k];

			if (t != NULL && group_of(w, t->producer) != w->group[i])
				w->is_shared[t->index] = true;
		}
	}
	for (size_t i = 0; i < w->g->n_outputs; i++)
		w->is_shared[w->g->outputs[i]->index] = true;
}

static void list_inputs(struct work *w, struct msd_group *group,
			const modser_sg_node *node)
{
	const size_t number = w->group[node->index];

	for (size_t i = 0; i < node->n_inputs; i++) {
		const modser_sg_tensor *t = node->inputs[i];

		if (t == NULL || t->type == MODSER_TENSOR_CONST ||
		    group_of(w, t->producer) == number || w->listed[t->index] == number)
			continue;
		w->listed[t->index] = number;
		group->inputs[group->told.n_inputs++] = t;
	}
}

static void list_outputs(struct work *w, struct msd_group *group,
			 const modser_sg_node *node)
{
	const size_t number = w->group[node->index];

	for (size_t i = 0; i < node->n_outputs; i++) {
		const modser_sg_tensor *t = node->outputs[i];

		if (t == NULL || !w->is_shared[t->index] ||
		    w->listed[t->index] == number)
			continue;
		w->listed[t->index] = number;
		group->outputs[group->told.n_outputs++] = t;
	}
}

static void free_lists(struct msd_group *group)
{
	free((void *)group->nodes);
	free((void *)group->inputs);
	free((void *)group->outputs);
	*group = (struct msd_group){0};
}

/* The lists of the @n nodes from place @begin of the new order on. */
static bool make_lists(struct work *w, struct msd_group *group, size_t begin, size_t n)
{
	size_t n_in = 0;
	size_t n_out = 0;

	for (size_t i = begin; i < begin + n; i++) {
		n_in += w->g->nodes[w->s->own_order[i]]->n_inputs;
		n_out += w->g->nodes[w->s->own_order[i]]->n_outputs;
	}
	*group = (struct msd_group){
		.nodes = calloc(n, sizeof(*group->nodes)),
		.inputs = calloc(n_in + 1, sizeof(*group->inputs)),
		.outputs = calloc(n_out + 1, sizeof(*group->outputs)),
	};
	if (group->nodes == NULL || group->inputs == NULL || group->outputs == NULL)
		return false;
	group->told = (modserd_group){.size = sizeof(group->told),
				      .n_nodes = n,
				      .nodes = group->nodes,
				      .inputs = group->inputs,
				      .outputs = group->outputs};
	for (size_t i = 0; i < n; i++) {
		const modser_sg_node *node = w->g->nodes[w->s->own_order[begin + i]];

		group->nodes[i] = node;
		w->states[i] = w->s->by[node->index]->state;
		list_inputs(w, group, node);
		list_outputs(w, group, node);
	}
	return true;
}

/* The group's tensors live from its first to its last step, or have no memory. */
static void set_lives(struct work *w, modser_sg_tensor *const *list, size_t n,
		      size_t begin, size_t end)
{
	for (size_t i = 0; i < n; i++) {
		const modser_sg_tensor *t = list[i];

		if (t == NULL || w->s->own_last[t->index] < begin ||
		    w->s->own_last[t->index] > end)
			continue;
		w->s->own_last[t->index] =
			group_of(w, t->producer) == w->group[w->s->own_order[begin]] &&
					!w->is_shared[t->index]
				? MSD_ARENA_NOWHERE
				: end;
	}
}

static void keep(struct work *w, struct msd_group *group, size_t begin)
{
	const size_t end = begin + group->told.n_nodes - 1;

	group->step = (struct msd_engine_node){&as_step, group};
	for (size_t i = begin; i <= end; i++) {
		const modser_sg_node *node = w->g->nodes[w->s->own_order[i]];

		w->s->of[node->index] = group;
		set_lives(w, node->inputs, node->n_inputs, begin, end);
		set_lives(w, node->outputs, node->n_outputs, begin, end);
	}
	w->s->n++;
}

/* Ask the engine of the @n nodes from place @begin on. */
static msd_err ask(struct work *w, size_t begin, size_t n, struct msd_diag *d)
{
	struct msd_group *group = &w->s->items[w->s->n];

	if (!make_lists(w, group, begin, n)) {
		free_lists(group);
		return msd_diag_no_memory(d);
	}
	const struct msd_engine *engine = w->s->by[w->s->own_order[begin]]->engine;
	msd_err err = group->told.n_outputs > 0
			      ? engine->join(engine, &group->told, w->states,
					     &group->state, d)
			      : MSD_UNSUPPORTED;
	if (err == MSD_OK) {
		group->engine = engine;
		keep(w, group, begin);
		return MSD_OK;
	}
	if (err != MSD_UNSUPPORTED)
		err = msd_group_blame(group, err, d);
	free_lists(group);
	return err == MSD_UNSUPPORTED ? MSD_OK : err;
}

static msd_err ask_all(struct work *w, struct msd_diag *d)
{
	const size_t *order = w->s->own_order;
	msd_err err = MSD_OK;
	size_t n = 1;

	w->s->items = calloc(w->n_groups + 1, sizeof(*w->s->items));
	if (w->s->items == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; err == MSD_OK && i < w->g->n_nodes; i += n) {
		const size_t number = w->group[order[i]];

		n = 1;
		while (number > 0 && i + n < w->g->n_nodes &&
		       w->group[order[i + n]] == number)
			n++;
		if (n > 1)
			err = ask(w, i, n, d);
	}
	return err;
}

static bool allocate(struct work *w)
{
	const size_t n_nodes = w->g->n_nodes + 1;
	const size_t n_tensors = w->g->n_tensors + 1;

	w->kind = calloc(n_nodes, sizeof(*w->kind));
	w->group = calloc(n_nodes, sizeof(*w->group));
	w->states = calloc(n_nodes, sizeof(*w->states));
	w->is_shared = calloc(n_tensors, sizeof(*w->is_shared));
	w->listed = calloc(n_tensors, sizeof(*w->listed));
	w->s->of = calloc(n_nodes, sizeof(*w->s->of));
	w->s->row = calloc(n_nodes, sizeof(*w->s->row));
	w->s->own_order = calloc(n_nodes, sizeof(*w->s->own_order));
	w->s->own_last = calloc(n_tensors, sizeof(*w->s->own_last));
	return w->kind != NULL && w->group != NULL && w->states != NULL &&
	       w->is_shared != NULL && w->listed != NULL && w->s->of != NULL &&
	       w->s->row != NULL && w->s->own_order != NULL && w->s->own_last != NULL;
}

static void number_rows(struct work *w, const size_t *order)
{
	size_t n = 0;

	for (size_t i = 0; i < w->g->n_nodes; i++) {
		w->s->row[order[i]] = n;
		n += !msd_sg_node_is_given(w->g->nodes[order[i]]);
	}
}

static msd_err make_groups(struct msd_groups *s, const struct msd_graph_program *p,
			   const modser_graph *g, struct msd_diag *d)
{
	struct work w = {.g = g, .s = s};
	msd_err err = allocate(&w) ? make_order(&w, p, d) : msd_diag_no_memory(d);

	if (err == MSD_OK) {
		number_rows(&w, p->order);
		find_shared(&w);
		msd_memory_plan_find_last_reads(s->own_last, g, s->own_order);
		s->order = s->own_order;
		s->last = s->own_last;
		err = ask_all(&w, d);
	}
	free(w.kind);
	free(w.group);
	free((void *)w.states);
	free(w.is_shared);
	free(w.listed);
	return err;
}

msd_err msd_groups_init(struct msd_groups *s, struct msd_graph_program *p,
			const modser_graph *g, struct msd_diag *d)
{
	bool can_join = false;

	*s = (struct msd_groups){.by = calloc(g->n_nodes + 1, sizeof(*s->by)),
				 .order = p->order,
				 .last = p->last};
	if (s->by == NULL)
		return msd_diag_no_memory(d);
	const msd_err err = choose_engines(s, p, g, &can_join, d);
	return err == MSD_OK && can_join ? make_groups(s, p, g, d) : err;
}

void msd_groups_finish(struct msd_groups *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct msd_group *group = &s->items[i];

		if (group->engine->leave_group != NULL)
			group->engine->leave_group(group->state);
		free_lists(group);
	}
	free((void *)s->by);
	free((void *)s->of);
	free(s->row);
	free(s->items);
	free(s->own_order);
	free(s->own_last);
	*s = (struct msd_groups){0};
}

/*
 * Happy path: a plan of known shapes has one entry, made at load. Otherwise a run looks
 * for the entry of its input shapes, and infers a view of the graph if there is none.
 * If that needs computed values, this and all later runs are dynamic.
 */
#include "runtime/plan/plan.h"

#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/ir/view.h"
#include "runtime/plan/dynamic.h"
#include "runtime/plan/flow.h"
#include "runtime/plan/parts.h"
#include "runtime/pool/pool.h"

static msd_err prepare(struct msd_plan *p, modser_graph *graph, bool is_within,
		       struct msd_diag *d)
{
	bool is_open = false;
	msd_err err = msd_flows_create(graph, &p->flows, d);

	if (err == MSD_OK) {
		err = msd_graph_program_init(&p->program, graph, p->flows, is_within,
					     &is_open, d);
	}
	p->mode = is_open ? MSD_PLAN_CACHED_SHAPES : MSD_PLAN_STATIC;
	p->outputs = calloc(graph->n_outputs + 1, sizeof(*p->outputs));
	if (err == MSD_OK && p->outputs == NULL)
		err = msd_diag_no_memory(d);
	if (err != MSD_OK || is_open)
		return err;
	err = msd_shapes_add(&p->shapes, &p->program, graph, &p->entry, d);
	p->now_by = p->entry;
	return err == MSD_OK
		       ? msd_arena_block_grow(&p->arena, p->entry->memory.bytes, d)
		       : err;
}

static msd_err create(modser_graph *graph, bool is_within, struct msd_plan **ret,
		      struct msd_diag *d)
{
	struct msd_plan *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return msd_diag_no_memory(d);
	p->g = graph;
	p->now = graph;
	p->arena.allocator = &msd_allocator_host;
	const msd_err err = prepare(p, graph, is_within, d);
	if (err != MSD_OK) {
		msd_plan_destroy(p);
		return err;
	}
	*ret = p;
	return MSD_OK;
}

msd_err msd_plan_create(modser_graph *graph, struct msd_plan **ret, struct msd_diag *d)
{
	return create(graph, false, ret, d);
}

msd_err msd_plan_create_within(modser_graph *graph, struct msd_plan **ret,
			       struct msd_diag *d)
{
	return create(graph, true, ret, d);
}

void msd_plan_destroy(struct msd_plan *plan)
{
	if (plan == NULL)
		return;
	msd_dynamic_destroy(plan->dynamic);
	msd_shapes_finish(&plan->shapes);
	msd_flows_destroy(plan->flows, plan->g->n_nodes);
	msd_graph_program_finish(&plan->program);
	msd_arena_block_finish(&plan->arena);
	free((void *)plan->outputs);
	free(plan);
}

size_t msd_plan_arena_bytes(const struct msd_plan *plan)
{
	return plan->arena.bytes;
}

const modser_sg_tensor *msd_plan_output_tensor(const struct msd_plan *plan, size_t i)
{
	return plan->now->outputs[i];
}

const void *msd_plan_output(const struct msd_plan *plan, size_t i)
{
	return plan->outputs[i];
}

/* Give the inputs of @view their shapes; graphs within nodes get dtypes, too. */
static msd_err set_inputs(const struct msd_plan *p, modser_graph *view,
			  const struct msd_plan_input *inputs, struct msd_diag *d)
{
	for (size_t i = 0; i < view->n_inputs; i++) {
		if (p->program.is_within)
			msd_sg_tensor_take_dtype(view->inputs[i], inputs[i].dtype);
		if (modser_sg_tensor_set_dims(view->inputs[i], inputs[i].dims,
					      inputs[i].ndim) != 0)
			return msd_sg_error(view, d);
	}
	return MSD_OK;
}

/* Make the entry of new shapes, or find that the plan is dynamic. Owns @view. */
static msd_err use_view(struct msd_plan *p, modser_graph *view,
			const struct msd_plan_input *inputs, struct msd_entry **ret,
			struct msd_diag *d)
{
	bool is_open = false;
	msd_err err = set_inputs(p, view, inputs, d);

	if (err == MSD_OK)
		err = msd_graph_program_infer(&p->program, view, &is_open, d);
	if (err != MSD_OK) {
		msd_sg_view_destroy(view);
		return err;
	}
	if (!is_open)
		return msd_shapes_add(&p->shapes, &p->program, view, ret, d);
	err = msd_dynamic_create(&p->program, view, &msd_allocator_host, &p->dynamic,
				 d);
	if (err == MSD_OK)
		p->mode = MSD_PLAN_DYNAMIC;
	return err;
}

/* Set *@ret to the entry of these shapes; it stays NULL if the plan is dynamic. */
static msd_err find_entry(struct msd_plan *p, const struct msd_plan_input *inputs,
			  struct msd_entry **ret, struct msd_diag *d)
{
	*ret = msd_shapes_find(&p->shapes, &p->program, inputs);
	if (*ret != NULL)
		return MSD_OK;
	modser_graph *view = msd_sg_view_create(p->g);
	return view != NULL ? use_view(p, view, inputs, ret, d) : msd_diag_no_memory(d);
}

static msd_err run_dynamic(struct msd_plan *p, const struct msd_plan_args *args,
			   struct msd_diag *d)
{
	const msd_err err = set_inputs(p, p->dynamic->g, args->inputs, d);

	p->now = p->dynamic->g;
	p->now_by = NULL;
	return err == MSD_OK
		       ? msd_dynamic_run(p->dynamic, args, &p->times, p->outputs, d)
		       : err;
}

/* The entry of the last run had to make room for one that failed. */
static void forget_evicted(struct msd_plan *p)
{
	if (p->now_by == NULL || p->now_by->g == p->now)
		return;
	p->now = p->g;
	p->now_by = NULL;
}

msd_err msd_plan_call(struct msd_plan *plan, const struct msd_plan_args *args,
		      struct msd_diag *d)
{
	struct msd_entry *entry = plan->entry;
	msd_err err = MSD_OK;

	if (plan->mode == MSD_PLAN_CACHED_SHAPES)
		err = find_entry(plan, args->inputs, &entry, d);
	if (err != MSD_OK) {
		forget_evicted(plan);
		return err;
	}
	msd_pool_begin_series();
	if (plan->mode == MSD_PLAN_DYNAMIC) {
		err = run_dynamic(plan, args, d);
	} else {
		plan->now = entry->g;
		plan->now_by = entry;
		err = msd_entry_run(entry, &plan->arena, args, &plan->times,
				    plan->outputs, d);
	}
	msd_pool_end_series();
	return err;
}

msd_err msd_plan_run(struct msd_plan *plan, const void *const *inputs,
		     struct msd_diag *d)
{
	const modser_graph *g = plan->g;
	struct msd_plan_input *list = calloc(g->n_inputs + 1, sizeof(*list));

	if (list == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < g->n_inputs; i++) {
		const modser_sg_tensor *t = g->inputs[i];

		list[i] = (struct msd_plan_input){inputs[i], t->dims, (size_t)t->ndim,
						  t->dtype};
	}
	const msd_err err =
		msd_plan_call(plan, &(struct msd_plan_args){.inputs = list}, d);
	free(list);
	return err;
}

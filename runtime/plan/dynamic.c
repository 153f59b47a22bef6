/*
 * Happy path: for each node its shapes are inferred from the values so far, an engine
 * that supports them runs it, and tensors that no later node reads are freed. A node
 * that runs graphs sets its output shapes itself.
 */
#include "runtime/plan/dynamic.h"

#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/ir/view.h"
#include "graph/layout/memory_plan.h"
#include "proto/base/clock.h"
#include "runtime/engine/engine.h"
#include "runtime/kernel/kernel.h"
#include "runtime/plan/clock.h"
#include "runtime/plan/entry.h"
#include "runtime/plan/flow.h"

/* Start a run: free memory of the previous run and forget its values. */
static void forget(struct msd_dynamic *y)
{
	for (size_t i = 0; i < y->g->n_tensors; i++) {
		y->allocator->release(y->allocator, y->own[i]);
		y->own[i] = NULL;
		if (y->g->tensors[i]->type != MODSER_TENSOR_CONST)
			y->g->tensors[i]->value = NULL;
	}
}

void msd_dynamic_destroy(struct msd_dynamic *y)
{
	if (y == NULL)
		return;
	if (y->own != NULL)
		forget(y);
	msd_sg_view_destroy(y->g);
	free(y->own);
	free((void *)y->at);
	free((void *)y->in);
	free(y->out);
	free(y);
}

msd_err msd_dynamic_create(struct msd_graph_program *p, modser_graph *view,
			   const struct msd_allocator *allocator,
			   struct msd_dynamic **ret, struct msd_diag *d)
{
	struct msd_dynamic *y = calloc(1, sizeof(*y));

	if (y == NULL) {
		msd_sg_view_destroy(view);
		return msd_diag_no_memory(d);
	}
	*y = (struct msd_dynamic){
		.p = p,
		.g = view,
		.allocator = allocator,
		.own = calloc(view->n_tensors + 1, sizeof(*y->own)),
		.at = calloc(view->n_tensors + 1, sizeof(*y->at)),
		.in = calloc(p->most_ends, sizeof(*y->in)),
		.out = calloc(p->most_ends, sizeof(*y->out)),
	};
	if (y->own == NULL || y->at == NULL || y->in == NULL || y->out == NULL) {
		msd_dynamic_destroy(y);
		return msd_diag_no_memory(d);
	}
	*ret = y;
	return MSD_OK;
}

static void bind(struct msd_dynamic *y)
{
	for (size_t i = 0; i < y->g->n_tensors; i++) {
		if (y->g->tensors[i]->type == MODSER_TENSOR_CONST)
			y->at[i] = y->g->tensors[i]->data;
	}
	for (size_t i = 0; i < y->g->n_inputs; i++) {
		y->at[y->g->inputs[i]->index] = y->call->inputs[i].data;
		y->g->inputs[i]->value = y->call->inputs[i].data;
	}
}

/* True if the caller makes the memory of @t, a kernel's output. */
static bool is_callers(const struct msd_dynamic *y, const modser_sg_tensor *t)
{
	return y->call->make_output != NULL && y->p->output_of[t->index] != SIZE_MAX;
}

/* Memory for @t, which is computed next; NULL: memory is short. */
static void *make(struct msd_dynamic *y, modser_sg_tensor *t)
{
	void *at;

	if (is_callers(y, t)) {
		at = y->call->make_output(y->call->ctx, y->p->output_of[t->index], t);
	} else {
		at = y->allocator->allocate(y->allocator, msd_memory_plan_room(t));
		y->own[t->index] = at;
	}
	y->at[t->index] = at;
	t->value = at;
	return at;
}

static msd_err run_kernel(struct msd_dynamic *y, modser_sg_node *node,
			  struct msd_diag *d)
{
	const struct msd_kernel_call call = {.node = node, .in = y->in, .out = y->out};
	const struct msd_engine_node *by;
	msd_err err = msd_claim_choose(&y->p->claims[node->index], node, &by, d);

	if (err != MSD_OK)
		return err;
	for (size_t i = 0; i < node->n_inputs; i++) {
		const modser_sg_tensor *t = node->inputs[i];

		y->in[i] = t != NULL ? y->at[t->index] : NULL;
	}
	for (size_t i = 0; i < node->n_outputs; i++) {
		modser_sg_tensor *t = node->outputs[i];

		y->out[i] = t != NULL ? make(y, t) : NULL;
		if (t != NULL && y->out[i] == NULL)
			return msd_diag_no_memory(d);
	}
	err = by->engine->run(by->state, &call, d);
	return err == MSD_OK ? err : msd_entry_blame(node, err, d);
}

/* Infer the node's shapes after its inputs were computed; their values are known. */
static msd_err run_inferred(struct msd_dynamic *y, modser_sg_node *node,
			    struct msd_diag *d)
{
	const int result = msd_sg_infer_node(node);

	if (result == MSD_INFER_LATER) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "node %zu \"%s\": its shape is not known",
				    node->number, node->name);
	}
	return result == 0 ? run_kernel(y, node, d) : msd_sg_error(y->g, d);
}

/* A node that runs graphs sets its output shapes itself. */
static msd_err run_flow(struct msd_dynamic *y, const modser_sg_node *node,
			struct msd_diag *d)
{
	struct msd_flow *flow = y->p->flows[node->index];
	const struct msd_flow_call call = {node, flow, y->out, y->allocator};

	for (size_t i = 0; i < node->n_inputs; i++) {
		const modser_sg_tensor *t = node->inputs[i];

		flow->in[i] = t != NULL ? msd_flow_value_of(t, y->at[t->index])
					: (struct msd_flow_value){0};
	}
	for (size_t i = 0; i < node->n_outputs; i++)
		y->out[i] = NULL;
	const msd_err err = flow->kernel->run(&call, d);
	for (size_t i = 0; i < node->n_outputs; i++) {
		modser_sg_tensor *t = node->outputs[i];

		if (t == NULL)
			continue;
		y->own[t->index] = y->out[i];
		y->at[t->index] = y->out[i];
		t->value = y->out[i];
	}
	return err == MSD_OK ? err : msd_entry_blame(node, err, d);
}

static void drop_list(struct msd_dynamic *y, modser_sg_tensor *const *list, size_t n,
		      size_t step)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == NULL || y->p->last[list[i]->index] != step)
			continue;
		y->allocator->release(y->allocator, y->own[list[i]->index]);
		y->own[list[i]->index] = NULL;
		if (list[i]->type != MODSER_TENSOR_CONST)
			list[i]->value = NULL;
	}
}

static msd_err run_step(struct msd_dynamic *y, modser_sg_node *node, size_t step,
			struct msd_diag *d)
{
	const msd_err err = y->p->flows[node->index] != NULL ? run_flow(y, node, d)
							     : run_inferred(y, node, d);

	drop_list(y, node->inputs, node->n_inputs, step);
	drop_list(y, node->outputs, node->n_outputs, step);
	return err;
}

/* Kernels have written those that the caller made. */
static msd_err end(struct msd_dynamic *y, const void **ret_outputs, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < y->g->n_outputs; i++) {
		const modser_sg_tensor *t = y->g->outputs[i];
		const bool is_made = is_callers(y, t) && y->own[t->index] == NULL &&
				     y->p->output_of[t->index] == i;

		ret_outputs[i] = y->at[t->index];
		if (!is_made) {
			err = msd_entry_copy_output(y->call, y->g, i, &ret_outputs[i],
						    d);
		}
	}
	return err;
}

msd_err msd_dynamic_run(struct msd_dynamic *y, const struct msd_plan_args *call,
			const struct msd_clock_part *times, const void **ret_outputs,
			struct msd_diag *d)
{
	const bool is_timed = times->clock != NULL;
	uint64_t begin_ns = is_timed ? msd_now_ns() : 0;
	size_t row = times->first_row;
	msd_err err = MSD_OK;

	forget(y);
	y->call = call;
	bind(y);
	for (size_t step = 0; err == MSD_OK && step < y->g->n_nodes; step++) {
		modser_sg_node *node = y->g->nodes[y->p->order[step]];

		if (msd_sg_node_is_given(node))
			continue;
		err = run_step(y, node, step, d);
		if (is_timed)
			begin_ns = msd_clock_count(times->clock, row++, begin_ns);
	}
	return err == MSD_OK ? end(y, ret_outputs, d) : err;
}

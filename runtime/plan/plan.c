/*
 * A graph prepared to run, and its runs.
 *
 * Happy path: shapes are inferred and nodes ordered. An engine that supports the
 * element types accepts each node. Each tensor that a kernel makes gets a range of
 * one arena, which other tensors reuse after its last reader. A run binds constants
 * and inputs, calls kernel after kernel, and copies the outputs out.
 *
 * Failures occur at load: an operator without a kernel, elements that are not
 * float32, a constant without bytes. A run fails only when a kernel does.
 */
#include "runtime/plan/plan.h"

#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/ir/order.h"
#include "graph/layout/memory_plan.h"
#include "runtime/engine/engine.h"
#include "runtime/kernel/kernel.h"
#include "runtime/plan/flow.h"
#include "runtime/plan/shapes.h"
#include "runtime/plan/tensor_bindings.h"

struct msd_plan {
	modser_graph *g;
	size_t *order; /* order of the nodes */
	struct msd_tensor_bindings places;
	struct msd_shapes shapes; /* shapes of the last runs */
	bool keeps_shapes;        /* shapes depend only on the input shapes */
	const void **in;          /* inputs of the running node */
	void **out;
	struct msd_claim *claims; /* by node: its engines */
	struct msd_flow **flows;  /* by node: its graphs, else NULL */
	bool is_within; /* a graph within a node: no shape is known before a run */
};

static msd_err take_error(const modser_graph *g, struct msd_diag *d)
{
	return msd_diag_set(d, msd_err_from_name(modser_graph_error_name(g)), "%s",
			    modser_graph_error(g));
}

static msd_err check_node(struct msd_plan *p, const modser_sg_node *node,
			  struct msd_diag *d)
{
	for (size_t i = 0; i < node->n_inputs; i++) {
		const modser_sg_tensor *t = node->inputs[i];

		if (t != NULL && t->type == MODSER_TENSOR_CONST && t->data == NULL &&
		    t->bytes > 0) {
			return msd_diag_set(d, MSD_UNSUPPORTED,
					    "constant \"%s\" has no bytes", t->name);
		}
	}
	return msd_flow_is(node) ? msd_flow_create(node, &p->flows[node->index], d)
				 : MSD_OK;
}

/* An input with a shape that only a call knows still has a known number of
 * dimensions. */
static msd_err check_given(modser_sg_node *node, bool *is_open, struct msd_diag *d)
{
	const modser_sg_tensor *t = node->outputs[0];

	for (int i = 0; i < t->ndim; i++)
		*is_open = *is_open || t->dims[i] < 0;
	if (t->ndim >= 0 && t->type != MODSER_TENSOR_CONST)
		return MSD_OK;
	return msd_sg_infer_node(node) == 0 ? MSD_OK : take_error(node->graph, d);
}

static msd_err infer_node(const struct msd_plan *p, modser_sg_node *node, bool *is_open,
			  struct msd_diag *d)
{
	const int result = msd_sg_infer_node(node);

	if (result < 0)
		return take_error(node->graph, d);
	*is_open = *is_open || result == MSD_INFER_LATER;
	if (result != 0 || p->flows[node->index] != NULL)
		return MSD_OK;
	const struct msd_engine_node *by;
	return msd_claim_choose(&p->claims[node->index], node, &by, d);
}

static msd_err infer_step(const struct msd_plan *p, modser_sg_node *node, bool *is_open,
			  struct msd_diag *d)
{
	return msd_sg_node_is_given(node) ? check_given(node, is_open, d)
					  : infer_node(p, node, is_open, d);
}

/* *@is_open: some shape is known only during a run. */
static msd_err infer_all(struct msd_plan *p, bool *is_open, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	*is_open = p->is_within;
	for (size_t step = 0; err == MSD_OK && step < p->g->n_nodes; step++) {
		modser_sg_node *node = p->g->nodes[p->order[step]];

		if (!msd_sg_node_is_given(node))
			err = check_node(p, node, d);
		if (err != MSD_OK || p->is_within)
			continue;
		err = infer_step(p, node, is_open, d);
	}
	return err;
}

/* Shapes vary from run to run: engines that do not support one have a reserve. */
static msd_err reserve_all(struct msd_plan *p, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < p->g->n_nodes; i++) {
		const modser_sg_node *node = p->g->nodes[i];

		if (!msd_sg_node_is_given(node) && p->flows[i] == NULL)
			err = msd_claim_reserve(&p->claims[i], node, d);
	}
	return err;
}

static msd_err allocate(struct msd_plan *p, struct msd_diag *d)
{
	size_t most = 1;

	for (size_t i = 0; i < p->g->n_nodes; i++) {
		const modser_sg_node *node = p->g->nodes[i];

		most = node->n_inputs > most ? node->n_inputs : most;
		most = node->n_outputs > most ? node->n_outputs : most;
	}
	p->order = calloc(p->g->n_nodes + 1, sizeof(*p->order));
	p->claims = calloc(p->g->n_nodes + 1, sizeof(*p->claims));
	p->flows = calloc(p->g->n_nodes + 1, sizeof(*p->flows));
	p->in = calloc(most, sizeof(*p->in));
	p->out = calloc(most, sizeof(*p->out));
	if (p->order == NULL || p->in == NULL || p->out == NULL || p->claims == NULL ||
	    p->flows == NULL)
		return msd_diag_no_memory(d);
	return msd_tensor_bindings_init(&p->places, p->g, d);
}

static msd_err create(modser_graph *graph, bool is_within, struct msd_plan **ret,
		      struct msd_diag *d)
{
	struct msd_plan *p = calloc(1, sizeof(*p));
	bool is_open = false;
	msd_err err;

	if (p == NULL)
		return msd_diag_no_memory(d);
	struct msd_layout *layout = &p->places.layout;
	p->g = graph;
	p->is_within = is_within;
	err = allocate(p, d);
	if (err == MSD_OK && msd_sg_order(graph, p->order) != 0)
		err = take_error(graph, d);
	if (err == MSD_OK)
		err = infer_all(p, &is_open, d);
	if (err == MSD_OK && is_open)
		err = reserve_all(p, d);
	if (err == MSD_OK)
		msd_layout_find_last_reads(layout, graph, p->order);
	if (err == MSD_OK && !is_open)
		err = msd_layout_put(layout, graph, p->order, d);
	if (err == MSD_OK && !is_open)
		err = msd_layout_make(layout, layout->arena_bytes, d);
	p->places.now = is_open ? NULL : layout;
	p->keeps_shapes = is_open && !is_within; /* until a run shows the opposite */
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
	for (size_t i = 0; plan->flows != NULL && i < plan->g->n_nodes; i++)
		msd_flow_destroy(plan->flows[i]);
	for (size_t i = 0; plan->claims != NULL && i < plan->g->n_nodes; i++)
		msd_claim_release(&plan->claims[i]);
	free(plan->claims);
	free(plan->flows);
	msd_tensor_bindings_finish(&plan->places);
	msd_shapes_finish(&plan->shapes);
	free(plan->order);
	free(plan->in);
	free(plan->out);
	free(plan);
}

size_t msd_plan_arena_bytes(const struct msd_plan *plan)
{
	return plan->places.layout.arena_bytes;
}

const void *msd_plan_output(const struct msd_plan *plan, size_t i)
{
	return plan->places.at[plan->g->outputs[i]->index];
}

static msd_err run_kernel(struct msd_plan *p, const modser_sg_node *node,
			  const struct msd_engine_node *by, struct msd_diag *d)
{
	const struct msd_kernel_call call = {node, p->in, p->out};

	for (size_t i = 0; i < node->n_inputs; i++) {
		const modser_sg_tensor *t = node->inputs[i];

		p->in[i] = t != NULL ? p->places.at[t->index] : NULL;
	}
	for (size_t i = 0; i < node->n_outputs; i++) {
		modser_sg_tensor *t = node->outputs[i];

		p->out[i] = t != NULL ? msd_tensor_bindings_make(&p->places, t) : NULL;
		if (t != NULL && p->out[i] == NULL)
			return msd_diag_no_memory(d);
	}
	msd_err err = by->engine->run(by->state, &call, d);
	if (err != MSD_OK) {
		return msd_diag_wrap(d, err, "node %zu \"%s\"", node->number,
				     node->name);
	}
	return MSD_OK;
}

/* Shapes of the plan, or of a cached set, which another engine may run. */
static msd_err run_planned(struct msd_plan *p, const modser_sg_node *node,
			   struct msd_diag *d)
{
	struct msd_claim *c = &p->claims[node->index];
	const struct msd_engine_node *by = &c->by;
	const msd_err err =
		p->keeps_shapes ? msd_claim_choose(c, node, &by, d) : MSD_OK;

	return err == MSD_OK ? run_kernel(p, node, by, d) : err;
}

/* A node that runs graphs sets its output shapes itself. */
static msd_err run_flow(struct msd_plan *p, const modser_sg_node *node,
			struct msd_diag *d)
{
	struct msd_flow *flow = p->flows[node->index];
	const struct msd_flow_call call = {node, flow, p->out};

	for (size_t i = 0; i < node->n_inputs; i++) {
		const modser_sg_tensor *t = node->inputs[i];

		flow->in[i] = t != NULL ? msd_flow_value_of(t, p->places.at[t->index])
					: (struct msd_flow_value){0};
	}
	for (size_t i = 0; i < node->n_outputs; i++)
		p->out[i] = NULL;
	const msd_err err = flow->kernel->run(&call, d);
	for (size_t i = 0; i < node->n_outputs; i++) {
		if (node->outputs[i] != NULL) {
			msd_connection_slots_reserve(&p->places, node->outputs[i],
						     p->out[i]);
		}
	}
	return err == MSD_OK ? err
			     : msd_diag_wrap(d, err, "node %zu \"%s\"", node->number,
					     node->name);
}

/* Infer the node's shapes after its inputs were computed; their values are known. */
static msd_err run_inferred(struct msd_plan *p, modser_sg_node *node,
			    struct msd_diag *d)
{
	const int result = msd_sg_infer_node(node);

	if (result == MSD_INFER_LATER) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "node %zu \"%s\": its shape is not known",
				    node->number, node->name);
	}
	if (result != 0)
		return take_error(p->g, d);
	const struct msd_engine_node *by;
	msd_err err = msd_claim_choose(&p->claims[node->index], node, &by, d);
	return err == MSD_OK ? run_kernel(p, node, by, d) : err;
}

static msd_err run_open(struct msd_plan *p, modser_sg_node *node, size_t step,
			struct msd_diag *d)
{
	const msd_err err = p->flows[node->index] != NULL ? run_flow(p, node, d)
							  : run_inferred(p, node, d);

	msd_tensor_bindings_drop(&p->places, node, step);
	return err;
}

/* Infer the shapes of all tensors from the current input shapes. *@is_open: this
 * needs values as well. */
static msd_err infer_run(struct msd_plan *p, bool *is_open, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	*is_open = false;
	for (size_t i = 0; err == MSD_OK && !*is_open && i < p->g->n_nodes; i++)
		err = infer_step(p, p->g->nodes[p->order[i]], is_open, d);
	return err;
}

/* Find the memory plan for this run's shapes: a cached one or a new one. */
static msd_err find_shapes(struct msd_plan *p, struct msd_diag *d)
{
	const struct msd_layout **now = &p->places.now;
	bool is_open = false;
	msd_err err = MSD_OK;

	*now = msd_shapes_find(&p->shapes, p->g);
	if (*now == NULL) {
		err = infer_run(p, &is_open, d);
		p->keeps_shapes = !is_open;
		if (err != MSD_OK || is_open)
			return err;
		err = msd_shapes_keep(&p->shapes, p->g, p->order, now, d);
	}
	return err == MSD_OK
		       ? msd_layout_make(&p->places.layout, (*now)->arena_bytes, d)
		       : err;
}

msd_err msd_plan_run(struct msd_plan *plan, const void *const *inputs,
		     struct msd_diag *d)
{
	msd_tensor_bindings_forget(&plan->places);
	msd_err err = plan->keeps_shapes ? find_shapes(plan, d) : MSD_OK;
	if (err != MSD_OK)
		return err;
	msd_tensor_bindings_bind(&plan->places, inputs);
	for (size_t step = 0; step < plan->g->n_nodes; step++) {
		modser_sg_node *node = plan->g->nodes[plan->order[step]];

		if (msd_sg_node_is_given(node))
			continue;
		if (plan->places.now != NULL) {
			err = run_planned(plan, node, d);
		} else {
			err = run_open(plan, node, step, d);
		}
		if (err != MSD_OK)
			return err;
	}
	return MSD_OK;
}

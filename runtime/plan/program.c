/*
 * Happy path: nodes are ordered, and each is inferred, then claimed by an engine that
 * supports its dtypes and shapes. Nodes after an unknown extent are claimed in a run;
 * they get the reference engine as reserve, which also says whether they can run.
 *
 * Failures occur at load: an operator without a kernel, elements that no engine reads,
 * a constant without bytes.
 */
#include "runtime/plan/program.h"

#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/ir/order.h"
#include "graph/layout/memory_plan.h"
#include "runtime/engine/engine.h"

static msd_err check_constants(const modser_sg_node *node, struct msd_diag *d)
{
	for (size_t i = 0; i < node->n_inputs; i++) {
		const modser_sg_tensor *t = node->inputs[i];

		if (t != NULL && t->type == MODSER_TENSOR_CONST && t->data == NULL &&
		    t->bytes > 0) {
			return msd_diag_set(d, MSD_UNSUPPORTED,
					    "constant \"%s\" has no bytes", t->name);
		}
	}
	return MSD_OK;
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
	return msd_sg_infer_node(node) == 0 ? MSD_OK : msd_sg_error(node->graph, d);
}

static msd_err infer_and_claim(struct msd_graph_program *p, modser_sg_node *node,
			       bool *is_open, struct msd_diag *d)
{
	const int result = msd_sg_infer_node(node);

	if (result < 0)
		return msd_sg_error(node->graph, d);
	*is_open = *is_open || result == MSD_INFER_LATER;
	return result == 0 && p->flows[node->index] == NULL
		       ? msd_claim_make(&p->claims[node->index], node, d)
		       : MSD_OK;
}

static msd_err prepare(struct msd_graph_program *p, bool *is_open, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	*is_open = p->is_within;
	for (size_t step = 0; err == MSD_OK && step < p->g->n_nodes; step++) {
		modser_sg_node *node = p->g->nodes[p->order[step]];
		const bool is_given = msd_sg_node_is_given(node);

		if (!is_given)
			err = check_constants(node, d);
		if (err != MSD_OK || p->is_within)
			continue;
		err = is_given ? check_given(node, is_open, d)
			       : infer_and_claim(p, node, is_open, d);
	}
	return err;
}

/* Shapes vary from run to run: engines that do not support one have a reserve. */
static msd_err reserve_all(struct msd_graph_program *p, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < p->g->n_nodes; i++) {
		const modser_sg_node *node = p->g->nodes[i];

		if (!msd_sg_node_is_given(node) && p->flows[i] == NULL)
			err = msd_claim_reserve(&p->claims[i], node, d);
	}
	return err;
}

static msd_err allocate(struct msd_graph_program *p, struct msd_diag *d)
{
	const modser_graph *g = p->g;

	p->most_ends = 1;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const modser_sg_node *node = g->nodes[i];

		if (node->n_inputs > p->most_ends)
			p->most_ends = node->n_inputs;
		if (node->n_outputs > p->most_ends)
			p->most_ends = node->n_outputs;
	}
	p->order = calloc(g->n_nodes + 1, sizeof(*p->order));
	p->claims = calloc(g->n_nodes + 1, sizeof(*p->claims));
	p->last = calloc(g->n_tensors + 1, sizeof(*p->last));
	p->output_of = calloc(g->n_tensors + 1, sizeof(*p->output_of));
	return p->order != NULL && p->claims != NULL && p->last != NULL &&
			       p->output_of != NULL
		       ? MSD_OK
		       : msd_diag_no_memory(d);
}

/* A tensor that is two outputs is made for the first. */
static void find_outputs(struct msd_graph_program *p)
{
	const modser_graph *g = p->g;

	for (size_t i = 0; i < g->n_tensors; i++)
		p->output_of[i] = SIZE_MAX;
	for (size_t i = g->n_outputs; i > 0; i--) {
		const modser_sg_tensor *t = g->outputs[i - 1];

		if (t->producer != NULL && !msd_sg_node_is_given(t->producer))
			p->output_of[t->index] = i - 1;
	}
	for (size_t i = 0; i < g->n_nodes; i++) {
		const modser_sg_node *node = g->nodes[i];

		for (size_t k = 0; k < node->n_inputs; k++) {
			if (node->inputs[k] != NULL)
				p->output_of[node->inputs[k]->index] = SIZE_MAX;
		}
	}
}

msd_err msd_graph_program_init(struct msd_graph_program *p, modser_graph *g,
			       struct msd_flow *const *flows, bool is_within,
			       bool *ret_is_open, struct msd_diag *d)
{
	*p = (struct msd_graph_program){.g = g, .flows = flows, .is_within = is_within};
	msd_err err = allocate(p, d);
	if (err == MSD_OK && msd_sg_order(g, p->order) != 0)
		err = msd_sg_error(g, d);
	if (err == MSD_OK)
		err = prepare(p, ret_is_open, d);
	if (err == MSD_OK && *ret_is_open)
		err = reserve_all(p, d);
	if (err != MSD_OK)
		return err;
	msd_memory_plan_find_last_reads(p->last, g, p->order);
	find_outputs(p);
	return MSD_OK;
}

void msd_graph_program_finish(struct msd_graph_program *p)
{
	for (size_t i = 0; p->claims != NULL && i < p->g->n_nodes; i++)
		msd_claim_release(&p->claims[i]);
	for (struct msd_reordered *next, *at = p->reordered; at != NULL; at = next) {
		next = at->next;
		free(at->p);
		free(at);
	}
	free(p->order);
	free(p->claims);
	free(p->last);
	free(p->output_of);
}

msd_err msd_graph_program_infer(const struct msd_graph_program *p, modser_graph *view,
				bool *ret_is_open, struct msd_diag *d)
{
	*ret_is_open = false;
	for (size_t i = 0; !*ret_is_open && i < view->n_nodes; i++) {
		modser_sg_node *node = view->nodes[p->order[i]];

		if (msd_sg_node_is_given(node))
			continue;
		const int result = msd_sg_infer_node(node);
		if (result < 0)
			return msd_sg_error(view, d);
		*ret_is_open = result == MSD_INFER_LATER;
	}
	return MSD_OK;
}

#include "graph/pass/known.h"

#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"

int msd_known_init(struct msd_known *k, const struct msd_pass_job *job)
{
	k->tensors = calloc(job->g->n_tensors + 1, sizeof(*k->tensors));
	return k->tensors != NULL ? 0 : msd_sg_no_memory(job->g);
}

void msd_known_finish(struct msd_known *k)
{
	free(k->tensors);
}

/* A constant's shape was compared with its bytes. */
static bool is_given_known(const struct msd_pass_job *job, const modser_sg_tensor *t)
{
	if (t->type == MODSER_TENSOR_CONST)
		return true;
	for (int i = 0; i < t->ndim; i++) {
		if (t->dims[i] < 0)
			return false;
	}
	return t->ndim >= 0 && !job->is_within;
}

static bool can_infer(const struct msd_known *k, const modser_sg_node *node)
{
	for (size_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] != NULL && !k->tensors[node->inputs[i]->index])
			return false;
	}
	return node->op->schema->infer != NULL;
}

/* The plan reports a failed inference, or the run that reaches the node. */
static bool infer(const struct msd_known *k, modser_sg_node *node)
{
	if (!can_infer(k, node))
		return false;
	const int result = msd_sg_infer_node(node);
	if (result < 0)
		msd_diag_finish(&node->graph->diag);
	return result == 0;
}

bool msd_known_infer(struct msd_known *k, const struct msd_pass_job *job,
		     modser_sg_node *node)
{
	const bool is_known = msd_sg_node_is_given(node)
				      ? is_given_known(job, node->outputs[0])
				      : infer(k, node);

	for (size_t i = 0; i < node->n_outputs; i++) {
		if (node->outputs[i] != NULL)
			k->tensors[node->outputs[i]->index] = is_known;
	}
	return is_known;
}

/*
 * Identity removal: remove a node whose output equals its input in bytes, dtype and
 * shape. The readers of its output then read its input.
 *
 * An output of the graph keeps its name and its place: the producer of the identity's
 * input produces the output instead, unless that input is a constant, an input or
 * another output.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/op/move/keeps.h"
#include "graph/pass/known.h"
#include "graph/pass/pass.h"

static bool is_same(const modser_sg_tensor *x, const modser_sg_tensor *y)
{
	return msd_dtype_eq(x->dtype, y->dtype) && x->ndim == y->ndim &&
	       memcmp(x->dims, y->dims, (size_t)x->ndim * sizeof(*x->dims)) == 0;
}

struct removal {
	const struct msd_pass_job *job;
	struct msd_known known;
	modser_sg_tensor **instead; /* per tensor: its replacement; NULL: itself */
	bool *is_output;            /* per tensor: an output of the graph */
	bool *is_read;
};

/*
 * True if only the first output is requested, and it depends only on the first input.
 */
static bool gives_one(const struct removal *r, const modser_sg_node *node)
{
	if (node->n_inputs == 0 || node->inputs[0] == NULL || node->outputs[0] == NULL)
		return false;
	for (size_t i = 1; i < node->n_outputs; i++) {
		if (node->outputs[i] != NULL && r->is_read[node->outputs[i]->index])
			return false;
	}
	return true;
}

static bool is_identity(const struct removal *r, const modser_sg_node *node,
			bool is_known)
{
	const struct msd_op_keeping *row = msd_op_keeping_of(node);

	if (row == NULL || !gives_one(r, node) || (row->needs_shapes && !is_known))
		return false;
	if (row->needs_shapes && !is_same(node->inputs[0], node->outputs[0]))
		return false;
	return row->keeps(node);
}

static void move_output(modser_sg_tensor *x, modser_sg_tensor *y)
{
	modser_sg_node *maker = x->producer;

	for (size_t k = 0; k < maker->n_outputs; k++) {
		if (maker->outputs[k] == x)
			msd_sg_give_output(maker, k, y);
	}
}

/* True: @node was removed. */
static bool take_out(struct removal *r, modser_sg_node *node)
{
	modser_sg_tensor *x = node->inputs[0];
	modser_sg_tensor *y = node->outputs[0];

	if (!r->is_output[y->index]) {
		r->instead[y->index] = x;
		msd_sg_take_out(node);
		return true;
	}
	if (r->is_output[x->index] || msd_sg_node_is_given(x->producer))
		return false;
	msd_sg_take_out(node);
	move_output(x, y);
	r->instead[x->index] = y;
	return true;
}

static void follow(const struct removal *r, modser_sg_node *node)
{
	for (size_t i = 0; i < node->n_inputs; i++) {
		modser_sg_tensor *t = node->inputs[i];

		while (t != NULL && r->instead[t->index] != NULL)
			t = r->instead[t->index];
		node->inputs[i] = t;
	}
}

static void mark(bool *marks, modser_sg_tensor *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] != NULL)
			marks[list[i]->index] = true;
	}
}

static int removal_init(struct removal *r, const struct msd_pass_job *job)
{
	const modser_graph *g = job->g;

	r->job = job;
	r->instead = calloc(g->n_tensors + 1, sizeof(*r->instead));
	r->is_output = calloc(g->n_tensors + 1, sizeof(*r->is_output));
	r->is_read = calloc(g->n_tensors + 1, sizeof(*r->is_read));
	if (msd_known_init(&r->known, job) != 0)
		return -1;
	if (r->instead == NULL || r->is_output == NULL || r->is_read == NULL)
		return msd_sg_no_memory(job->g);
	for (size_t i = 0; i < g->n_nodes; i++)
		mark(r->is_read, g->nodes[i]->inputs, g->nodes[i]->n_inputs);
	mark(r->is_output, g->outputs, g->n_outputs);
	mark(r->is_read, g->outputs, g->n_outputs);
	return 0;
}

static void removal_finish(struct removal *r)
{
	msd_known_finish(&r->known);
	free((void *)r->instead);
	free(r->is_output);
	free(r->is_read);
}

static int run(const struct msd_pass_job *job, size_t *ret_n)
{
	modser_graph *g = job->g;
	struct removal r = {0};
	const int result = removal_init(&r, job);

	for (size_t i = 0; result == 0 && i < g->n_nodes; i++) {
		modser_sg_node *node = g->nodes[job->order[i]];

		follow(&r, node);
		const bool is_known = msd_known_infer(&r.known, job, node);
		if (is_identity(&r, node, is_known) && take_out(&r, node))
			++*ret_n;
	}
	for (size_t i = 0; result == 0 && i < g->n_nodes; i++)
		follow(&r, g->nodes[i]); /* an output may have been replaced since */
	removal_finish(&r);
	return result;
}

const struct msd_pass msd_pass_identity = {"identities taken out", {NULL}, run};

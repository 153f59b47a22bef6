/*
 * Constant folding: a node that reads only constants is computed once. So is a node
 * that asks for a shape that is the same in every run.
 *
 * A result that only changes the shape of a constant points into the file, as the
 * constant does. Other results are computed within limits. A model's large constants
 * stay untouched in pages that no run has read, so that loading stays short and
 * workers share them. Weights of another type or order are an exception: each run would
 * convert them, and engines pack only constants.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/layout/arena.h"
#include "graph/pass/known.h"
#include "graph/pass/pass.h"

#define MOST_OF_A_NODE (UINT64_C(1) << 20) /* bytes that it reads and writes */

static bool is_one_of(const modser_sg_node *node, const char *const *names, size_t n)
{
	size_t i = 0;

	while (i < n && strcmp(names[i], node->op->schema->name) != 0)
		i++;
	return i < n;
}

static bool has_bytes(const modser_sg_tensor *t)
{
	return t->type == MODSER_TENSOR_CONST && (t->data != NULL || t->bytes == 0);
}

static bool reads_constants(const modser_sg_node *node)
{
	for (size_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] != NULL && !has_bytes(node->inputs[i]))
			return false;
	}
	return node->n_inputs > 0;
}

/* True if input 0's bytes are not read. */
static bool asks_for_a_shape(const modser_sg_node *node)
{
	static const char *const names[] = {"Shape", "Size"};

	return is_one_of(node, names, 2);
}

static bool keeps_bytes(const modser_sg_node *node)
{
	static const char *const names[] = {"Reshape", "Flatten", "Squeeze",
					    "Unsqueeze", "Noop"};
	const modser_sg_tensor *t = node->inputs[0];

	return is_one_of(node, names, 5) && has_bytes(t) && t->release == NULL;
}

/* True if the node changes the type or the order of a constant. */
static bool makes_weights(const modser_sg_node *node)
{
	static const char *const names[] = {"DequantizeLinear", "Cast", "Transpose"};

	return is_one_of(node, names, 3);
}

/* Bytes that are not read do not count. */
static bool take_room(const struct msd_pass_job *job, const modser_sg_node *node)
{
	uint64_t *room = makes_weights(node) ? job->weights_room : job->room;
	const uint64_t most = makes_weights(node) ? *room : MOST_OF_A_NODE;
	uint64_t all = 0;
	uint64_t bytes;

	for (size_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] != NULL && has_bytes(node->inputs[i]))
			all += node->inputs[i]->bytes;
	}
	for (size_t i = 0; i < node->n_outputs; i++) {
		if (node->outputs[i] == NULL)
			continue;
		if (!msd_sg_tensor_bytes(node->outputs[i], &bytes) || bytes > most)
			return false;
		all += bytes;
	}
	if (all > most || all > *room)
		return false;
	*room -= all;
	return true;
}

/* Allocate output @t; constants are aligned as in files. */
static void *make(const modser_sg_tensor *t)
{
	uint64_t bytes = 0;

	return msd_sg_tensor_bytes(t, &bytes) ? msd_arena_aligned_alloc((size_t)bytes)
					      : NULL;
}

/* Scratch for the computation of a node. */
struct hands {
	const void **in;
	void **out;
	size_t n_out;
};

static void hands_finish(struct hands *h)
{
	for (size_t i = 0; h->out != NULL && i < h->n_out; i++)
		free(h->out[i]);
	free((void *)h->in);
	free((void *)h->out);
}

static int hands_init(struct hands *h, const modser_sg_node *node)
{
	*h = (struct hands){.in = calloc(node->n_inputs + 1, sizeof(*h->in)),
			    .out = calloc(node->n_outputs + 1, sizeof(*h->out)),
			    .n_out = node->n_outputs};
	if (h->in == NULL || h->out == NULL)
		return msd_sg_no_memory(node->graph);
	for (size_t i = 0; i < node->n_inputs; i++)
		h->in[i] = node->inputs[i] != NULL ? node->inputs[i]->data : NULL;
	for (size_t i = 0; i < node->n_outputs; i++) {
		if (node->outputs[i] == NULL)
			continue;
		h->out[i] = make(node->outputs[i]);
		if (h->out[i] == NULL)
			return msd_sg_no_memory(node->graph);
	}
	return 0;
}

/* The node produces the first of its outputs; the other outputs get nodes of their
 * own. */
static int put_constants(modser_sg_node *node, struct hands *h)
{
	size_t first = 0;

	while (first < h->n_out && node->outputs[first] == NULL)
		first++;
	for (size_t i = h->n_out; i > first; i--) {
		modser_sg_tensor *t = node->outputs[i - 1];
		modser_sg_node *by = node;

		if (t == NULL)
			continue;
		if (i - 1 > first) {
			by = modser_sg_node_create(node->graph, node->name);
			if (by == NULL || modser_sg_node_add_output(by, t) < 0)
				return -1;
		}
		if (msd_sg_make_const(by, t, h->out[i - 1], free) != 0)
			return -1;
		h->out[i - 1] = NULL;
	}
	return 0;
}

/* *@ret_n grows if the node was folded. */
static int compute(const struct msd_pass_job *job, modser_sg_node *node, size_t *ret_n)
{
	struct hands h;
	int result = hands_init(&h, node);

	if (result == 0 && job->host.compute(node, h.in, h.out)) {
		result = put_constants(node, &h);
		++*ret_n;
	}
	hands_finish(&h);
	return result;
}

static int fold(const struct msd_pass_job *job, modser_sg_node *node, size_t *ret_n)
{
	if (!reads_constants(node) && !asks_for_a_shape(node))
		return 0;
	if (keeps_bytes(node)) {
		++*ret_n;
		return msd_sg_make_const(node, node->outputs[0], node->inputs[0]->data,
					 NULL);
	}
	return job->host.compute != NULL && take_room(job, node)
		       ? compute(job, node, ret_n)
		       : 0;
}

static int run(const struct msd_pass_job *job, size_t *ret_n)
{
	const size_t n_nodes = job->g->n_nodes; /* new ones are constants */
	struct msd_known known;
	int result = msd_known_init(&known, job);

	for (size_t i = 0; result == 0 && i < n_nodes; i++) {
		modser_sg_node *node = job->g->nodes[job->order[i]];

		if (msd_known_infer(&known, job, node) && !msd_sg_node_is_given(node))
			result = fold(job, node, ret_n);
	}
	msd_known_finish(&known);
	return result;
}

const struct msd_pass msd_pass_fold = {"nodes folded into constants", {NULL}, run};

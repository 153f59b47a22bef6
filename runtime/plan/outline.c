/*
 * Happy path: inputs get the shapes of a first iteration, and their bytes if these
 * exist. Then node after node is inferred, and computed if all its inputs are known
 * and small. Failures are ignored: a node that cannot be inferred or computed leaves
 * its outputs, and all that depend on them, unknown.
 */
#include "runtime/plan/outline.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/ir/order.h"
#include "graph/ir/view.h"
#include "graph/layout/arena.h"
#include "runtime/kernel/kernel.h"
#include "runtime/plan/outline_flow.h"

#define MOST_BYTES (UINT64_C(1) << 20) /* per computed value */

struct outline {
	modser_graph *g;
	size_t *order;
	void **own; /* owned: values of tensors that were computed here */
	const void **in;
	void **out;
	bool lacks_memory;
};

static size_t most_ends(const modser_graph *g)
{
	size_t most = 1;

	for (size_t i = 0; i < g->n_nodes; i++) {
		most = g->nodes[i]->n_inputs > most ? g->nodes[i]->n_inputs : most;
		most = g->nodes[i]->n_outputs > most ? g->nodes[i]->n_outputs : most;
	}
	return most;
}

static msd_err outline_init(struct outline *o, modser_graph *g, struct msd_diag *d)
{
	const size_t n_ends = most_ends(g);

	*o = (struct outline){
		.g = g,
		.order = calloc(g->n_nodes + 1, sizeof(*o->order)),
		.own = calloc(g->n_tensors + 1, sizeof(*o->own)),
		.in = calloc(n_ends, sizeof(*o->in)),
		.out = calloc(n_ends, sizeof(*o->out)),
	};
	if (o->order == NULL || o->own == NULL || o->in == NULL || o->out == NULL)
		return msd_diag_no_memory(d);
	return msd_sg_order(g, o->order) == 0 ? MSD_OK : msd_sg_error(g, d);
}

static void outline_finish(struct outline *o)
{
	for (size_t i = 0; o->own != NULL && i < o->g->n_tensors; i++) {
		if (o->own[i] != NULL)
			o->g->tensors[i]->value = NULL;
		free(o->own[i]);
	}
	free(o->order);
	free(o->own);
	free((void *)o->in);
	free((void *)o->out);
}

static void forget_outputs(const modser_sg_node *node)
{
	for (size_t i = 0; i < node->n_outputs; i++) {
		if (node->outputs[i] == NULL)
			continue;
		node->outputs[i]->ndim = -1;
		node->outputs[i]->value = NULL;
	}
}

static bool is_there(const modser_sg_tensor *t)
{
	uint64_t bytes;

	return msd_outline_value_of(t) != NULL ||
	       (msd_sg_tensor_bytes(t, &bytes) && bytes == 0);
}

/* Zeroed memory for the value of @t; NULL: the tensor is not small. */
static void *make_value(struct outline *o, const modser_sg_tensor *t)
{
	uint64_t bytes;
	void *p;

	if (!msd_outline_has_shape(t) || !msd_sg_tensor_bytes(t, &bytes) ||
	    bytes > MOST_BYTES)
		return NULL;
	p = msd_arena_aligned_alloc((size_t)bytes);
	o->lacks_memory = o->lacks_memory || p == NULL;
	if (p != NULL)
		memset(p, 0, (size_t)bytes);
	free(o->own[t->index]);
	o->own[t->index] = p;
	return p;
}

/* True if an input was missing and is now set to zeros. */
static bool assume_zeros(struct outline *o, const modser_sg_node *node)
{
	bool has_made = false;

	for (size_t i = 0; i < node->n_inputs; i++) {
		modser_sg_tensor *t = node->inputs[i];

		if (t == NULL || t->type == MODSER_TENSOR_CONST || is_there(t))
			continue;
		t->value = make_value(o, t);
		has_made = has_made || t->value != NULL;
	}
	return has_made;
}

static bool infer(struct outline *o, modser_sg_node *node)
{
	int result = msd_sg_infer_node(node);

	if (result == MSD_INFER_LATER && assume_zeros(o, node))
		result = msd_sg_infer_node(node);
	if (result < 0) {
		o->lacks_memory = o->lacks_memory || o->g->diag.code == MSD_NOMEM;
		msd_diag_finish(&o->g->diag);
	}
	return result == 0;
}

/* True if all inputs of the node are known and small. */
static bool can_compute(const modser_sg_node *node)
{
	const bool asks_for_a_shape = strcmp(node->op->schema->name, "Shape") == 0 ||
				      strcmp(node->op->schema->name, "Size") == 0;
	uint64_t bytes;

	for (size_t i = 0; i < node->n_inputs && !asks_for_a_shape; i++) {
		const modser_sg_tensor *t = node->inputs[i];

		if (t != NULL && (!is_there(t) || !msd_sg_tensor_bytes(t, &bytes) ||
				  bytes > MOST_BYTES))
			return false;
	}
	return true;
}

static bool make_outputs(struct outline *o, const modser_sg_node *node)
{
	for (size_t i = 0; i < node->n_outputs; i++) {
		const modser_sg_tensor *t = node->outputs[i];

		o->out[i] = t != NULL ? make_value(o, t) : NULL;
		if (t != NULL && o->out[i] == NULL)
			return false;
	}
	return true;
}

static void compute(struct outline *o, const modser_sg_node *node)
{
	if (!can_compute(node) || !make_outputs(o, node))
		return;
	for (size_t i = 0; i < node->n_inputs; i++) {
		o->in[i] = node->inputs[i] != NULL
				   ? msd_outline_value_of(node->inputs[i])
				   : NULL;
	}
	if (!msd_kernel_compute(node, o->in, o->out))
		return;
	for (size_t i = 0; i < node->n_outputs; i++) {
		if (node->outputs[i] != NULL)
			node->outputs[i]->value = o->out[i];
	}
}

static msd_err run(struct outline *o, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < o->g->n_nodes; i++) {
		modser_sg_node *node = o->g->nodes[o->order[i]];

		if (msd_sg_node_is_given(node))
			continue;
		forget_outputs(node);
		if (msd_flow_is(node)) {
			err = msd_outline_node(node, d);
		} else if (infer(o, node)) {
			compute(o, node);
		} else {
			forget_outputs(node);
		}
		if (o->lacks_memory)
			return msd_diag_no_memory(d);
	}
	return err;
}

msd_err msd_outline_graph(modser_graph *g, struct msd_diag *d)
{
	struct outline o;
	msd_err err = outline_init(&o, g, d);

	if (err == MSD_OK)
		err = run(&o, d);
	outline_finish(&o);
	return err;
}

static msd_err set_inputs(modser_graph *view, const struct msd_flow_value *in,
			  struct msd_diag *d)
{
	for (size_t i = 0; i < view->n_inputs; i++) {
		modser_sg_tensor *t = view->inputs[i];

		msd_sg_tensor_take_dtype(t, in[i].dtype);
		t->value = in[i].data;
		if (modser_sg_tensor_set_dims(t, in[i].dims, in[i].ndim) != 0)
			return msd_sg_error(view, d);
	}
	return MSD_OK;
}

msd_err msd_outline_find(struct msd_flow_graph *g, const struct msd_flow_value *in,
			 struct msd_diag *d)
{
	msd_err err = msd_flow_check_inputs(g, in, d);

	if (err != MSD_OK)
		return err;
	msd_sg_view_destroy(g->outline);
	g->outline = msd_sg_view_create(g->graph);
	if (g->outline == NULL)
		return msd_diag_no_memory(d);
	err = set_inputs(g->outline, in, d);
	return err == MSD_OK ? msd_outline_graph(g->outline, d) : err;
}

/* Extents from the file may be -1. */
struct msd_flow_value msd_outline_output(const struct msd_flow_graph *g, size_t i)
{
	const modser_sg_tensor *t = g->outline->outputs[i];
	const struct msd_flow_value said =
		msd_flow_value_of(g->graph->outputs[i], NULL);
	struct msd_flow_value v = msd_flow_value_of(t, NULL);

	if (t->ndim < 0) {
		v.ndim = said.ndim;
		memcpy(v.dims, said.dims, said.ndim * sizeof(*v.dims));
	}
	for (size_t k = 0; k < v.ndim && v.ndim == said.ndim; k++) {
		if (v.dims[k] == 0) /* it may depend on an assumed value */
			v.dims[k] = said.dims[k];
	}
	v.bytes = 0;
	return v;
}

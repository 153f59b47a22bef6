/*
 * If, Loop and Scan during shape inference (outline.h). Happy path: the graph gets
 * the known shapes and values of the node's inputs and is inferred. Its outputs
 * become the node's, with one more axis for stacked outputs. An unknown shape stays
 * unknown; only lack of memory is an error.
 */
#include "runtime/plan/outline_flow.h"

#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/view.h"
#include "graph/op/flow/flow.h"
#include "graph/op/flow/params.h"
#include "runtime/kernel/kernel.h"

bool msd_outline_has_shape(const modser_sg_tensor *t)
{
	for (int i = 0; i < t->ndim; i++) {
		if (t->dims[i] < 0)
			return false;
	}
	return t->ndim >= 0;
}

static bool have_shapes(modser_sg_tensor *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] != NULL && !msd_outline_has_shape(list[i]))
			return false;
	}
	return true;
}

bool msd_outline_is_shaped(const modser_sg_node *node)
{
	return have_shapes(node->inputs, node->n_inputs) &&
	       have_shapes(node->outputs, node->n_outputs);
}

const void *msd_outline_value_of(const modser_sg_tensor *t)
{
	return t->type == MODSER_TENSOR_CONST ? t->data : t->value;
}

static void take_shape(modser_sg_tensor *to, const modser_sg_tensor *from)
{
	to->ndim = msd_outline_has_shape(from) ? from->ndim : -1;
	memcpy(to->dims, from->dims, sizeof(to->dims));
	msd_sg_tensor_take_dtype(to, from->dtype);
}

/* Set input @i of a graph from the outer tensor @from; NULL: it does not exist. */
static void give_input(const modser_graph *g, size_t i, const modser_sg_tensor *from)
{
	modser_sg_tensor *to = g->inputs[i];

	to->ndim = -1;
	to->value = NULL;
	if (from == NULL)
		return;
	take_shape(to, from);
	to->value = msd_outline_value_of(from);
}

static void cut_axis(modser_sg_tensor *t, int64_t axis)
{
	const size_t ndim = (size_t)t->ndim;

	t->value = NULL;
	if (t->ndim < 0 || axis < -(int64_t)ndim || axis >= (int64_t)ndim) {
		t->ndim = -1;
		return;
	}
	const size_t at = msd_kernel_axis(axis, ndim);
	memmove(t->dims + at, t->dims + at + 1, (ndim - at - 1) * sizeof(*t->dims));
	t->ndim--;
}

/* Output @i of @node stacks @n of @from along a new axis. */
static void give_stack(const modser_sg_node *node, size_t i,
		       const modser_sg_tensor *from, int64_t axis, int64_t n)
{
	modser_sg_tensor *to = node->outputs[i];
	const int64_t ndim = from->ndim + 1;

	if (to == NULL || !msd_outline_has_shape(from) ||
	    ndim > MODSER_GRAPH_MAX_NDIM || axis < -ndim || axis >= ndim)
		return;
	take_shape(to, from);
	const size_t at = msd_kernel_axis(axis, (size_t)ndim);
	memmove(to->dims + at + 1, to->dims + at,
		((size_t)ndim - 1 - at) * sizeof(*to->dims));
	to->dims[at] = n;
	to->ndim = (int)ndim;
}

static msd_err enter_if(const modser_sg_node *node, struct msd_diag *d)
{
	const size_t n_then = msd_flow_graph(node, 0)->n_inputs;
	const uint8_t *truth = msd_outline_value_of(node->inputs[0]);
	const bool is_else = truth != NULL && *truth == 0;
	modser_graph *g = msd_sg_view_create(msd_flow_graph(node, is_else ? 1 : 0));

	if (g == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < g->n_inputs; i++)
		give_input(g, i, node->inputs[1 + (is_else ? n_then : 0) + i]);
	const msd_err err = msd_outline_graph(g, d);
	for (size_t i = 0; i < node->n_outputs; i++) {
		if (node->outputs[i] != NULL)
			take_shape(node->outputs[i], g->outputs[i]);
	}
	msd_sg_view_destroy(g);
	return err;
}

/* Values carried between iterations keep their input shapes. */
static void give_states(const modser_sg_node *node, size_t first)
{
	for (size_t i = 0; i < msd_flow_states(node); i++) {
		if (node->outputs[i] != NULL && node->inputs[first + i] != NULL)
			take_shape(node->outputs[i], node->inputs[first + i]);
	}
}

static void give_scalar(modser_sg_tensor *t, struct msd_dtype dtype, const void *value)
{
	t->ndim = 0;
	t->value = value;
	msd_sg_tensor_take_dtype(t, dtype);
}

static msd_err enter_loop(const modser_sg_node *node, struct msd_diag *d)
{
	const int64_t turn = 0;
	const uint8_t truth = 1;
	modser_graph *g = msd_sg_view_create(msd_flow_graph(node, 0));
	const modser_sg_tensor *count = node->inputs[0];
	const int64_t *n = count != NULL ? msd_outline_value_of(count) : NULL;

	if (g == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 2; i < g->n_inputs; i++)
		give_input(g, i, node->inputs[i]);
	give_scalar(g->inputs[0], (struct msd_dtype){MSD_DT_INT, 64, 1}, &turn);
	give_scalar(g->inputs[1], (struct msd_dtype){MSD_DT_BOOL, 8, 1}, &truth);
	const msd_err err = msd_outline_graph(g, d);
	give_states(node, 2);
	for (size_t i = msd_flow_states(node); i < node->n_outputs; i++)
		give_stack(node, i, g->outputs[1 + i], 0, n != NULL && *n > 0 ? *n : 0);
	msd_sg_view_destroy(g);
	return err;
}

static msd_err enter_scan(const modser_sg_node *node, struct msd_diag *d)
{
	const size_t n_states = msd_flow_states(node);
	const struct msd_params_scan p = msd_params_scan(node);
	const size_t n_sliced = (size_t)p.num_scan_inputs;
	modser_graph *g = msd_sg_view_create(msd_flow_graph(node, 0));
	int64_t n = 0;

	if (g == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < g->n_inputs; i++) {
		const size_t k = i - n_states;

		give_input(g, i, node->inputs[i]);
		if (i < n_states || k >= n_sliced)
			continue;
		const int64_t axis = msd_ints_at(p.scan_input_axes, k, 0);
		cut_axis(g->inputs[i], axis);
		if (g->inputs[i]->ndim >= 0) {
			n = node->inputs[i]->dims[msd_kernel_axis(
				axis, (size_t)node->inputs[i]->ndim)];
		}
	}
	const msd_err err = msd_outline_graph(g, d);
	give_states(node, 0);
	for (size_t i = n_states; i < node->n_outputs; i++) {
		give_stack(node, i, g->outputs[i],
			   msd_ints_at(p.scan_output_axes, i - n_states, 0), n);
	}
	msd_sg_view_destroy(g);
	return err;
}

msd_err msd_outline_node(const modser_sg_node *node, struct msd_diag *d)
{
	if (msd_flow_graph(node, 1) != NULL)
		return enter_if(node, d);
	return strcmp(node->op->schema->name, "Loop") == 0 ? enter_loop(node, d)
							   : enter_scan(node, d);
}

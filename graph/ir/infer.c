#include "graph/ir/infer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/ir/order.h"

int msd_infer_fail(const modser_sg_node *node, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return msd_sg_fail(node->graph, MSD_BAD_ARTIFACT, "node %zu \"%s\", %s: %s",
			   node->index, node->name, node->op->schema->name, text);
}

const int64_t *msd_infer_dims(const modser_sg_node *node, size_t i)
{
	return node->inputs[i]->dims;
}

size_t msd_infer_ndim(const modser_sg_node *node, size_t i)
{
	return (size_t)node->inputs[i]->ndim;
}

int64_t msd_infer_product(const modser_sg_node *node, size_t i, size_t from, size_t to)
{
	int64_t n = 1;

	for (size_t k = from; k < to; k++)
		n *= node->inputs[i]->dims[k];
	return n;
}

int msd_infer_rank(const modser_sg_node *node, size_t i, size_t rank)
{
	if (msd_infer_ndim(node, i) == rank)
		return 0;
	return msd_infer_fail(node, "input %zu has %zu dimensions, expected %zu", i,
			      msd_infer_ndim(node, i), rank);
}

int msd_infer_set(const modser_sg_node *node, const int64_t *dims, size_t n)
{
	return modser_sg_tensor_set_dims(node->outputs[0], dims, n);
}

int msd_infer_same(modser_sg_node *node)
{
	return msd_infer_set(node, msd_infer_dims(node, 0), msd_infer_ndim(node, 0));
}

int msd_infer_range(const modser_sg_node *node, const char *param, int64_t min,
		    int64_t max)
{
	const int64_t value = modser_sg_op_int(node->op, param);

	if (value >= min && value <= max)
		return 0;
	return msd_infer_fail(node,
			      "%s is %" PRId64 ", expected %" PRId64 " to %" PRId64,
			      param, value, min, max);
}

int msd_infer_axis(const modser_sg_node *node, size_t *ret)
{
	const int64_t ndim = (int64_t)msd_infer_ndim(node, 0);
	const int64_t axis = modser_sg_op_int(node->op, "axis");

	if (msd_infer_range(node, "axis", -ndim, ndim - 1) != 0)
		return -1;
	*ret = (size_t)(axis < 0 ? axis + ndim : axis);
	return 0;
}

/* Every extent is known and at least 1, and the bytes fit. */
static int check_shape(const modser_sg_node *node, const modser_sg_tensor *t)
{
	uint64_t bytes;

	if (t->ndim < 0) {
		return msd_infer_fail(node, "the shape of \"%s\" is not known",
				      t->name);
	}
	for (int i = 0; i < t->ndim; i++) {
		if (t->dims[i] < 1) {
			return msd_infer_fail(node,
					      t->dims[i] < 0
						      ? "extent %d of \"%s\" is not "
							"known"
						      : "extent %d of \"%s\" is 0",
					      i, t->name);
		}
	}
	if (!msd_sg_tensor_bytes(t, &bytes) || bytes > SIZE_MAX / 2)
		return msd_infer_fail(node, "\"%s\" is too large", t->name);
	return 0;
}

static int infer_node(modser_sg_node *node)
{
	if (node->op->schema->infer == NULL) {
		return msd_sg_fail(node->graph, MSD_UNSUPPORTED,
				   "node %zu \"%s\": %s cannot be run yet", node->index,
				   node->name, node->op->schema->name);
	}
	for (size_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] == NULL)
			return msd_infer_fail(node, "it leaves out an input");
	}
	if (node->op->schema->infer(node) != 0)
		return -1;
	for (size_t i = 0; i < node->n_outputs; i++) {
		if (check_shape(node, node->outputs[i]) != 0)
			return -1;
	}
	return 0;
}

static int infer_all(modser_graph *g, size_t *order)
{
	if (order == NULL)
		return msd_sg_no_memory(g);
	if (msd_sg_order(g, order) != 0)
		return -1;
	for (size_t i = 0; i < g->n_nodes; i++) {
		if (infer_node(g->nodes[order[i]]) != 0)
			return -1;
	}
	return 0;
}

int modser_graph_infer(modser_graph *graph)
{
	size_t *order = calloc(graph->n_nodes + 1, sizeof(*order));
	const int result = infer_all(graph, order);

	free(order);
	return result;
}

/* Helpers of operators that infer shapes and dtypes, and the walk over a graph that
 * calls them. */
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
			   node->number, node->name, node->op->schema->name, text);
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

bool msd_infer_has(const modser_sg_node *node, size_t i)
{
	return i < node->n_inputs && node->inputs[i] != NULL;
}

int msd_infer_axis_of(const modser_sg_node *node, int64_t axis, size_t ndim,
		      size_t *ret)
{
	const int64_t n = (int64_t)ndim;

	if (axis < -n || axis >= n) {
		return msd_infer_fail(node, "axis %" PRId64 " of %zu", axis, ndim);
	}
	*ret = (size_t)(axis < 0 ? axis + n : axis);
	return 0;
}

int msd_infer_set_output(const modser_sg_node *node, size_t k, const int64_t *dims,
			 size_t n)
{
	if (k >= node->n_outputs || node->outputs[k] == NULL)
		return 0;
	return modser_sg_tensor_set_dims(node->outputs[k], dims, n);
}

void msd_infer_dtype(const modser_sg_node *node, size_t k, struct msd_dtype dtype)
{
	if (k >= node->n_outputs || node->outputs[k] == NULL)
		return;
	msd_sg_tensor_take_dtype(node->outputs[k], dtype);
}

struct msd_dtype msd_infer_dtype_of(const modser_sg_node *node, size_t i)
{
	return node->inputs[i]->dtype;
}

int msd_infer_alike(const modser_sg_node *node, size_t from, size_t to)
{
	for (size_t i = from + 1; i < to && i < node->n_inputs; i++) {
		const modser_sg_tensor *t = node->inputs[i];

		if (t != NULL && !msd_dtype_eq(t->dtype, node->inputs[from]->dtype)) {
			return msd_infer_fail(node, "\"%s\" is %s, and \"%s\" %s",
					      t->name, t->dtype_name,
					      node->inputs[from]->name,
					      node->inputs[from]->dtype_name);
		}
	}
	return 0;
}

int msd_infer_broadcast(const modser_sg_node *node)
{
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t ndim = 0;

	for (size_t i = 0; i < node->n_inputs; i++) {
		const size_t n = (size_t)node->inputs[i]->ndim;

		ndim = n > ndim ? n : ndim;
	}
	for (size_t k = 0; k < ndim; k++)
		dims[k] = 1;
	for (size_t i = 0; i < node->n_inputs; i++) {
		const modser_sg_tensor *t = node->inputs[i];
		int64_t *last = dims + ndim - (size_t)t->ndim;

		for (size_t k = 0; k < (size_t)t->ndim; k++) {
			if (t->dims[k] == 1 || t->dims[k] == last[k])
				continue;
			if (last[k] != 1) {
				return msd_infer_fail(node,
						      "its inputs do not go together");
			}
			last[k] = t->dims[k];
		}
	}
	return msd_infer_set(node, dims, ndim);
}

int msd_infer_elementwise(modser_sg_node *node)
{
	if (msd_infer_alike(node, 0, node->n_inputs) != 0)
		return -1;
	return msd_infer_broadcast(node);
}

int msd_infer_set(const modser_sg_node *node, const int64_t *dims, size_t n)
{
	return msd_infer_set_output(node, 0, dims, n);
}

int msd_infer_same(modser_sg_node *node)
{
	return msd_infer_set(node, msd_infer_dims(node, 0), msd_infer_ndim(node, 0));
}

int msd_infer_range(const modser_sg_node *node, const char *param, int64_t value,
		    int64_t min, int64_t max)
{
	if (value >= min && value <= max)
		return 0;
	return msd_infer_fail(node,
			      "%s is %" PRId64 ", expected %" PRId64 " to %" PRId64,
			      param, value, min, max);
}

int msd_infer_axis(const modser_sg_node *node, int64_t axis, size_t *ret)
{
	const int64_t ndim = (int64_t)msd_infer_ndim(node, 0);

	if (msd_infer_range(node, "axis", axis, -ndim, ndim - 1) != 0)
		return -1;
	*ret = (size_t)(axis < 0 ? axis + ndim : axis);
	return 0;
}

/*
 * More than a machine can address: below it sums of extents and pads do not overflow.
 */
#define MOST_BYTES (UINT64_C(1) << 48)

/*
 * Check that every extent is known and that the bytes fit, also without extents of 0.
 */
static int check_shape(const modser_sg_node *node, const modser_sg_tensor *t)
{
	uint64_t bytes;
	uint64_t n = 1;

	if (t->ndim < 0) {
		return msd_infer_fail(node, "the shape of \"%s\" is not known",
				      t->name);
	}
	for (int i = 0; i < t->ndim; i++) {
		if (t->dims[i] < 0) {
			return msd_infer_fail(node, "extent %d of \"%s\" is not known",
					      i, t->name);
		}
		if (t->dims[i] > 0 &&
		    __builtin_mul_overflow(n, (uint64_t)t->dims[i], &n))
			return msd_infer_fail(node, "\"%s\" is too large", t->name);
	}
	if (!msd_dtype_bytes(t->dtype, n, &bytes) || bytes > MOST_BYTES)
		return msd_infer_fail(node, "\"%s\" is too large", t->name);
	return 0;
}

static bool is_known(const modser_sg_tensor *t)
{
	for (int i = 0; i < t->ndim; i++) {
		if (t->dims[i] < 0)
			return false;
	}
	return t->ndim >= 0;
}

static int check_inputs(const modser_sg_node *node)
{
	for (size_t i = 0; i < node->n_inputs; i++) {
		const bool may_lack =
			i < 32 && (node->op->schema->optional_in >> i & 1) != 0;

		if (node->inputs[i] == NULL && !may_lack)
			return msd_infer_fail(node, "it leaves out an input");
		if (node->inputs[i] != NULL && !is_known(node->inputs[i]))
			return MSD_INFER_LATER;
		if (node->inputs[i] != NULL && check_shape(node, node->inputs[i]) != 0)
			return -1;
	}
	return 0;
}

/* The subgraphs of such a node decide the dtypes of its outputs. */
static bool runs_graphs(const modser_sg_node *node)
{
	for (size_t i = 0; i < node->op->attrs.n; i++) {
		if (node->op->attrs.items[i].value.kind == MODSER_ATTR_GRAPH)
			return true;
	}
	return false;
}

int msd_sg_infer_node(modser_sg_node *node)
{
	if (node->op->schema->infer == NULL) {
		return msd_sg_fail(node->graph, MSD_UNSUPPORTED,
				   "node %zu \"%s\": %s cannot be run yet",
				   node->number, node->name, node->op->schema->name);
	}
	int result = check_inputs(node);
	if (result != 0)
		return result;
	if (msd_infer_has(node, 0) && !runs_graphs(node)) {
		for (size_t i = 0; i < node->n_outputs; i++)
			msd_infer_dtype(node, i, node->inputs[0]->dtype);
	}
	result = node->op->schema->infer(node);
	for (size_t i = 0; result == 0 && i < node->n_outputs; i++) {
		if (node->outputs[i] != NULL)
			result = check_shape(node, node->outputs[i]);
	}
	return result;
}

static int infer_all(modser_graph *g, size_t *order)
{
	if (order == NULL)
		return msd_sg_no_memory(g);
	if (msd_sg_order(g, order) != 0)
		return -1;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const modser_sg_node *node = g->nodes[order[i]];
		const int result = msd_sg_infer_node(g->nodes[order[i]]);

		if (result == MSD_INFER_LATER) {
			return msd_infer_fail(node, "its shape is known only in a run");
		}
		if (result != 0)
			return -1;
	}
	return 0;
}

int modser_graph_infer(modser_graph *graph)
{
	if (graph == NULL)
		return msd_sg_null(NULL, "graph");
	size_t *order = calloc(graph->n_nodes + 1, sizeof(*order));
	const int result = infer_all(graph, order);

	free(order);
	return result;
}

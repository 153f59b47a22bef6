/*
 * modser_graph_equal(): compare two graphs index by index, down to the bytes of
 * constants and the bits of floats. The error of the first graph names the first
 * difference.
 */
#include <string.h>

#include "graph/ir/graph.h"

static bool differs(modser_graph *g, const char *what, size_t i, const char *how)
{
	(void)msd_sg_fail(g, MSD_BAD_ARGUMENT, "%s %zu: %s", what, i, how);
	return false;
}

static bool lists_equal(modser_sg_tensor *const *a, size_t na,
			modser_sg_tensor *const *b, size_t nb)
{
	if (na != nb)
		return false;
	for (size_t i = 0; i < na; i++) {
		if ((a[i] == NULL) != (b[i] == NULL))
			return false;
		if (a[i] != NULL && a[i]->index != b[i]->index)
			return false;
	}
	return true;
}

static bool attr_equal(const modser_sg_attr *a, const modser_sg_attr *b)
{
	if (a->kind == MODSER_ATTR_GRAPH && b->kind == MODSER_ATTR_GRAPH)
		return modser_graph_equal(a->as.graph, b->as.graph);
	return msd_sg_attr_equal(a, b);
}

/* The attributes of @a that do not say its origin are those of @b. */
static bool facts_within(const struct msd_sg_attrs *a, const struct msd_sg_attrs *b)
{
	for (size_t i = 0; i < a->n; i++) {
		const modser_sg_attr *other = msd_sg_attrs_find(b, a->items[i].name);

		if (!msd_sg_attr_is_origin(a->items[i].name) &&
		    (other == NULL || !attr_equal(&a->items[i].value, other)))
			return false;
	}
	return true;
}

static bool attrs_equal(const struct msd_sg_attrs *a, const struct msd_sg_attrs *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		if (strcmp(a->items[i].name, b->items[i].name) != 0 ||
		    !attr_equal(&a->items[i].value, &b->items[i].value))
			return false;
	}
	return true;
}

static bool ops_equal(const modser_sg_op *a, const modser_sg_op *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	if (a->schema != b->schema)
		return false;
	for (size_t i = 0; i < a->schema->n_fields; i++) {
		if (!attr_equal(&a->params[i], &b->params[i]))
			return false;
	}
	return attrs_equal(&a->attrs, &b->attrs);
}

static bool node_equal(modser_graph *g, const modser_sg_node *a,
		       const modser_sg_node *b)
{
	if (strcmp(a->name, b->name) != 0)
		return differs(g, "node", a->index, "the names differ");
	if (!ops_equal(a->op, b->op)) {
		return differs(g, "node", a->index,
			       "operators or their parameters differ");
	}
	if (!lists_equal(a->inputs, a->n_inputs, b->inputs, b->n_inputs) ||
	    !lists_equal(a->outputs, a->n_outputs, b->outputs, b->n_outputs))
		return differs(g, "node", a->index, "inputs or outputs differ");
	return true;
}

static bool shapes_equal(const modser_sg_tensor *a, const modser_sg_tensor *b)
{
	if (a->ndim != b->ndim || !msd_dtype_eq(a->dtype, b->dtype) ||
	    a->is_nhwc != b->is_nhwc)
		return false;
	for (int i = 0; i < a->ndim; i++) {
		if (a->dims[i] != b->dims[i] ||
		    strcmp(modser_sg_tensor_dim_name(a, (size_t)i),
			   modser_sg_tensor_dim_name(b, (size_t)i)) != 0)
			return false;
	}
	return true;
}

static bool bytes_equal(const void *a, const void *b, size_t n)
{
	return n == 0 || memcmp(a, b, n) == 0;
}

static bool tensor_equal(modser_graph *g, const modser_sg_tensor *a,
			 const modser_sg_tensor *b)
{
	if (strcmp(a->name, b->name) != 0)
		return differs(g, "tensor", a->index, "the names differ");
	if (a->type != b->type)
		return differs(g, "tensor", a->index, "the types differ");
	if (!shapes_equal(a, b))
		return differs(g, "tensor", a->index, "shapes or dtypes differ");
	if (a->n_quants != b->n_quants ||
	    !bytes_equal(a->quants, b->quants, a->n_quants * sizeof(*a->quants)))
		return differs(g, "tensor", a->index, "the scales differ");
	if (a->bytes != b->bytes || (a->data == NULL) != (b->data == NULL) ||
	    (a->data != NULL && !bytes_equal(a->data, b->data, (size_t)a->bytes)))
		return differs(g, "tensor", a->index, "the constants differ");
	return true;
}

bool modser_graph_equal(modser_graph *a, const modser_graph *b)
{
	if (a == NULL || b == NULL)
		return msd_sg_null(a, "the other graph") == 0;
	if (a->n_nodes != b->n_nodes)
		return differs(a, "graph", 0, "the numbers of nodes differ");
	if (a->n_tensors != b->n_tensors)
		return differs(a, "graph", 0, "the numbers of tensors differ");
	for (size_t i = 0; i < a->n_nodes; i++) {
		if (!node_equal(a, a->nodes[i], b->nodes[i]))
			return false;
	}
	for (size_t i = 0; i < a->n_tensors; i++) {
		if (!tensor_equal(a, a->tensors[i], b->tensors[i]))
			return false;
	}
	if (!lists_equal(a->inputs, a->n_inputs, b->inputs, b->n_inputs) ||
	    !lists_equal(a->outputs, a->n_outputs, b->outputs, b->n_outputs))
		return differs(a, "graph", 0, "inputs or outputs differ");
	if (!facts_within(&a->attrs, &b->attrs) || !facts_within(&b->attrs, &a->attrs))
		return differs(a, "graph", 0, "the attributes differ");
	return true;
}

/* Constants and nodes that the rows add. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/serializer/onnx/load.h"
#include "graph/serializer/onnx/tensor.h"

/* Missing inputs before it are omitted. */
int onnx_put_input(const struct onnx_node *n, size_t k, modser_sg_tensor *t)
{
	while (n->node->n_inputs < k) {
		if (modser_sg_node_add_input(n->node, NULL) < 0)
			return -1;
	}
	if (n->node->n_inputs == k)
		return modser_sg_node_add_input(n->node, t) < 0 ? -1 : 0;
	n->node->inputs[k] = t;
	return 0;
}

int onnx_add_constant(const struct onnx_node *n, size_t k, const char *dtype,
		      const int64_t *dims, size_t n_dims, const void *bytes)
{
	struct msd_dtype type;
	uint64_t count;
	uint64_t size;
	char name[256];

	(void)snprintf(name, sizeof(name), "%.200s.%zu", n->node->name, k);
	if (!msd_dtype_parse(dtype, strlen(dtype), &type) ||
	    !msd_shape_elements(dims, n_dims, &count) ||
	    !msd_dtype_bytes(type, count, &size))
		return onnx_fail(n, "it is too large");
	void *copy = malloc(size > 0 ? (size_t)size : 1);
	if (copy == NULL)
		return msd_sg_no_memory(n->l->g);
	if (size > 0)
		memcpy(copy, bytes, (size_t)size);
	modser_sg_tensor *t =
		onnx_tensor_create(n->l->g, name, dtype, dims, n_dims, copy, free);
	if (t == NULL) {
		free(copy);
		return -1;
	}
	return onnx_put_input(n, k, t);
}

int onnx_add_float(const struct onnx_node *n, size_t k, float value)
{
	return onnx_add_constant(n, k, "float32", NULL, 0, &value);
}

modser_sg_tensor *onnx_input(const struct onnx_node *n, size_t i)
{
	return i < n->node->n_inputs ? n->node->inputs[i] : NULL;
}

int onnx_add_ints(const struct onnx_node *n, size_t k, const int64_t *values,
		  size_t count)
{
	const int64_t dims[] = {(int64_t)count};

	return onnx_add_constant(n, k, "int64", dims, 1, values);
}

/* Infer shapes as far as possible; an invalid shape is not an error here. */
int onnx_input_ndim(const struct onnx_node *n, size_t i)
{
	modser_graph *g = n->l->g;

	for (; n->l->n_inferred < g->n_nodes; n->l->n_inferred++) {
		modser_sg_node *node = g->nodes[n->l->n_inferred];

		if (node != n->node && node->n_inputs > 0 &&
		    msd_sg_infer_node(node) != 0)
			continue;
	}
	return i < n->node->n_inputs && n->node->inputs[i] != NULL
		       ? n->node->inputs[i]->ndim
		       : -1;
}

int onnx_insert(const struct onnx_node *n, size_t input, const char *op,
		const char *param, const int64_t *values, size_t count)
{
	const modser_sg_attr list = {MODSER_ATTR_INTS, count, {.ints = values}};
	modser_graph *g = n->l->g;
	modser_sg_node *node = modser_sg_node_create(g, n->node->name);
	modser_sg_op *made = node != NULL ? modser_sg_op_create(g, op) : NULL;
	modser_sg_tensor *out =
		made != NULL ? modser_sg_tensor_create(g, n->node->name) : NULL;

	if (out == NULL || modser_sg_op_set_param(made, param, &list) != 0 ||
	    modser_sg_node_add_input(node, n->node->inputs[input]) < 0 ||
	    modser_sg_node_add_output(node, out) < 0)
		return -1;
	msd_sg_node_take_op(node, made);
	n->node->inputs[input] = out;
	return 0;
}

struct onnx_made onnx_make(const struct onnx_node *n, const char *op,
			   modser_sg_tensor *a, modser_sg_tensor *b, const char *name)
{
	modser_graph *g = n->l->g;
	struct onnx_made made = {.n = *n};
	modser_sg_node *node = modser_sg_node_create(g, n->node->name);
	modser_sg_op *own = node != NULL ? modser_sg_op_create(g, op) : NULL;

	made.n.node = NULL;
	if (a == NULL && g->diag.code == MSD_OK)
		(void)onnx_fail(n, "an input is missing");
	if (own == NULL || a == NULL)
		return made;
	msd_sg_node_take_op(node, own);
	made.out = modser_sg_tensor_create(g, name != NULL ? name : n->node->name);
	if (made.out == NULL || modser_sg_node_add_input(node, a) < 0 ||
	    (b != NULL && modser_sg_node_add_input(node, b) < 0) ||
	    modser_sg_node_add_output(node, made.out) < 0)
		return made;
	if (name != NULL && !msd_names_add(&n->l->names, made.out->name, made.out)) {
		(void)msd_sg_no_memory(g);
		return made;
	}
	made.n.node = node;
	made.n.op = own;
	return made;
}

modser_sg_tensor *onnx_make_extent(const struct onnx_node *n, modser_sg_tensor *x,
				   int64_t axis)
{
	const struct onnx_made made = onnx_make(n, "Shape", x, NULL, NULL);

	return made.n.node != NULL && onnx_set_int(&made.n, "start", axis) == 0 &&
			       onnx_set_int(&made.n, "end", axis + 1) == 0
		       ? made.out
		       : NULL;
}

modser_sg_tensor *onnx_make_places(const struct onnx_node *n, modser_sg_tensor *x,
				   int64_t axis)
{
	static const int64_t zero = 0;
	static const int64_t one = 1;
	modser_sg_tensor *end = onnx_make_extent(n, x, axis);
	const struct onnx_made made = onnx_make(n, "Range", end, NULL, NULL);

	return made.n.node != NULL && onnx_add_ints(&made.n, 0, &zero, 1) == 0 &&
			       onnx_put_input(&made.n, 1, end) == 0 &&
			       onnx_add_ints(&made.n, 2, &one, 1) == 0
		       ? made.out
		       : NULL;
}

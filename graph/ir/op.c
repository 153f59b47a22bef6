/*
 * An operator of a node: created with its schema's defaults, then its parameters are
 * set. Each must have the kind that the schema declares. A call that fails stores its
 * error text in the graph.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/refuse.h"
#include "proto/base/grow.h"

static int copy_defaults(modser_sg_op *op)
{
	const modser_sg_op_schema *schema = op->schema;

	op->params = calloc(schema->n_fields + 1, sizeof(*op->params));
	if (op->params == NULL)
		return -1;
	for (size_t i = 0; i < schema->n_fields; i++) {
		if (!msd_sg_attr_copy(&schema->fields[i].def, &op->params[i]))
			return -1;
	}
	return 0;
}

modser_sg_op *modser_sg_op_create(modser_graph *graph, const char *name)
{
	if (graph == NULL || name == NULL) {
		(void)msd_sg_null(graph, "the name of an operator");
		return NULL;
	}
	const modser_sg_op_schema *schema = modser_sg_op_schema_find(name);
	modser_sg_op *op;

	if (schema == NULL) {
		(void)msd_sg_fail(graph, MSD_UNSUPPORTED,
				  "no operator is called \"%s\"", name);
		return NULL;
	}
	op = calloc(1, sizeof(*op));
	if (op == NULL || !msd_grow(&graph->ops, graph->n_ops, sizeof(op)))
		goto fail;
	op->graph = graph;
	op->schema = schema;
	if (copy_defaults(op) != 0)
		goto fail;
	graph->ops[graph->n_ops++] = op;
	return op;
fail:
	msd_sg_op_destroy(op);
	(void)msd_sg_no_memory(graph);
	return NULL;
}

void msd_sg_op_destroy(modser_sg_op *op)
{
	if (op == NULL)
		return;
	if (op->params != NULL) {
		for (size_t i = 0; i < op->schema->n_fields; i++)
			msd_sg_attr_finish(&op->params[i]);
	}
	msd_sg_attrs_finish(&op->attrs);
	free(op->params);
	free(op);
}

/* A run looks parameters up. The linker merges equal literals, so an address mostly
 * decides, and few names are compared. */
static modser_sg_attr *find_param(const modser_sg_op *op, const char *param)
{
	for (size_t i = 0; i < op->schema->n_fields; i++) {
		if (op->schema->fields[i].name == param)
			return &op->params[i];
	}
	for (size_t i = 0; i < op->schema->n_fields; i++) {
		if (strcmp(op->schema->fields[i].name, param) == 0)
			return &op->params[i];
	}
	return NULL;
}

int modser_sg_op_set_param(modser_sg_op *op, const char *param,
			   const modser_sg_attr *value)
{
	if (op == NULL || param == NULL || !msd_sg_attr_is_whole(value))
		return msd_sg_null(op != NULL ? op->graph : NULL, "param or value");
	modser_sg_attr *at = find_param(op, param);
	modser_sg_attr copy;

	if (at == NULL) {
		return msd_sg_fail(op->graph, MSD_NOT_FOUND,
				   "operator %s has no parameter \"%s\"",
				   op->schema->name, param);
	}
	if (at->kind != value->kind) {
		return msd_sg_fail(op->graph, MSD_BAD_ARGUMENT,
				   "operator %s: parameter \"%s\" is of another kind",
				   op->schema->name, param);
	}
	if (!msd_sg_attr_copy(value, &copy))
		return msd_sg_no_memory(op->graph);
	msd_sg_attr_finish(at);
	*at = copy;
	return 0;
}

int modser_sg_op_set_int(modser_sg_op *op, const char *param, int64_t value)
{
	if (op == NULL)
		return msd_sg_null(NULL, "op");
	const modser_sg_attr attr = {.kind = MODSER_ATTR_INT, .as.i = value};

	return modser_sg_op_set_param(op, param, &attr);
}

int modser_sg_op_add_attr(modser_sg_op *op, const char *name,
			  const modser_sg_attr *value)
{
	if (op == NULL)
		return msd_sg_null(NULL, "op");
	return msd_sg_attrs_add(op->graph, &op->attrs, name, value);
}

const modser_sg_attr *modser_sg_op_attr_at(const modser_sg_op *op, size_t i,
					   const char **ret_name)
{
	return op != NULL ? msd_sg_attrs_at(&op->attrs, i, ret_name) : NULL;
}

const char *modser_sg_op_name(const modser_sg_op *op)
{
	if (op == NULL)
		return "";
	return op->schema->name;
}

const modser_sg_attr *modser_sg_op_param(const modser_sg_op *op, const char *param)
{
	if (op == NULL || param == NULL)
		return NULL;
	return find_param(op, param);
}

const modser_sg_attr *modser_sg_op_attr(const modser_sg_op *op, const char *name)
{
	if (op == NULL || name == NULL)
		return NULL;
	return msd_sg_attrs_find(&op->attrs, name);
}

int64_t modser_sg_op_int(const modser_sg_op *op, const char *param)
{
	if (op == NULL || param == NULL)
		return 0;
	const modser_sg_attr *a = find_param(op, param);

	return a != NULL && a->kind == MODSER_ATTR_INT ? a->as.i : 0;
}

float modser_sg_op_float(const modser_sg_op *op, const char *param)
{
	if (op == NULL || param == NULL)
		return 0;
	const modser_sg_attr *a = find_param(op, param);

	return a != NULL && a->kind == MODSER_ATTR_FLOAT ? a->as.f : 0;
}

/* Write a graph as a tmfile, with the operators of its plan (plan.h), in Tengine's
 * order: every object precedes its references, and the header, at the front, is filled
 * in at the end. */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/serializer.h"
#include "graph/serializer/tmfile/constant.h"
#include "graph/serializer/tmfile/facts.h"
#include "graph/serializer/tmfile/format.h"
#include "graph/serializer/tmfile/param.h"
#include "graph/serializer/tmfile/plan.h"
#include "graph/serializer/tmfile/row.h"
#include "graph/serializer/tmfile/tmfile.h"
#include "graph/serializer/tmfile/writer.h"

/* Offsets of written objects, until a reference is written. */
struct store {
	struct tm_writer w;
	const modser_serializer *serializer;
	modser_graph *g;
	struct tm_plan plan;
	uint32_t *nodes; /* offsets, one each */
	uint32_t *tensors;
	uint32_t *buffers;
	size_t n_buffers;
};

static uint32_t put_ends(struct store *s, modser_sg_tensor *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s->w.scratch[i] = s->plan.tensor_at[list[i]->index];
	return tm_put_vector(&s->w, s->w.scratch, n);
}

static int check_ends(const modser_sg_node *node, modser_sg_tensor *const *list,
		      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == NULL) {
			return msd_sg_fail(node->graph, MSD_UNSUPPORTED,
					   "node %zu \"%s\": tmfiles cannot leave out "
					   "an input or output",
					   node->index, node->name);
		}
	}
	return 0;
}

static uint32_t put_attrs(struct store *s, const modser_sg_node *node)
{
	const modser_sg_op *op = node->op;
	size_t n = node->index == 0 ? tm_facts_write(&s->w, s->g, 0) : 0;

	for (size_t i = 0; i < op->attrs.n; i++) {
		const struct msd_sg_attr *a = &op->attrs.items[i];

		if (strcmp(a->name, TM_ATTR_DYNAMIC) == 0)
			continue;
		const uint32_t name = tm_put_string(&s->w, a->name);
		const uint32_t text = tm_put_string(&s->w, a->value.as.s);
		const uint32_t object[3] = {name, text, 0};
		s->w.scratch[n++] = tm_put_words(&s->w, object, 3);
	}
	return n > 0 ? tm_put_vector(&s->w, s->w.scratch, n) : 0;
}

static bool has_field(const modser_tmfile_row *row, const char *param)
{
	struct tm_field_walk w = tm_fields(row);
	struct tm_field f;

	while (tm_field_next(&w, &f)) {
		if (tm_field_is(&f, param))
			return true;
	}
	return false;
}

/* Parameters that tmfiles lack must have their default value. */
static int check_own(const modser_sg_node *node, const modser_sg_op *op,
		     const modser_tmfile_row *row)
{
	for (size_t i = 0; i < op->schema->n_fields; i++) {
		const modser_sg_op_field *field = &op->schema->fields[i];

		if (msd_sg_attr_equal(&op->params[i], &field->def) ||
		    has_field(row, field->name))
			continue;
		return msd_sg_fail(node->graph, MSD_UNSUPPORTED,
				   "node %zu \"%s\": in a tmfile %s has no %s",
				   node->index, node->name, op->schema->name,
				   field->name);
	}
	return 0;
}

static int check_op(const struct tm_node *n, const modser_tmfile_row *row,
		    modser_sg_op_method *method)
{
	const modser_sg_node *node = n->from;
	const modser_sg_op *op = n->op;

	if (row == NULL && method == NULL) {
		return msd_sg_fail(node->graph, MSD_UNSUPPORTED,
				   "node %zu \"%s\": tmfiles have no operator %s",
				   node->index, node->name, op->schema->name);
	}
	for (size_t i = 0; i < op->attrs.n; i++) {
		if (op->attrs.items[i].value.kind != MODSER_ATTR_STR &&
		    strcmp(op->attrs.items[i].name, TM_ATTR_DYNAMIC) != 0) {
			return msd_sg_fail(node->graph, MSD_UNSUPPORTED,
					   "node %zu \"%s\": tmfiles have texts alone "
					   "as attributes, and not \"%s\"",
					   node->index, node->name,
					   op->attrs.items[i].name);
		}
	}
	if (method == NULL && check_own(node, op, row) != 0)
		return -1;
	if (check_ends(node, n->inputs, n->n_inputs) != 0)
		return -1;
	return check_ends(node, node->outputs, n->n_outputs);
}

/* Write the parameters with a registered method, which also returns the type. */
static int put_by_method(struct store *s, const modser_sg_node *node,
			 modser_sg_op_method *method, uint32_t *ret_type,
			 uint32_t *ret_param)
{
	void *param = NULL;
	size_t bytes = 0;

	if (((modser_tmfile_store_fn *)method)(node, ret_type, &param, &bytes) != 0)
		return -1;
	if (bytes > 0) {
		*ret_param = tm_put_words(&s->w, NULL, 0);
		msd_buf_put(&s->w.out, param, bytes);
	}
	free(param);
	return 0;
}

static int put_op(struct store *s, const struct tm_node *n, uint32_t *ret)
{
	const modser_sg_node *node = n->from;
	const modser_sg_op_schema *schema = n->op->schema;
	modser_sg_op_method *method =
		modser_serializer_op_store(s->serializer, schema->name);
	const modser_tmfile_row *row = tm_row_of_op(schema->name);
	uint32_t type = row != NULL ? row->type : 0;
	uint32_t param = 0;

	if (check_op(n, row, method) != 0)
		return -1;
	if (method != NULL) {
		if (put_by_method(s, node, method, &type, &param) != 0)
			return -1;
	} else if (tm_param_write(&s->w, n->op, row, &param) != 0) {
		/* A made operator's graph has the error. */
		return n->op->graph == s->g
			       ? -1
			       : msd_sg_fail(s->g, n->op->graph->diag.code, "%s",
					     modser_graph_error(n->op->graph));
	}
	const uint32_t words[3] = {1, type, param};
	*ret = tm_put_words(&s->w, words, 3);
	return 0;
}

static int put_node(struct store *s, size_t i)
{
	const struct tm_node *n = &s->plan.nodes[i];
	const modser_sg_node *node = n->from;
	const uint32_t number = s->plan.node_at[i];
	const bool is_dynamic = modser_sg_op_attr(node->op, TM_ATTR_DYNAMIC) != NULL;
	uint32_t op = 0;

	/* The operator follows its parameters and marks their end. */
	if (number == TM_LEFT_OUT)
		return 0;
	if (put_op(s, n, &op) != 0)
		return -1;
	const uint32_t name = tm_put_string(&s->w, node->name);
	const uint32_t inputs =
		n->n_inputs > 0 ? put_ends(s, n->inputs, n->n_inputs) : 0;
	const uint32_t outputs = put_ends(s, node->outputs, n->n_outputs);
	const uint32_t words[7] = {
		number, inputs, outputs, op, name, put_attrs(s, node), is_dynamic};
	s->nodes[number] = tm_put_words(&s->w, words, 7);
	return 0;
}

static int find_dtype(const modser_sg_tensor *t, uint32_t *ret)
{
	const char *name = tm_constant_is_narrowed(t) ? "int32" : t->dtype_name;

	for (uint32_t i = 0; tm_dtypes[i] != NULL; i++) {
		if (strcmp(tm_dtypes[i], name) == 0) {
			*ret = i;
			return 0;
		}
	}
	return msd_sg_fail(t->graph, MSD_UNSUPPORTED,
			   "tensor %zu \"%s\": tmfiles have no %s", t->index, t->name,
			   t->dtype_name);
}

/* tmfiles have no scalars: a scalar is a vector of one element. */
static int put_dims(struct store *s, const modser_sg_tensor *t, uint32_t *ret)
{
	const int64_t length = t->ndim == 0 ? 1 : s->plan.lengths[t->index];

	*ret = 0;
	if (length >= 0) {
		s->w.scratch[0] = (uint32_t)length;
		*ret = tm_put_vector(&s->w, s->w.scratch, 1);
		return 0;
	}
	for (int i = 0; i < t->ndim; i++) {
		if (t->dims[i] > INT32_MAX) {
			return msd_sg_fail(t->graph, MSD_UNSUPPORTED,
					   "tensor %zu \"%s\": an extent is over 31 "
					   "bits",
					   t->index, t->name);
		}
		s->w.scratch[i] = (uint32_t)t->dims[i];
	}
	if (t->ndim > 0)
		*ret = tm_put_vector(&s->w, s->w.scratch, (size_t)t->ndim);
	return 0;
}

static uint32_t put_quants(struct store *s, const modser_sg_tensor *t)
{
	for (size_t i = 0; i < t->n_quants; i++) {
		const uint32_t object[3] = {(uint32_t)t->quants[i].zero_point,
					    tm_f32_bits(t->quants[i].scale), 0};

		s->w.scratch[i] = tm_put_words(&s->w, object, 3);
	}
	return t->n_quants > 0 ? tm_put_vector(&s->w, s->w.scratch, t->n_quants) : 0;
}

static int put_tensor(struct store *s, size_t i)
{
	const modser_sg_tensor *t = s->g->tensors[i];
	const uint32_t number = s->plan.tensor_at[i];
	if (number == TM_LEFT_OUT)
		return 0;
	const uint32_t name = tm_put_string(&s->w, t->name);
	uint32_t dims;
	uint32_t dtype = 0;
	uint32_t buffer = UINT32_MAX;

	if (put_dims(s, t, &dims) != 0 || find_dtype(t, &dtype) != 0)
		return -1;
	if (t->type == MODSER_TENSOR_CONST)
		buffer = (uint32_t)s->n_buffers++;
	const uint32_t words[8] = {number,           buffer,     dims,    name,
				   put_quants(s, t), t->is_nhwc, t->type, dtype};
	s->tensors[number] = tm_put_words(&s->w, words, 8);
	return 0;
}

static int put_buffers(struct store *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->g->n_tensors; i++) {
		const modser_sg_tensor *t = s->g->tensors[i];

		if (t->type == MODSER_TENSOR_CONST &&
		    s->plan.tensor_at[i] != TM_LEFT_OUT &&
		    tm_constant_write(&s->w, t, &s->buffers[n++]) != 0)
			return -1;
	}
	return 0;
}

/* Write the producers of the tensors of @list; adjacent duplicates are written once. */
static uint32_t put_end_nodes(struct store *s, modser_sg_tensor *const *list, size_t n)
{
	size_t n_nodes = 0;

	for (size_t i = 0; i < n; i++) {
		const uint32_t index = s->plan.node_at[list[i]->producer->index];

		if (n_nodes == 0 || s->w.scratch[n_nodes - 1] != index)
			s->w.scratch[n_nodes++] = index;
	}
	return tm_put_vector(&s->w, s->w.scratch, n_nodes);
}

static uint32_t int_attr(const modser_graph *g, const char *name)
{
	const modser_sg_attr *a = modser_graph_attr(g, name);

	return a != NULL && a->kind == MODSER_ATTR_INT ? (uint32_t)a->as.i : 0;
}

static void put_model(struct store *s, uint32_t nodes, uint32_t tensors)
{
	modser_graph *g = s->g;
	const char *text = modser_graph_text(g, MODSER_GRAPH_NAME);
	const uint32_t buffers = tm_put_vector(&s->w, s->buffers, s->n_buffers);
	const uint32_t inputs = put_end_nodes(s, g->inputs, g->n_inputs);
	const uint32_t outputs = put_end_nodes(s, g->outputs, g->n_outputs);
	const uint32_t name = text[0] != '\0' ? tm_put_string(&s->w, text) : 0;
	/* 40 bytes; the last word means that no more data follows. */
	const uint32_t subgraph[10] = {0,     0,       0,       inputs, outputs,
				       nodes, tensors, buffers, 0,      0};
	const uint32_t at = tm_put_words(&s->w, subgraph, 10);
	const uint32_t model[4] = {int_attr(g, TM_ATTR_FORMAT),
				   int_attr(g, TM_ATTR_SUB_FORMAT),
				   tm_put_vector(&s->w, &at, 1), name};
	const uint32_t root = tm_put_words(&s->w, model, 4);

	if (!s->w.out.bad)
		msd_put_le32(s->w.out.p + 8, root);
}

static int put_all(struct store *s)
{
	const uint32_t header[3] = {2, 0, 0};

	if (s->nodes == NULL || s->tensors == NULL || s->buffers == NULL ||
	    s->w.scratch == NULL)
		return msd_sg_no_memory(s->g);
	if (tm_facts_check(s->g) != 0 ||
	    tm_plan_make(s->g, s->serializer, &s->plan) != 0)
		return -1;
	(void)tm_put_words(&s->w, header, 3);
	for (size_t i = 0; i < s->g->n_nodes; i++) {
		if (put_node(s, i) != 0)
			return -1;
	}
	const uint32_t nodes = tm_put_vector(&s->w, s->nodes, s->plan.n_nodes);
	for (size_t i = 0; i < s->g->n_tensors; i++) {
		if (put_tensor(s, i) != 0)
			return -1;
	}
	const uint32_t tensors = tm_put_vector(&s->w, s->tensors, s->plan.n_tensors);
	if (put_buffers(s) != 0)
		return -1;
	put_model(s, nodes, tensors);
	if (s->w.out.bad)
		return msd_sg_no_memory(s->g);
	if (s->w.out.n > TM_MAX_BYTES)
		return msd_sg_fail(s->g, MSD_TOO_LARGE, "a tmfile holds 4 GiB at most");
	return 0;
}

/* The longest list of words that is built before it is written. */
static size_t longest_list(const modser_graph *g)
{
	size_t n = MODSER_GRAPH_MAX_NDIM;

	for (size_t i = 0; i < g->n_nodes; i++) {
		const modser_sg_node *node = g->nodes[i];

		n = node->n_inputs > n ? node->n_inputs : n;
		n = node->n_outputs > n ? node->n_outputs : n;
		const size_t attrs =
			node->op->attrs.n + (i == 0 ? tm_facts_most(g) : 0);
		n = attrs > n ? attrs : n;
	}
	for (size_t i = 0; i < g->n_tensors; i++)
		n = g->tensors[i]->n_quants > n ? g->tensors[i]->n_quants : n;
	n = g->n_inputs > n ? g->n_inputs : n;
	return g->n_outputs > n ? g->n_outputs : n;
}

int tm_store(const modser_serializer *serializer, modser_graph *graph,
	     modser_part *ret_parts)
{
	struct store s = {
		.serializer = serializer,
		.g = graph,
		.nodes = calloc(graph->n_nodes + 1, sizeof(uint32_t)),
		.tensors = calloc(graph->n_tensors + 1, sizeof(uint32_t)),
		.buffers = calloc(graph->n_tensors + 1, sizeof(uint32_t)),
	};

	s.w.scratch = calloc(longest_list(graph), sizeof(uint32_t));
	int result = put_all(&s);
	tm_plan_finish(&s.plan);
	free(s.nodes);
	free(s.tensors);
	free(s.buffers);
	free(s.w.scratch);
	if (result == 0) {
		*ret_parts = (modser_part){s.w.out.p, s.w.out.n};
	} else {
		msd_buf_finish(&s.w.out);
	}
	return result;
}

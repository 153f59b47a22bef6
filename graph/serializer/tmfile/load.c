/*
 * Read a tmfile into a graph: header, model, its only subgraph, its tensors in the
 * order of the file, its nodes with their operators, and the graph's inputs and
 * outputs. A channels-last graph is then converted to channels first.
 */
#include <stdio.h>
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/serializer/operators.h"
#include "graph/serializer/serializer.h"
#include "graph/serializer/tmfile/constant.h"
#include "graph/serializer/tmfile/facts.h"
#include "graph/serializer/tmfile/format.h"
#include "graph/serializer/tmfile/nhwc.h"
#include "graph/serializer/tmfile/param.h"
#include "graph/serializer/tmfile/row.h"
#include "graph/serializer/tmfile/tmfile.h"

const char *const tm_dtypes[] = {"float32", "float16", "int8", "uint8",
				 "int32",   "int16",   NULL};

struct load {
	struct tm_view v;
	const modser_serializer *serializer;
	modser_fill fill;
	modser_graph *g;
	bool is_nhwc;    /* the source model has channels last */
	bool turns_axes; /* also set in the file */
	struct tm_vector nodes;
	struct tm_vector tensors;
	struct tm_vector buffers;
	struct tm_vector inputs; /* nodes */
	struct tm_vector outputs;
};

static int fail(const struct load *l, const char *text)
{
	return msd_sg_fail(l->g, MSD_BAD_ARTIFACT, "%s", text);
}

static int add_int(modser_graph *g, const char *name, uint32_t value)
{
	const modser_sg_attr attr = {.kind = MODSER_ATTR_INT, .as.i = (int32_t)value};

	return modser_graph_add_attr(g, name, &attr);
}

static int read_header(struct load *l, uint32_t *ret_root)
{
	const uint8_t *p = tm_object(&l->v, 0, TM_HEADER_BYTES, "the header");

	if (p == NULL)
		return -1;
	const unsigned main_version = msd_le16(p);
	if (main_version < 2) {
		return msd_sg_fail(l->g, MSD_UNSUPPORTED,
				   "a tmfile of version 1; only version 2 can be read: "
				   "have Tengine write it anew");
	}
	if (main_version > 2) {
		return msd_sg_fail(l->g, MSD_UNSUPPORTED,
				   "a tmfile of version %u, or none at all",
				   main_version);
	}
	*ret_root = msd_le32(p + 8);
	return 0;
}

static int set_name(struct load *l, uint32_t offset)
{
	char *name = tm_string(&l->v, offset, "the graph's name");

	if (name == NULL)
		return -1;
	int result = name[0] != '\0' ? modser_graph_set_internal_name(l->g, name) : 0;
	free(name);
	return result;
}

/* The model has exactly one subgraph. */
static int read_model(struct load *l, uint32_t root, uint32_t *ret_subgraph)
{
	const uint8_t *p = tm_object(&l->v, root, TM_MODEL_BYTES, "the model");
	struct tm_vector subgraphs;

	if (p == NULL ||
	    tm_vector(&l->v, msd_le32(p + 8), 4, "subgraphs", &subgraphs) != 0)
		return -1;
	if (subgraphs.n != 1) {
		return msd_sg_fail(
			l->g, MSD_UNSUPPORTED,
			"it has %zu subgraphs; only files of one can be read",
			subgraphs.n);
	}
	if (add_int(l->g, TM_ATTR_FORMAT, msd_le32(p)) != 0 ||
	    add_int(l->g, TM_ATTR_SUB_FORMAT, msd_le32(p + 4)) != 0)
		return -1;
	*ret_subgraph = tm_vector_u32(&subgraphs, 0);
	return set_name(l, msd_le32(p + 12));
}

static int read_subgraph(struct load *l, uint32_t offset)
{
	const uint8_t *p = tm_object(&l->v, offset, TM_SUBGRAPH_BYTES, "the subgraph");

	if (p == NULL)
		return -1;
	l->is_nhwc = msd_le32(p + 8) == TM_LAYOUT_NHWC;
	l->turns_axes = msd_le32(p + 4) == TM_LAYOUT_NHWC;
	if (tm_vector(&l->v, msd_le32(p + 12), 4, "inputs", &l->inputs) != 0 ||
	    tm_vector(&l->v, msd_le32(p + 16), 4, "outputs", &l->outputs) != 0 ||
	    tm_vector(&l->v, msd_le32(p + 20), 4, "nodes", &l->nodes) != 0 ||
	    tm_vector(&l->v, msd_le32(p + 24), 4, "tensors", &l->tensors) != 0 ||
	    tm_vector(&l->v, msd_le32(p + 28), 4, "buffers", &l->buffers) != 0)
		return -1;
	return set_name(l, msd_le32(p + 32));
}

static int read_dims(struct load *l, modser_sg_tensor *t, uint32_t offset)
{
	struct tm_vector vector;
	int64_t dims[MODSER_GRAPH_MAX_NDIM];

	if (tm_vector(&l->v, offset, 4, "its dimensions", &vector) != 0)
		return -1;
	if (vector.n == 0)
		return 0; /* unknown shape: scalars have one dimension here */
	if (vector.n > MODSER_GRAPH_MAX_NDIM)
		return fail(l, "it has more than 32 dimensions");
	for (size_t i = 0; i < vector.n; i++)
		dims[i] = (int32_t)tm_vector_u32(&vector, i);
	return modser_sg_tensor_set_dims(t, dims, vector.n);
}

static int read_quants(struct load *l, modser_sg_tensor *t, uint32_t offset)
{
	struct tm_vector vector;

	if (tm_vector(&l->v, offset, 4, "its scales", &vector) != 0)
		return -1;
	for (size_t i = 0; i < vector.n; i++) {
		const uint8_t *p = tm_object(&l->v, tm_vector_u32(&vector, i),
					     TM_QUANT_BYTES, "a scale");

		if (p == NULL || modser_sg_tensor_add_quant(t, tm_f32(p + 4),
							    (int32_t)msd_le32(p)) != 0)
			return -1;
	}
	return 0;
}

static int read_type(struct load *l, modser_sg_tensor *t, uint32_t type, uint32_t dtype)
{
	size_t n_dtypes = 0;

	while (tm_dtypes[n_dtypes] != NULL)
		n_dtypes++;
	if (type >= MODSER_TENSOR_TYPE_COUNT)
		return fail(l, "its type is unknown");
	if (dtype >= n_dtypes)
		return fail(l, "its element type is unknown");
	if (modser_sg_tensor_set_type(t, (modser_sg_tensor_type)type) != 0)
		return -1;
	return modser_sg_tensor_set_dtype(t, tm_dtypes[dtype]);
}

static int read_buffer(struct load *l, modser_sg_tensor *t, uint32_t id)
{
	if (t->type != MODSER_TENSOR_CONST)
		return 0;
	if (id >= l->buffers.n)
		return fail(l, "its buffer does not exist");
	return tm_constant_read(&l->v, t, tm_vector_u32(&l->buffers, id), l->fill);
}

/* The layout at 20 is ignored: writers do not set it. */
static int read_tensor(struct load *l, size_t i)
{
	const uint8_t *p = tm_object(&l->v, tm_vector_u32(&l->tensors, i),
				     TM_TENSOR_BYTES, "the tensor");

	if (p == NULL)
		return -1;
	if (msd_le32(p) != i)
		return fail(l, "its stored number differs");
	char *name = tm_string(&l->v, msd_le32(p + 12), "its name");
	if (name == NULL)
		return -1;
	modser_sg_tensor *t = modser_sg_tensor_create(l->g, name);
	free(name);
	if (t == NULL || read_dims(l, t, msd_le32(p + 8)) != 0 ||
	    read_quants(l, t, msd_le32(p + 16)) != 0 ||
	    read_type(l, t, msd_le32(p + 24), msd_le32(p + 28)) != 0)
		return -1;
	return read_buffer(l, t, msd_le32(p + 4));
}

/* The bytes between the parameters and the operator, which follows them: older
 * structures are shorter. */
static size_t param_bytes(const modser_tmfile_row *row, uint32_t param, uint32_t op)
{
	size_t bytes = tm_row_bytes(row);

	if (op > param && op - param < bytes)
		bytes = op - param;
	return bytes;
}

int msd_tmfile_load_known(modser_sg_node *node, const void *param, size_t bytes)
{
	struct tm_view *v = (struct tm_view *)(uintptr_t)node->graph->reading;

	if (v == NULL || node->op == NULL) {
		return msd_sg_fail(node->graph, MSD_BAD_ARGUMENT,
				   "the method of tmfiles reads the parameters of an "
				   "operator that the node has, and in a load alone");
	}
	const modser_tmfile_row *row = tm_row_of_op(node->op->schema->name);
	return row != NULL ? tm_param_read(v, node->op, row, param, bytes) : 0;
}

static int fail_type(const struct load *l, uint32_t type)
{
	const struct tm_missing *m = tm_missing;

	while (m->name != NULL && m->type != type)
		m++;
	if (m->name == NULL) {
		return msd_sg_fail(l->g, MSD_UNSUPPORTED, "no operator has type %u",
				   type);
	}
	return msd_sg_fail(l->g, MSD_UNSUPPORTED,
			   "Tengine's operator %s is not supported", m->name);
}

static int read_params(struct load *l, modser_sg_node *node, const uint8_t *object,
		       uint32_t at)
{
	const uint32_t type = msd_le32(object + 4);
	const uint32_t offset = msd_le32(object + 8);
	const modser_tmfile_row *row = tm_row_of_type(type);
	const uint8_t *param = NULL;
	size_t bytes = 0;
	char number[16];

	(void)snprintf(number, sizeof(number), "#%u", type);
	modser_sg_op_method *method =
		row != NULL ? NULL : msd_serializer_method(l->serializer, number);
	if (row == NULL && method == NULL)
		return fail_type(l, type);
	if (offset != 0) {
		bytes = row != NULL   ? param_bytes(row, offset, at)
			: at > offset ? at - offset
				      : 0;
		param = tm_object(&l->v, offset, bytes, "its parameters");
		if (param == NULL)
			return -1;
	}
	if (method != NULL)
		return ((modser_tmfile_load_fn *)method)(node, param, bytes);
	modser_sg_op *op = modser_sg_op_create(l->g, row->op);
	if (op == NULL)
		return -1;
	msd_sg_node_take_op(node, op);
	if (msd_tmfile_load_known(node, param, bytes) != 0 || tm_param_mean(op) != 0)
		return -1;
	return msd_sg_node_is_given(node) ? 0 : msd_sg_count_source(l->g, "", row->op);
}

static int read_attrs(struct load *l, modser_sg_op *op, uint32_t offset,
		      bool is_dynamic)
{
	const modser_sg_attr one = {.kind = MODSER_ATTR_INT, .as.i = 1};
	struct tm_vector vector;

	if (is_dynamic && modser_sg_op_add_attr(op, TM_ATTR_DYNAMIC, &one) != 0)
		return -1;
	if (tm_vector(&l->v, offset, 4, "its attributes", &vector) != 0)
		return -1;
	if (vector.n > TM_MAX_ATTRS)
		return fail(l, "it has more than 1024 attributes");
	for (size_t i = 0; i < vector.n; i++) {
		const uint8_t *p = tm_object(&l->v, tm_vector_u32(&vector, i),
					     TM_ATTR_BYTES, "an attribute");
		char *name = p != NULL ? tm_string(&l->v, msd_le32(p), "an attribute")
				       : NULL;
		char *text = name != NULL
				     ? tm_string(&l->v, msd_le32(p + 4), "an attribute")
				     : NULL;
		const modser_sg_attr value = {.kind = MODSER_ATTR_STR, .as.s = text};
		int result =
			text != NULL ? modser_sg_op_add_attr(op, name, &value) : -1;
		free(name);
		free(text);
		if (result != 0)
			return -1;
	}
	return 0;
}

static int read_ends(struct load *l, modser_sg_node *node, uint32_t offset,
		     bool is_input)
{
	struct tm_vector vector;

	if (tm_vector(&l->v, offset, 4, is_input ? "its inputs" : "its outputs",
		      &vector) != 0)
		return -1;
	for (size_t i = 0; i < vector.n; i++) {
		modser_sg_tensor *t =
			modser_graph_tensor(l->g, tm_vector_u32(&vector, i));

		if (t == NULL) {
			return msd_sg_fail(l->g, MSD_BAD_ARTIFACT,
					   "there is no tensor %u",
					   tm_vector_u32(&vector, i));
		}
		if ((is_input ? modser_sg_node_add_input(node, t)
			      : modser_sg_node_add_output(node, t)) < 0)
			return -1;
	}
	return 0;
}

static int read_node(struct load *l, size_t i)
{
	const uint8_t *p = tm_object(&l->v, tm_vector_u32(&l->nodes, i), TM_NODE_BYTES,
				     "the node");

	if (p == NULL)
		return -1;
	if (msd_le32(p) != i)
		return fail(l, "its stored number differs");
	char *name = tm_string(&l->v, msd_le32(p + 16), "its name");
	if (name == NULL)
		return -1;
	modser_sg_node *node = modser_sg_node_create(l->g, name);
	free(name);
	const uint32_t at = msd_le32(p + 12);
	const uint8_t *op = tm_object(&l->v, at, TM_OPERATOR_BYTES, "its operator");
	if (node == NULL || op == NULL || read_params(l, node, op, at) != 0 ||
	    read_ends(l, node, msd_le32(p + 4), true) != 0 ||
	    read_ends(l, node, msd_le32(p + 8), false) != 0)
		return -1;
	return node->op != NULL ? read_attrs(l, node->op, msd_le32(p + 20), p[24] != 0)
				: 0;
}

typedef int add_fn(modser_graph *graph, modser_sg_tensor *tensor);

/* The file lists nodes as the graph's inputs and outputs; the graph uses their output
 * tensors. */
static int add_ends(struct load *l, const struct tm_vector *nodes, add_fn *add)
{
	for (size_t i = 0; i < nodes->n; i++) {
		const modser_sg_node *node =
			modser_graph_node(l->g, tm_vector_u32(nodes, i));

		if (node == NULL) {
			return msd_sg_fail(l->g, MSD_BAD_ARTIFACT,
					   "an end of the graph: there is no node %u",
					   tm_vector_u32(nodes, i));
		}
		for (size_t k = 0; k < node->n_outputs; k++) {
			/* The file may list a node with many outputs repeatedly. */
			if (l->v.budget < 4)
				return fail(l, "the graph has too many ends");
			l->v.budget -= 4;
			if (add(l->g, node->outputs[k]) != 0)
				return -1;
		}
	}
	return 0;
}

static int read_all(struct load *l, const char *what, size_t n,
		    int (*read)(struct load *l, size_t i))
{
	for (size_t i = 0; i < n; i++) {
		if (read(l, i) != 0) {
			const modser_sg_node *node = modser_graph_node(l->g, i);
			const bool is_node = read == read_node && node != NULL;

			(void)msd_diag_wrap(
				&l->g->diag, l->g->diag.code, "%s %zu%s%s%s", what, i,
				is_node ? " \"" : "", is_node ? node->name : "",
				is_node ? "\"" : "");
			return -1;
		}
	}
	return 0;
}

static int load_all(struct load *l)
{
	uint32_t root = 0;
	uint32_t subgraph = 0;

	if (read_header(l, &root) != 0 || read_model(l, root, &subgraph) != 0 ||
	    read_subgraph(l, subgraph) != 0 ||
	    read_all(l, "tensor", l->tensors.n, read_tensor) != 0 ||
	    read_all(l, "node", l->nodes.n, read_node) != 0 ||
	    add_ends(l, &l->inputs, modser_graph_add_input) != 0 ||
	    add_ends(l, &l->outputs, modser_graph_add_output) != 0 ||
	    tm_facts_read(l->g) != 0)
		return -1;
	return l->is_nhwc ? tm_nhwc_turn(&l->v, l->turns_axes) : 0;
}

int tm_load(const modser_serializer *s, const modser_part *parts,
	    const modser_model_options *options, modser_graph *graph)
{
	struct load l = {.serializer = s, .fill = options->fill, .g = graph};

	tm_view_init(&l.v, (struct msd_span){parts->data, parts->bytes}, graph);
	graph->reading = &l.v;
	const int result = load_all(&l);
	graph->reading = NULL;
	return result;
}

/*
 * Dump a graph as text, one line an item: facts and attributes, inputs and outputs,
 * nodes with their parameters, tensors with a hash of their bytes. Equal graphs have
 * equal texts, so diff can compare two graphs.
 */
#include "graph/ir/dump.h"

#include <inttypes.h>

#include "graph/ir/graph.h"
#include "proto/base/fnv.h"
#include "proto/base/json.h"

static const char *const type_names[MODSER_TENSOR_TYPE_COUNT] = {
	"unknown", "var", "const", "input", "dep"};
static const char *const fact_names[MODSER_GRAPH_FACT_COUNT] = {
	[MODSER_GRAPH_DOMAIN] = "domain",
	[MODSER_GRAPH_IDENTITY] = "identity",
	[MODSER_GRAPH_VERSION] = "version",
	[MODSER_GRAPH_SOURCE_FORMAT] = "format",
};

/* The name of an extent is an identifier in the shape, so it must look like one. */
static bool is_word(const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s <= ' ' || *s == ',' || *s == ']' || *s == 0x7f)
			return false;
	}
	return true;
}

void msd_sg_put_shape(struct msd_buf *out, const modser_sg_tensor *t)
{
	msd_buf_printf(out, "%s[", t->dtype_name);
	if (t->ndim < 0)
		msd_buf_printf(out, "...");
	for (int i = 0; i < t->ndim; i++) {
		const char *name = modser_sg_tensor_dim_name(t, (size_t)i);

		msd_buf_printf(out, i > 0 ? ", " : "");
		if (t->dims[i] >= 0) {
			msd_buf_printf(out, "%" PRId64, t->dims[i]);
		} else {
			msd_buf_printf(out, "%s",
				       name[0] != '\0' && is_word(name) ? name : "?");
		}
	}
	msd_buf_put_u8(out, ']');
}

static void put_params(struct msd_buf *out, const modser_sg_op *op)
{
	const char *comma = "";

	for (size_t i = 0; i < op->schema->n_fields; i++) {
		/* Many parameters exist in one format only. */
		if (op->schema->fields[i].is_rare &&
		    msd_sg_attr_equal(&op->params[i], &op->schema->fields[i].def))
			continue;
		msd_buf_printf(out, "%s%s=", comma, op->schema->fields[i].name);
		msd_sg_attr_put(out, &op->params[i]);
		comma = ", ";
	}
	for (size_t i = 0; i < op->attrs.n; i++) {
		msd_buf_printf(out, "%s", comma);
		msd_json_cstr(out, op->attrs.items[i].name);
		msd_buf_put_u8(out, '=');
		msd_sg_attr_put(out, &op->attrs.items[i].value);
		comma = ", ";
	}
}

static void put_tensor(struct msd_buf *out, const modser_sg_tensor *t)
{
	msd_buf_printf(out, "tensor %zu ", t->index);
	msd_json_cstr(out, t->name);
	msd_buf_printf(out, " %s ", type_names[t->type]);
	msd_sg_put_shape(out, t);
	if (t->is_nhwc)
		msd_buf_printf(out, " NHWC");
	for (size_t i = 0; i < t->n_quants; i++) {
		msd_buf_printf(out, " scale %.9g zero %" PRId32,
			       (double)t->quants[i].scale, t->quants[i].zero_point);
	}
	if (t->type == MODSER_TENSOR_CONST && t->data != NULL) {
		msd_buf_printf(out, " bytes %" PRIu64 " fnv %016" PRIx64, t->bytes,
			       msd_fnv(MSD_FNV_BEGIN, t->data, t->bytes));
	} else if (t->type == MODSER_TENSOR_CONST) {
		msd_buf_printf(out, " bytes %" PRIu64 "%s", t->bytes,
			       t->is_stripped ? " stripped" : "");
	}
	msd_buf_put_u8(out, '\n');
}

static void put_indices(struct msd_buf *out, modser_sg_tensor *const *list, size_t n)
{
	msd_buf_put_u8(out, '(');
	for (size_t i = 0; i < n; i++) {
		msd_buf_printf(out, i > 0 ? ", " : "");
		if (list[i] == NULL) {
			msd_buf_put_u8(out, '-');
		} else {
			msd_buf_printf(out, "%zu", list[i]->index);
		}
	}
	msd_buf_put_u8(out, ')');
}

static void put_attr_graphs(struct msd_buf *out, const struct msd_sg_attrs *attrs)
{
	for (size_t i = 0; i < attrs->n; i++) {
		if (attrs->items[i].value.kind != MODSER_ATTR_GRAPH)
			continue;
		msd_buf_printf(out, "begin ");
		msd_json_cstr(out, attrs->items[i].name);
		msd_buf_put_u8(out, '\n');
		msd_sg_put_dump(out, attrs->items[i].value.as.graph);
		msd_buf_printf(out, "end\n");
	}
}

static void put_node(struct msd_buf *out, const modser_sg_node *node)
{
	msd_buf_printf(out, "node %zu ", node->index);
	msd_json_cstr(out, node->name);
	msd_buf_printf(out, " %s{", node->op != NULL ? node->op->schema->name : "none");
	if (node->op != NULL)
		put_params(out, node->op);
	msd_buf_printf(out, "} ");
	put_indices(out, node->inputs, node->n_inputs);
	msd_buf_printf(out, " -> ");
	put_indices(out, node->outputs, node->n_outputs);
	msd_buf_put_u8(out, '\n');
	if (node->op != NULL)
		put_attr_graphs(out, &node->op->attrs);
}

void msd_sg_put_dump(struct msd_buf *out, const modser_graph *g)
{
	msd_buf_printf(out, "graph ");
	msd_json_cstr(out, modser_graph_text(g, MODSER_GRAPH_NAME));
	for (size_t i = 0; i < MODSER_GRAPH_FACT_COUNT; i++) {
		if (fact_names[i] == NULL || g->facts[i] == NULL)
			continue;
		msd_buf_printf(out, " %s ", fact_names[i]);
		msd_json_cstr(out, g->facts[i]);
	}
	msd_buf_put_u8(out, '\n');
	for (size_t i = 0; i < g->attrs.n; i++) {
		msd_buf_printf(out, "attr ");
		msd_json_cstr(out, g->attrs.items[i].name);
		msd_buf_put_u8(out, ' ');
		msd_sg_attr_put(out, &g->attrs.items[i].value);
		msd_buf_put_u8(out, '\n');
	}
	put_attr_graphs(out, &g->attrs);
	msd_buf_printf(out, "inputs ");
	put_indices(out, g->inputs, g->n_inputs);
	msd_buf_printf(out, "\noutputs ");
	put_indices(out, g->outputs, g->n_outputs);
	msd_buf_put_u8(out, '\n');
	for (size_t i = 0; i < g->n_nodes; i++)
		put_node(out, g->nodes[i]);
	for (size_t i = 0; i < g->n_tensors; i++)
		put_tensor(out, g->tensors[i]);
}

int modser_graph_dump(modser_graph *graph, char **ret_text)
{
	if (graph == NULL || ret_text == NULL)
		return msd_sg_null(graph, "ret_text");
	struct msd_buf out = {0};

	msd_sg_put_dump(&out, graph);
	msd_buf_put_u8(&out, '\0');
	if (out.bad) {
		msd_buf_finish(&out);
		return msd_sg_no_memory(graph);
	}
	*ret_text = (char *)out.p;
	return 0;
}

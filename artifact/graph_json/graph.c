/*
 * Parse the text into a graph: jansson parses, then nodes are read in order. A
 * reference to a later node is rejected, so no cycle is possible. Names stay in the
 * JSON, which the graph keeps; lists that a run walks (inputs, arguments, heads) are
 * copied into arrays. attrs.c then fills the entries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/graph_json/private.h"

#define MAX_NODES (1u << 22)

void msd_graph_finish(struct msd_graph *g)
{
	if (g == NULL)
		return;
	free(g->nodes);
	free(g->entries);
	free(g->args);
	free(g->heads);
	free(g->storage_ids);
	free(g->input_pool);
	free(g->shape_pool);
	json_decref(g->json);
	*g = (struct msd_graph){0};
}

msd_err msd_graph_bad(struct msd_diag *d, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "%s", text);
}

bool msd_graph_number(const json_t *v, uint64_t max, uint64_t *ret)
{
	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
	    (uint64_t)json_integer_value(v) > max)
		return false;
	*ret = (uint64_t)json_integer_value(v);
	return true;
}

/* [node, index, version?] -> entry, for a node below @limit. */
static msd_err read_ref(const struct msd_graph *g, const json_t *v, uint32_t limit,
			uint32_t *ret, struct msd_diag *d)
{
	uint64_t node, index;

	if (json_array_size(v) < 2 ||
	    !msd_graph_number(json_array_get(v, 0), UINT32_MAX, &node) ||
	    !msd_graph_number(json_array_get(v, 1), UINT32_MAX, &index))
		return msd_graph_bad(d, "expected [node, index, version]");
	if (node >= limit) {
		return msd_graph_bad(d, "node %llu is not before this one",
				     (unsigned long long)node);
	}
	if (index >= g->nodes[node].n_entries) {
		return msd_graph_bad(d, "node %llu has no output %llu",
				     (unsigned long long)node,
				     (unsigned long long)index);
	}
	*ret = g->nodes[node].first_entry + (uint32_t)index;
	return MSD_OK;
}

/* Index of each node's first entry. */
static msd_err read_row_ptr(struct msd_graph *g, struct msd_diag *d)
{
	const json_t *rows = json_object_get(g->json, "node_row_ptr");
	uint64_t at = 0;
	uint64_t next;

	if (json_array_size(rows) != (size_t)g->n_nodes + 1) {
		return msd_graph_bad(d, "node_row_ptr: expected %u numbers",
				     g->n_nodes + 1);
	}
	for (uint32_t i = 0; i <= g->n_nodes; i++) {
		if (!msd_graph_number(json_array_get(rows, i), MAX_NODES, &next) ||
		    next < at || (i == 0 && next != 0))
			return msd_graph_bad(d, "node_row_ptr[%u]: not in order", i);
		if (i > 0) {
			g->nodes[i - 1].first_entry = (uint32_t)at;
			g->nodes[i - 1].n_entries = (uint32_t)(next - at);
		}
		at = next;
	}
	g->n_entries = (uint32_t)at;
	return MSD_OK;
}

/* Attributes of a node are texts, in a map under one of two names. */
static const char *node_attr(const json_t *node, const char *key)
{
	const json_t *attrs = json_object_get(node, "attrs");

	if (attrs == NULL)
		attrs = json_object_get(node, "attr");
	return json_string_value(json_object_get(attrs, key));
}

static msd_err read_op(const json_t *json, struct msd_graph_node *node,
		       struct msd_diag *d)
{
	const char *op = json_string_value(json_object_get(json, "op"));
	const char *outputs = node_attr(json, "num_outputs");
	const char *flatten = node_attr(json, "flatten_data");

	node->name = json_string_value(json_object_get(json, "name"));
	if (op == NULL || node->name == NULL)
		return msd_graph_bad(d, "it has no op or no name");
	if (strcmp(op, "null") == 0) {
		return node->n_entries == 1
			       ? MSD_OK
			       : msd_graph_bad(d, "an input with %u outputs",
					       node->n_entries);
	}
	if (strcmp(op, "tvm_op") != 0)
		return msd_diag_set(d, MSD_UNSUPPORTED, "unknown op %.64s", op);
	node->func = node_attr(json, "func_name");
	if (node->func == NULL)
		return msd_graph_bad(d, "it has no func_name");
	if (outputs != NULL && strtoul(outputs, NULL, 10) != node->n_entries) {
		return msd_graph_bad(d, "num_outputs %.16s, but node_row_ptr says %u",
				     outputs, node->n_entries);
	}
	node->flatten = flatten != NULL && strtoul(flatten, NULL, 10) != 0;
	return MSD_OK;
}

/* Nodes run in order, so the dependencies only need to be valid. */
static msd_err check_control_deps(const json_t *json, uint32_t i, struct msd_diag *d)
{
	const json_t *deps = json_object_get(json, "control_deps");
	uint64_t node;

	for (size_t k = 0; k < json_array_size(deps); k++) {
		if (!msd_graph_number(json_array_get(deps, k), UINT32_MAX, &node) ||
		    node >= i) {
			return msd_graph_bad(d, "control_deps[%zu]: no node before it",
					     k);
		}
	}
	return MSD_OK;
}

static msd_err read_node(struct msd_graph *g, const json_t *json, uint32_t i,
			 uint32_t **pool, struct msd_diag *d)
{
	struct msd_graph_node *node = &g->nodes[i];
	const json_t *inputs = json_object_get(json, "inputs");
	const char *stated = node_attr(json, "num_inputs");
	msd_err err = read_op(json, node, d);

	if (err == MSD_OK)
		err = check_control_deps(json, i, d);
	if (err != MSD_OK)
		return err;
	node->inputs = *pool;
	node->n_inputs = (uint32_t)json_array_size(inputs);
	if (stated != NULL && strtoul(stated, NULL, 10) != node->n_inputs) {
		return msd_graph_bad(d, "num_inputs %.16s, but it has %u inputs",
				     stated, node->n_inputs);
	}
	for (uint32_t k = 0; k < node->n_inputs; k++) {
		err = read_ref(g, json_array_get(inputs, k), i, (*pool)++, d);
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "inputs[%u]", k);
	}
	if (node->func == NULL && node->n_inputs > 0)
		return msd_graph_bad(d, "an input that has inputs");
	if (node->func != NULL && strcmp(node->func, "__copy") == 0 &&
	    (node->n_inputs != 1 || node->n_entries != 1))
		return msd_graph_bad(d, "a copy has one input and one output");
	return MSD_OK;
}

static msd_err read_nodes(struct msd_graph *g, struct msd_diag *d)
{
	const json_t *nodes = json_object_get(g->json, "nodes");
	const size_t n = json_array_size(nodes);
	size_t n_refs = 0;

	if (n == 0 || n > MAX_NODES)
		return msd_graph_bad(d, "it has no nodes, or too many");
	for (size_t i = 0; i < n; i++) {
		n_refs += json_array_size(
			json_object_get(json_array_get(nodes, i), "inputs"));
	}
	g->n_nodes = (uint32_t)n;
	g->nodes = calloc(n, sizeof(*g->nodes));
	g->input_pool = calloc(n_refs + 1, sizeof(*g->input_pool));
	if (g->nodes == NULL || g->input_pool == NULL)
		return msd_diag_no_memory(d);
	msd_err err = read_row_ptr(g, d);
	uint32_t *pool = g->input_pool;
	for (uint32_t i = 0; err == MSD_OK && i < g->n_nodes; i++) {
		err = read_node(g, json_array_get(nodes, i), i, &pool, d);
		if (err != MSD_OK) {
			return msd_diag_wrap(d, err, "node %u (%.64s)", i,
					     g->nodes[i].name != NULL ? g->nodes[i].name
								      : "?");
		}
	}
	return err;
}

/* The inputs: each node without a function, once. */
static msd_err read_args(struct msd_graph *g, struct msd_diag *d)
{
	const json_t *args = json_object_get(g->json, "arg_nodes");
	const size_t n = json_array_size(args);
	uint32_t n_null = 0;
	uint64_t id;

	for (uint32_t i = 0; i < g->n_nodes; i++)
		n_null += g->nodes[i].func == NULL;
	if (n != n_null) {
		return msd_graph_bad(d, "%zu arg_nodes, but %u nodes have no function",
				     n, n_null);
	}
	g->args = calloc(n + 1, sizeof(*g->args));
	bool *seen = calloc((size_t)g->n_nodes + 1, sizeof(*seen));
	msd_err err = g->args != NULL && seen != NULL ? MSD_OK : msd_diag_no_memory(d);
	for (size_t i = 0; err == MSD_OK && i < n; i++) {
		if (!msd_graph_number(json_array_get(args, i), g->n_nodes - 1, &id) ||
		    g->nodes[id].func != NULL || seen[id]) {
			err = msd_graph_bad(d, "arg_nodes[%zu]: not an input", i);
			break;
		}
		seen[id] = true;
		g->args[g->n_args++] = (uint32_t)id;
	}
	free(seen);
	return err;
}

static msd_err read_heads(struct msd_graph *g, struct msd_diag *d)
{
	const json_t *heads = json_object_get(g->json, "heads");
	const size_t n = json_array_size(heads);
	msd_err err = MSD_OK;

	if (n == 0 || n > MAX_NODES)
		return msd_graph_bad(d, "it has no heads, or too many");
	g->heads = calloc(n, sizeof(*g->heads));
	if (g->heads == NULL)
		return msd_diag_no_memory(d);
	for (; err == MSD_OK && g->n_heads < n; g->n_heads++) {
		err = read_ref(g, json_array_get(heads, g->n_heads), g->n_nodes,
			       &g->heads[g->n_heads], d);
	}
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "heads");
}

msd_err msd_graph_read(struct msd_span text, struct msd_graph *ret, struct msd_diag *d)
{
	struct msd_graph g = {0};
	json_error_t at;
	msd_err err = MSD_OK;

	g.json = json_loadb((const char *)text.p, text.n, 0, &at);
	if (g.json == NULL) {
		err = json_error_code(&at) == json_error_out_of_memory
			      ? msd_diag_no_memory(d)
			      : msd_graph_bad(d, "line %d, column %d: %s", at.line,
					      at.column, at.text);
	}
	if (err == MSD_OK)
		err = read_nodes(&g, d);
	if (err == MSD_OK)
		err = read_args(&g, d);
	if (err == MSD_OK)
		err = read_heads(&g, d);
	if (err == MSD_OK)
		err = msd_graph_read_attrs(&g, d);
	if (err != MSD_OK) {
		msd_graph_finish(&g);
		return msd_diag_wrap(d, err, "graph");
	}
	*ret = g;
	return MSD_OK;
}

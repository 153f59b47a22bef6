/*
 * Read a symbol: its JSON becomes a list of nodes, and the parameters are listed. Then
 * each node is read in turn: a variable is a parameter or an input, and the row of an
 * operator (layer.h) makes nodes from its inputs. Heads are the outputs, with MXNet's
 * names for them. Failures name the node.
 */
#include "graph/serializer/mxnet/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/serializer/mxnet/layer.h"
#include "graph/serializer/mxnet/params.h"
#include "proto/words/model_words.h"

#define MAX_DEPTH 64
#define MAX_NODES (1u << 18)
#define MAX_STEPS 64u /* nodes between an input and the one that tells its shape */

struct load {
	modser_graph *g;
	const char *inputs;   /* option: shapes of inputs; may be NULL */
	struct msd_span file; /* of the parameters */
	struct mxnet_params params;
	json_t *root;
	struct mxnet_node *nodes;
	size_t n_nodes;
	bool *is_read;  /* by node: it is an input of another one, not for training only
			 */
	size_t *reader; /* by node: the first node that reads it; n_nodes if none does
			 */
};

static int fail(const struct load *l, const char *text)
{
	return msd_sg_fail(l->g, MSD_BAD_ARTIFACT, "%s", text);
}

/* Nested lists and objects, which the parser of JSON would follow one by one. */
static bool is_shallow(struct msd_span text)
{
	size_t depth = 0;
	bool in_text = false;

	for (size_t i = 0; i < text.n; i++) {
		const uint8_t c = text.p[i];

		if (in_text) {
			if (c == '\\')
				i++;
			in_text = c != '"';
			continue;
		}
		in_text = c == '"';
		if ((c == '{' || c == '[') && ++depth > MAX_DEPTH)
			return false;
		if ((c == '}' || c == ']') && depth > 0)
			depth--;
	}
	return true;
}

/* Input @k of node @i: the node and the output that it reads. */
static bool edge(const struct load *l, size_t i, size_t k, size_t *ret_node,
		 size_t *ret_out)
{
	const json_t *e = json_array_get(l->nodes[i].inputs, k);
	const json_int_t node = json_integer_value(json_array_get(e, 0));
	const json_int_t out = json_integer_value(json_array_get(e, 1));

	if (json_array_size(e) < 2 || node < 0 || (size_t)node >= i || out < 0)
		return false;
	*ret_node = (size_t)node;
	*ret_out = (size_t)out;
	return true;
}

static int list_node(struct load *l, size_t i, json_t *from)
{
	static const char *const names[] = {"attrs", "param", "attr"};
	struct mxnet_node *node = &l->nodes[i];

	node->op = json_string_value(json_object_get(from, "op"));
	node->name = json_string_value(json_object_get(from, "name"));
	node->inputs = json_object_get(from, "inputs");
	if (node->op == NULL || node->name == NULL || !json_is_array(node->inputs)) {
		return msd_sg_fail(l->g, MSD_BAD_ARTIFACT,
				   "node %zu has no op, name or inputs", i);
	}
	for (size_t k = 0; k < 3; k++)
		node->attrs[k] = json_object_get(from, names[k]);
	const struct mxnet_row *row = mxnet_row_find(node->op);
	if (row == NULL && strcmp(node->op, "null") != 0) {
		return msd_sg_fail(l->g, MSD_UNSUPPORTED,
				   "node \"%s\": operator %s cannot be read",
				   node->name, node->op);
	}
	for (size_t k = 0; k < json_array_size(node->inputs); k++) {
		size_t from_node;
		size_t out;

		if (!edge(l, i, k, &from_node, &out)) {
			return msd_sg_fail(
				l->g, MSD_BAD_ARTIFACT,
				"node \"%s\": input %zu is no output of a node "
				"before it",
				node->name, k);
		}
		if (row != NULL && row->label != 0 && k >= (size_t)row->label)
			continue;
		l->is_read[from_node] = true;
		if (l->reader[from_node] == l->n_nodes)
			l->reader[from_node] = i;
	}
	return 0;
}

static int list_nodes(struct load *l, struct msd_span text)
{
	json_error_t error;

	if (!is_shallow(text))
		return fail(l, "the symbol is nested deeper than 64");
	l->root = json_loadb((const char *)text.p, text.n, 0, &error);
	if (l->root == NULL) {
		return msd_sg_fail(l->g, MSD_BAD_ARTIFACT,
				   "the symbol is no JSON: line %d: %s", error.line,
				   error.text);
	}
	const json_t *nodes = json_object_get(l->root, "nodes");
	const size_t n = json_array_size(nodes);
	if (n == 0 || n > MAX_NODES)
		return fail(l, "the symbol has no nodes, or more than 262144");
	l->nodes = calloc(n, sizeof(*l->nodes));
	l->is_read = calloc(n, sizeof(*l->is_read));
	l->reader = calloc(n, sizeof(*l->reader));
	if (l->nodes == NULL || l->is_read == NULL || l->reader == NULL)
		return msd_sg_no_memory(l->g);
	l->n_nodes = n;
	for (size_t i = 0; i < n; i++)
		l->reader[i] = n;
	for (size_t i = 0; i < n; i++) {
		if (list_node(l, i, json_array_get(nodes, i)) != 0)
			return -1;
	}
	return 0;
}

static int set_output(struct load *l, struct mxnet_node *node, size_t n)
{
	node->out = calloc(n, sizeof(*node->out));
	if (node->out == NULL)
		return msd_sg_no_memory(l->g);
	node->n_out = n;
	return 0;
}

/* The parameter as a constant, in place if it is aligned. */
static modser_sg_tensor *make_param(const struct load *l, struct mxnet_param *p)
{
	const struct msd_build b = {l->g, p->name};
	struct msd_dtype dtype;

	if (p->dtype == NULL || !msd_dtype_parse(p->dtype, strlen(p->dtype), &dtype)) {
		(void)msd_sg_fail(l->g, MSD_BAD_ARTIFACT,
				  "parameter \"%s\" is an array without a shape",
				  p->name);
		return NULL;
	}
	if (p->data.n > 0 && (uintptr_t)p->data.p % (dtype.bits / 8u) == 0) {
		modser_sg_tensor *t = msd_build_constant(&b, p->dtype, p->dims, p->ndim,
							 p->data.p, NULL);

		return t != NULL && modser_sg_tensor_set_location(
					    t, (uint64_t)(p->data.p - l->file.p),
					    p->data.n) == 0
			       ? t
			       : NULL;
	}
	void *copy = malloc(p->data.n + 1);
	if (copy == NULL) {
		(void)msd_sg_no_memory(l->g);
		return NULL;
	}
	if (p->data.n > 0)
		memcpy(copy, p->data.p, p->data.n);
	modser_sg_tensor *t =
		msd_build_constant(&b, p->dtype, p->dims, p->ndim, copy, free);
	if (t == NULL)
		free(copy);
	return t;
}

/* The parameter that input @k of node @i is; NULL: it is none. */
static const struct mxnet_param *param_at(const struct load *l, size_t i, size_t k)
{
	size_t node;
	size_t out;

	return edge(l, i, k, &node, &out)
		       ? msd_names_find(&l->params.names, l->nodes[node].name)
		       : NULL;
}

static const struct {
	const char *op;
	int ndim; /* 0: two more than its kernel has */
} ranks[] = {
	{"Convolution", 0}, {"Convolution_v1", 0}, {"Deconvolution", 0},
	{"Pooling", 0},     {"Pooling_v1", 0},     {"FullyConnected", 2},
	{"LRN", 4},         {"UpSampling", 4},     {"RNN", 3},
	{"Embedding", 2},   {"SoftmaxOutput", 2},
};

/* Two more than the dimensions of the node's kernel; -1: its kernel is no list. */
static int kernel_rank(const struct mxnet_node *node)
{
	int64_t list[MXNET_MAX_LIST];
	size_t n;

	if (!mxnet_list_of(node, "kernel", list, &n))
		return -1;
	return n > 0 && n + 2 <= MODSER_GRAPH_MAX_NDIM ? (int)n + 2 : 4;
}

/* The channels that the weights of node @i want, if its weights tell. */
static void find_channels(const struct load *l, size_t i, int64_t *dims)
{
	const struct mxnet_node *node = &l->nodes[i];
	const struct mxnet_param *weights = param_at(l, i, 1);
	int64_t list[MXNET_MAX_LIST];
	size_t n;

	if (weights == NULL || weights->ndim < 2)
		return;
	if (strcmp(node->op, "FullyConnected") == 0)
		dims[1] = weights->dims[1];
	if (strncmp(node->op, "Convolution", 11) != 0 ||
	    weights->dims[1] >= INT32_MAX ||
	    !mxnet_list_of(node, "num_group", list, &n) || n > 1)
		return;
	if (n == 0 || (list[0] > 0 && list[0] < INT32_MAX))
		dims[1] = weights->dims[1] * (n == 0 ? 1 : list[0]);
}

/* Dimensions that node @i wants of its first input; -1: any. *@dims gets the channels.
 */
static int wanted(const struct load *l, size_t i, int64_t *dims)
{
	const struct mxnet_node *node = &l->nodes[i];
	int64_t list[MXNET_MAX_LIST];
	size_t n = 0;

	if (strcmp(node->op, "FullyConnected") == 0 &&
	    mxnet_attr(node, "flatten") != NULL &&
	    strcmp(mxnet_attr(node, "flatten"), "False") == 0)
		return -1;
	if (strcmp(node->op, "transpose") == 0)
		return mxnet_list_of(node, "axes", list, &n) && n > 0 ? (int)n : -1;
	for (size_t k = 0; k < sizeof(ranks) / sizeof(ranks[0]); k++) {
		if (strcmp(ranks[k].op, node->op) != 0)
			continue;
		const int ndim = ranks[k].ndim > 0 ? ranks[k].ndim : kernel_rank(node);
		if (ndim > 0)
			find_channels(l, i, dims);
		return ndim;
	}
	return -1;
}

/* The shape that the option gives input @name; 0: none; -1: the option is wrong. */
static int given_shape(const struct load *l, const char *name, int64_t *dims)
{
	struct msd_span left = msd_span_of(l->inputs != NULL ? l->inputs : "");
	struct msd_model_input one;

	while (left.n > 0) {
		if (msd_model_input_parse(&left, &one, &l->g->diag) != MSD_OK)
			return -1;
		if (!msd_span_is(one.name, name))
			continue;
		for (uint32_t k = 0; k < one.ndim; k++)
			dims[k] = one.shape[k];
		return (int)one.ndim;
	}
	return 0;
}

/* The shape of input @i: the option's, its own attribute, or as the first operator that
 * reads it wants. Extents are open except the channels. */
static int find_shape(const struct load *l, size_t i, int64_t *dims)
{
	const int given = given_shape(l, l->nodes[i].name, dims);
	size_t n;
	size_t at = i;

	if (given != 0)
		return given;
	if (mxnet_list_of(&l->nodes[i], "__shape__", dims, &n) && n > 0) {
		for (size_t k = 0; k < n; k++)
			dims[k] = dims[k] > 0 ? dims[k] : -1;
		return (int)n;
	}
	for (size_t k = 0; k < MODSER_GRAPH_MAX_NDIM; k++)
		dims[k] = -1;
	for (size_t steps = 0; steps < MAX_STEPS; steps++) {
		at = l->reader[at];
		if (at == l->n_nodes)
			return -1;
		const int ndim = wanted(l, at, dims);
		if (ndim > 0)
			return ndim;
	}
	return -1;
}

static int read_variable(struct load *l, size_t i)
{
	struct mxnet_node *node = &l->nodes[i];
	struct mxnet_param *p = msd_names_find(&l->params.names, node->name);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];

	if (set_output(l, node, 1) != 0)
		return -1;
	if (p != NULL) {
		if (p->t == NULL)
			p->t = make_param(l, p);
		node->out[0].t = p->t;
		node->out[0].ndim = (int)p->ndim;
		return node->out[0].t != NULL ? 0 : -1;
	}
	if (!l->is_read[i])
		return 0; /* a label */
	const int ndim = find_shape(l, i, dims);
	if (ndim < 0 && l->g->diag.code != MSD_OK)
		return -1; /* the option is wrong */
	if (ndim < 0) {
		return msd_sg_fail(
			l->g, MSD_UNSUPPORTED,
			"the symbol does not tell the number of dimensions of "
			"input \"%s\": give its variable a shape in MXNet "
			"(mx.sym.var(\"%s\", shape=...)) or in the option input "
			"(%s=float32[...]), or its parameter is missing in the file of "
			"parameters",
			node->name, node->name, node->name);
	}
	const char *type = mxnet_attr(node, "__dtype__");
	const char *dtype =
		type != NULL ? mxnet_dtype((int32_t)strtol(type, NULL, 10)) : "float32";
	if (dtype == NULL)
		return fail(l, "its element type cannot be read");
	node->out[0].t =
		modser_graph_create_input(l->g, node->name, dtype, dims, (size_t)ndim);
	node->out[0].ndim = ndim;
	return node->out[0].t != NULL ? 0 : -1;
}

static int run_row(struct load *l, struct mxnet_node *node, struct mxnet_layer *x)
{
	modser_sg_tensor *made[MXNET_MAX_OUT] = {NULL};
	size_t n = 1;

	if (x->row->one != NULL) {
		made[0] = x->row->one(x);
	} else {
		n = x->row->many(x, made, MXNET_MAX_OUT);
	}
	for (size_t i = 0; i < n; i++) {
		if (made[i] == NULL)
			return -1;
	}
	if (n == 0 || set_output(l, node, n) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		node->out[i].t = made[i];
		node->out[i].ndim = made[i]->ndim >= 0 ? made[i]->ndim : x->ndim;
	}
	return 0;
}

static int read_operator(struct load *l, size_t i)
{
	struct mxnet_node *node = &l->nodes[i];
	struct mxnet_layer x = {.b = {l->g, node->name}, .node = node, .ndim = -1};
	const size_t n = json_array_size(node->inputs);
	int result = -1;

	x.row = mxnet_row_find(node->op);
	x.n_in = x.row->label != 0 && n > (size_t)x.row->label ? (size_t)x.row->label
							       : n;
	if (x.n_in < x.row->min_in || x.n_in > x.row->max_in)
		return msd_sg_fail(l->g, MSD_BAD_ARTIFACT, "it has %zu inputs", n);
	const struct mxnet_node **from = calloc(n + 1, sizeof(*from));
	x.in = calloc(n + 1, sizeof(*x.in));
	if (from == NULL || x.in == NULL) {
		result = msd_sg_no_memory(l->g);
		goto done;
	}
	for (size_t k = 0; k < x.n_in; k++) {
		size_t at;
		size_t out;

		if (!edge(l, i, k, &at, &out) || out >= l->nodes[at].n_out ||
		    l->nodes[at].out[out].t == NULL) {
			result = msd_sg_fail(
				l->g, MSD_UNSUPPORTED,
				"input %zu is an output that cannot be read", k);
			goto done;
		}
		from[k] = &l->nodes[at];
		x.in[k] = l->nodes[at].out[out];
	}
	x.from = from;
	x.ndim = x.n_in > 0 ? x.in[0].ndim : -1;
	result = run_row(l, node, &x);
done:
	free(x.in);
	free((void *)from);
	return result;
}

static int read_nodes(struct load *l)
{
	for (size_t i = 0; i < l->n_nodes; i++) {
		const struct mxnet_node *node = &l->nodes[i];
		const bool is_variable =
			node->op == NULL || strcmp(node->op, "null") == 0;

		if ((is_variable ? read_variable(l, i) : read_operator(l, i)) != 0) {
			(void)msd_diag_wrap(&l->g->diag, l->g->diag.code,
					    "node \"%s\" (%s)", node->name,
					    is_variable ? "variable" : node->op);
			return -1;
		}
	}
	return 0;
}

/* A head with MXNet's name: of its node, "_output", and its number if there are more.
 */
static int add_head(struct load *l, const json_t *head)
{
	const json_int_t i = json_integer_value(json_array_get(head, 0));
	const json_int_t k = json_integer_value(json_array_get(head, 1));
	char name[512];

	if (i < 0 || (size_t)i >= l->n_nodes || k < 0 ||
	    (size_t)k >= l->nodes[i].n_out || l->nodes[i].out[k].t == NULL)
		return fail(l, "a head of the symbol is no output that can be read");
	const struct mxnet_node *node = &l->nodes[i];
	modser_sg_tensor *t = node->out[k].t;
	(void)snprintf(name, sizeof(name),
		       node->n_out > 1 ? "%s_output%d" : "%s_output", node->name,
		       (int)k);
	const struct msd_build b = {l->g, name};
	if (t->type != MODSER_TENSOR_VAR)
		t = msd_build_one(&b, "Noop", t);
	if (t == NULL || msd_build_rename(t, name) != 0)
		return -1;
	return modser_graph_add_output(l->g, t);
}

static int read_symbol(struct load *l, struct msd_span text)
{
	if (mxnet_params_read(l->g, l->file, &l->params) != 0 ||
	    list_nodes(l, text) != 0)
		return -1;
	const json_t *heads = json_object_get(l->root, "heads");
	for (size_t k = 0; k < json_array_size(heads); k++) {
		const json_int_t i =
			json_integer_value(json_array_get(json_array_get(heads, k), 0));

		if (i >= 0 && (size_t)i < l->n_nodes)
			l->is_read[i] = true;
	}
	if (read_nodes(l) != 0)
		return -1;
	if (json_array_size(heads) == 0)
		return fail(l, "the symbol has no heads");
	for (size_t k = 0; k < json_array_size(heads); k++) {
		if (add_head(l, json_array_get(heads, k)) != 0)
			return -1;
	}
	return msd_sg_sweep(l->g);
}

int mxnet_load(const modser_serializer *s, const modser_part *parts,
	       const modser_model_options *options, modser_graph *graph)
{
	struct load l = {.g = graph,
			 .inputs = options != NULL ? options->inputs : NULL,
			 .file = {parts[1].data, parts[1].bytes}};

	(void)s;
	const int result =
		read_symbol(&l, (struct msd_span){parts[0].data, parts[0].bytes});
	for (size_t i = 0; i < l.n_nodes; i++)
		free(l.nodes[i].out);
	free(l.nodes);
	free(l.is_read);
	free(l.reader);
	mxnet_params_finish(&l.params);
	json_decref(l.root);
	return result;
}

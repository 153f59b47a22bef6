/*
 * The graph object: its members, its facts, and its destruction. Nodes, tensors and
 * operators are created in their own files, which add them to the graph's lists; the
 * graph frees them all. A call that fails stores its error text in the graph.
 */
#include "graph/ir/graph.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/defaults.h"
#include "proto/base/grow.h"

int msd_sg_take_file(modser_graph *g, struct msd_buf *file)
{
	if (!msd_grow(&g->files, g->n_files, sizeof(*g->files)))
		return msd_sg_no_memory(g);
	g->files[g->n_files++] = *file;
	*file = (struct msd_buf){0};
	return 0;
}

int msd_sg_take_graph(modser_graph *g, modser_graph *child)
{
	unsigned depth = child->depth;

	if (child->parent != NULL) {
		return msd_sg_fail(g, MSD_BAD_ARGUMENT,
				   "the graph is another's attribute already");
	}
	for (modser_graph *up = g; up != NULL; up = up->parent) {
		if (up == child) {
			return msd_sg_fail(g, MSD_BAD_ARGUMENT,
					   "a graph cannot hold itself");
		}
		if (++depth > MODSER_GRAPH_MAX_DEPTH) {
			return msd_sg_fail(g, MSD_TOO_LARGE,
					   "graphs are nested more than %u deep",
					   MODSER_GRAPH_MAX_DEPTH);
		}
	}
	depth = child->depth;
	for (modser_graph *up = g; up != NULL; up = up->parent)
		up->depth = ++depth > up->depth ? depth : up->depth;
	child->parent = g;
	return 0;
}

static int set_fact(modser_graph *g, modser_graph_fact fact, const char *text)
{
	char *copy = msd_sg_copy(text, strlen(text));

	if (copy == NULL)
		return msd_sg_no_memory(g);
	free(g->facts[fact]);
	g->facts[fact] = copy;
	return 0;
}

modser_graph *modser_graph_create(const char *name)
{
	if (name == NULL)
		return NULL;
	modser_graph *g = calloc(1, sizeof(*g));

	if (g != NULL && set_fact(g, MODSER_GRAPH_NAME, name) != 0) {
		modser_graph_destroy(g);
		return NULL;
	}
	return g;
}

void modser_graph_destroy(modser_graph *graph)
{
	if (graph == NULL)
		return;
	for (size_t i = 0; i < graph->n_nodes; i++)
		msd_sg_node_destroy(graph->nodes[i]);
	for (size_t i = 0; i < graph->n_tensors; i++)
		msd_sg_tensor_destroy(graph->tensors[i]);
	for (size_t i = 0; i < graph->n_defaults; i++)
		msd_sg_tensor_destroy(graph->defaults[i].declared);
	for (size_t i = 0; i < graph->n_ops; i++)
		msd_sg_op_destroy(graph->ops[i]);
	for (size_t i = 0; i < MODSER_GRAPH_FACT_COUNT; i++)
		free(graph->facts[i]);
	for (size_t i = 0; i < graph->n_files; i++)
		msd_buf_finish(&graph->files[i]);
	msd_sg_sources_finish(graph);
	msd_sg_attrs_finish(&graph->attrs);
	msd_diag_finish(&graph->diag);
	free(graph->nodes);
	free(graph->tensors);
	free(graph->ops);
	free(graph->inputs);
	free(graph->outputs);
	free(graph->defaults);
	free(graph->files);
	free(graph);
}

const char *modser_graph_error(const modser_graph *graph)
{
	if (graph == NULL)
		return "the graph is NULL";
	return graph->diag.code == MSD_OK ? "" : msd_diag_text(&graph->diag);
}

const char *modser_graph_error_name(const modser_graph *graph)
{
	if (graph == NULL)
		return msd_err_name(MSD_BAD_ARGUMENT);
	return msd_err_name(graph->diag.code);
}

msd_err msd_sg_error(const modser_graph *g, struct msd_diag *d)
{
	return msd_diag_set(d, g->diag.code, "%s", modser_graph_error(g));
}

int modser_graph_fail(modser_graph *graph, const char *text)
{
	if (graph == NULL || text == NULL)
		return msd_sg_null(graph, "text");
	(void)msd_diag_set(&graph->diag, MSD_BAD_ARTIFACT, "%s", text);
	return -1;
}

const char *modser_graph_text(const modser_graph *graph, modser_graph_fact fact)
{
	if (graph == NULL || (unsigned)fact >= MODSER_GRAPH_FACT_COUNT)
		return "";
	return graph->facts[fact] != NULL ? graph->facts[fact] : "";
}

int modser_graph_set_internal_name(modser_graph *graph, const char *name)
{
	if (graph == NULL || name == NULL)
		return msd_sg_null(graph, "name");
	return set_fact(graph, MODSER_GRAPH_NAME, name);
}

int modser_graph_set_identity(modser_graph *graph, const char *domain, const char *name,
			      const char *version)
{
	if (graph == NULL || domain == NULL || name == NULL || version == NULL)
		return msd_sg_null(graph, "domain, name or version");
	if (set_fact(graph, MODSER_GRAPH_DOMAIN, domain) != 0 ||
	    set_fact(graph, MODSER_GRAPH_IDENTITY, name) != 0)
		return -1;
	return set_fact(graph, MODSER_GRAPH_VERSION, version);
}

int modser_graph_set_source(modser_graph *graph, const char *source)
{
	if (graph == NULL || source == NULL)
		return msd_sg_null(graph, "source");
	return set_fact(graph, MODSER_GRAPH_SOURCE, source);
}

int modser_graph_set_source_format(modser_graph *graph, const char *format)
{
	if (graph == NULL || format == NULL)
		return msd_sg_null(graph, "format");
	return set_fact(graph, MODSER_GRAPH_SOURCE_FORMAT, format);
}

void modser_graph_set_beside(modser_graph *graph, modser_read_beside *read, void *ctx)
{
	if (graph == NULL)
		return;
	graph->read_beside = read;
	graph->beside_ctx = ctx;
}

int modser_graph_set_const_file(modser_graph *graph, const char *path)
{
	if (graph == NULL || path == NULL)
		return msd_sg_null(graph, "path");
	return set_fact(graph, MODSER_GRAPH_CONST_FILE, path);
}

int modser_graph_add_attr(modser_graph *graph, const char *name,
			  const modser_sg_attr *value)
{
	if (graph == NULL)
		return msd_sg_null(NULL, "graph");
	return msd_sg_attrs_add(graph, &graph->attrs, name, value);
}

const modser_sg_attr *modser_graph_attr_at(const modser_graph *graph, size_t i,
					   const char **ret_name)
{
	return graph != NULL ? msd_sg_attrs_at(&graph->attrs, i, ret_name) : NULL;
}

const modser_sg_attr *modser_graph_attr(const modser_graph *graph, const char *name)
{
	if (graph == NULL || name == NULL)
		return NULL;
	return msd_sg_attrs_find(&graph->attrs, name);
}

static int add_tensor(modser_graph *g, modser_sg_tensor ***list, size_t *n,
		      modser_sg_tensor *tensor)
{
	if (tensor->graph != g) {
		return msd_sg_fail(g, MSD_BAD_ARGUMENT,
				   "tensor \"%s\" is another graph's", tensor->name);
	}
	if (!msd_grow(list, *n, sizeof(**list)))
		return msd_sg_no_memory(g);
	(*list)[(*n)++] = tensor;
	return 0;
}

int modser_graph_add_input(modser_graph *graph, modser_sg_tensor *tensor)
{
	if (graph == NULL || tensor == NULL)
		return msd_sg_null(graph, "tensor");
	return add_tensor(graph, &graph->inputs, &graph->n_inputs, tensor);
}

int modser_graph_add_output(modser_graph *graph, modser_sg_tensor *tensor)
{
	if (graph == NULL || tensor == NULL)
		return msd_sg_null(graph, "tensor");
	return add_tensor(graph, &graph->outputs, &graph->n_outputs, tensor);
}

modser_sg_tensor *msd_sg_add_default(modser_graph *g, modser_sg_tensor *value)
{
	modser_sg_tensor *t = msd_sg_tensor_new(g, value->name);

	if (t == NULL || !msd_grow(&g->defaults, g->n_defaults, sizeof(*g->defaults))) {
		msd_sg_tensor_destroy(t);
		(void)msd_sg_no_memory(g);
		return NULL;
	}
	value->is_default = true;
	msd_sg_tensor_take_dtype(t, value->dtype);
	t->ndim = value->ndim;
	memcpy(t->dims, value->dims, sizeof(t->dims));
	g->defaults[g->n_defaults++] = (struct msd_sg_default){value, t};
	return t;
}

void msd_sg_open_defaults(modser_graph *g)
{
	g->opens_defaults = true;
}

size_t msd_sg_default_count(const modser_graph *g)
{
	return g->n_defaults;
}

const struct msd_sg_default *msd_sg_default_at(const modser_graph *g, size_t i)
{
	return &g->defaults[i];
}

size_t modser_graph_node_count(const modser_graph *graph)
{
	if (graph == NULL)
		return 0;
	return graph->n_nodes;
}

size_t modser_graph_tensor_count(const modser_graph *graph)
{
	if (graph == NULL)
		return 0;
	return graph->n_tensors;
}

size_t modser_graph_input_count(const modser_graph *graph)
{
	if (graph == NULL)
		return 0;
	return graph->n_inputs;
}

size_t modser_graph_output_count(const modser_graph *graph)
{
	if (graph == NULL)
		return 0;
	return graph->n_outputs;
}

modser_sg_node *modser_graph_node(const modser_graph *graph, size_t i)
{
	if (graph == NULL)
		return NULL;
	return i < graph->n_nodes ? graph->nodes[i] : NULL;
}

modser_sg_tensor *modser_graph_tensor(const modser_graph *graph, size_t i)
{
	if (graph == NULL)
		return NULL;
	return i < graph->n_tensors ? graph->tensors[i] : NULL;
}

modser_sg_tensor *modser_graph_input(const modser_graph *graph, size_t i)
{
	if (graph == NULL)
		return NULL;
	return i < graph->n_inputs ? graph->inputs[i] : NULL;
}

modser_sg_tensor *modser_graph_output(const modser_graph *graph, size_t i)
{
	if (graph == NULL)
		return NULL;
	return i < graph->n_outputs ? graph->outputs[i] : NULL;
}

/*
 * modser_graph_fix_inputs(): apply input shapes that the user gives next to the file.
 *
 * Happy path: each shape text is matched with its input, compared with the model's
 * shape, and assigns numbers to the open extents. Other inputs and outputs with the
 * same extent name get the same number. Failures name the input, the given shape and
 * the model's shape; the graph can then only be destroyed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/defaults.h"
#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/ir/order.h"
#include "proto/words/model_words.h"

#define NAMES_SHOWN 8u

/* Input @i of all: those with a default are the last. */
static modser_sg_tensor *input_at(const modser_graph *g, size_t i)
{
	return i < g->n_inputs ? g->inputs[i]
			       : msd_sg_default_at(g, i - g->n_inputs)->declared;
}

static size_t input_count(const modser_graph *g)
{
	return g->n_inputs + (g->opens_defaults ? 0 : msd_sg_default_count(g));
}

static int lacks(modser_graph *g, struct msd_span name)
{
	const size_t n = input_count(g);
	struct msd_buf text = {0};

	for (size_t i = 0; i < n && i < NAMES_SHOWN; i++) {
		msd_buf_printf(&text, "%s\"%.64s\"", i > 0 ? ", " : "",
			       input_at(g, i)->name);
	}
	if (n > NAMES_SHOWN)
		msd_buf_printf(&text, " and %zu more", n - (size_t)NAMES_SHOWN);
	const int result =
		text.bad ? msd_sg_no_memory(g)
			 : msd_sg_fail(g, MSD_BAD_ARGUMENT,
				       "the model has no input \"%.*s\"; its inputs "
				       "are %.*s",
				       (int)(name.n < 128 ? name.n : 128),
				       (const char *)name.p, (int)text.n,
				       text.n > 0 ? (const char *)text.p : "");
	msd_buf_finish(&text);
	return result;
}

static modser_sg_tensor *find(const modser_graph *g, struct msd_span name)
{
	for (size_t i = 0; i < input_count(g); i++) {
		if (msd_span_is(name, input_at(g, i)->name))
			return input_at(g, i);
	}
	return NULL;
}

static const char *name_of(const modser_sg_tensor *t, size_t i)
{
	return t->dim_names != NULL && t->dim_names[i] != NULL ? t->dim_names[i] : "";
}

/* Check that the model and @in do not contradict each other. */
static int check(modser_sg_tensor *t, const struct msd_model_input *in)
{
	char dtype[MSD_DTYPE_NAME_MAX];

	if (!msd_dtype_eq(t->dtype, in->dtype)) {
		return msd_sg_fail(t->graph, MSD_BAD_ARGUMENT,
				   "input \"%s\" is %s, but the option input gives %s",
				   t->name, t->dtype_name,
				   msd_dtype_format(in->dtype, dtype));
	}
	if (t->ndim >= 0 && (uint32_t)t->ndim != in->ndim) {
		return msd_sg_fail(
			t->graph, MSD_BAD_ARGUMENT,
			"input \"%s\" has %d dimensions, but the option input gives %u",
			t->name, t->ndim, in->ndim);
	}
	for (size_t i = 0; t->ndim >= 0 && i < in->ndim; i++) {
		if (in->shape[i] < 0 || t->dims[i] < 0 || in->shape[i] == t->dims[i])
			continue;
		const char *name = name_of(t, i);
		return msd_sg_fail(t->graph, MSD_BAD_ARGUMENT,
				   "input \"%s\": extent %zu is %" PRId64
				   "%s%.64s%s, but the option input gives %" PRId64,
				   t->name, i, t->dims[i], *name != '\0' ? " (" : "",
				   name, *name != '\0' ? ")" : "", in->shape[i]);
	}
	return 0;
}

/* A default must have the extents that its input gets. */
static int check_default(const modser_graph *g, const modser_sg_tensor *t)
{
	for (size_t i = 0; i < msd_sg_default_count(g); i++) {
		const modser_sg_tensor *value = msd_sg_default_at(g, i)->value;

		for (int k = 0; msd_sg_default_at(g, i)->declared == t && k < t->ndim;
		     k++) {
			if (t->dims[k] < 0 || t->dims[k] == value->dims[k])
				continue;
			return msd_sg_fail(t->graph, MSD_BAD_ARGUMENT,
					   "input \"%s\": extent %d of its default is "
					   "%" PRId64
					   ", but the option input gives %" PRId64,
					   t->name, k, value->dims[k], t->dims[k]);
		}
	}
	return 0;
}

/* Set every open extent of @list called @name to @extent. */
static void bind(modser_sg_tensor *const *list, size_t n, const char *name,
		 int64_t extent)
{
	for (size_t i = 0; i < n; i++) {
		for (int k = 0; k < list[i]->ndim; k++) {
			if (list[i]->dims[k] < 0 &&
			    strcmp(name_of(list[i], (size_t)k), name) == 0)
				list[i]->dims[k] = extent;
		}
	}
}

/* Keep the names until all texts are read: they show which extent was given twice. */
static int fix(modser_graph *g, const struct msd_model_input *in)
{
	modser_sg_tensor *t = find(g, in->name);

	if (t == NULL)
		return lacks(g, in->name);
	if (check(t, in) != 0)
		return -1;
	if (t->ndim < 0)
		return modser_sg_tensor_set_dims(t, in->shape, in->ndim);
	for (size_t i = 0; i < in->ndim; i++) {
		if (in->shape[i] < 0 || t->dims[i] >= 0)
			continue;
		t->dims[i] = in->shape[i];
		if (*name_of(t, i) == '\0')
			continue;
		bind(g->inputs, g->n_inputs, name_of(t, i), in->shape[i]);
		bind(g->outputs, g->n_outputs, name_of(t, i), in->shape[i]);
	}
	return check_default(g, t);
}

/* Only open extents have a name. */
static void drop_names(modser_sg_tensor *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (int k = 0; list[i]->dim_names != NULL && k < list[i]->ndim; k++) {
			if (list[i]->dims[k] < 0)
				continue;
			free(list[i]->dim_names[k]);
			list[i]->dim_names[k] = NULL;
		}
	}
}

/*
 * Infer the shapes that follow from the inputs; other shapes are known only in a run.
 */
static int infer_known(modser_graph *g)
{
	size_t *order = calloc(g->n_nodes + 1, sizeof(*order));

	if (order == NULL)
		return msd_sg_no_memory(g);
	int result = msd_sg_order(g, order);
	for (size_t i = 0; result == 0 && i < g->n_nodes; i++) {
		modser_sg_node *node = g->nodes[order[i]];

		if (!msd_sg_node_is_given(node) && node->op->schema->infer != NULL &&
		    msd_sg_infer_node(node) < 0)
			result = -1;
	}
	free(order);
	return result;
}

int modser_graph_fix_inputs(modser_graph *graph, const char *words)
{
	if (graph == NULL || words == NULL)
		return msd_sg_null(graph, "words");
	struct msd_span left = msd_span_of(words);
	int result = 0;

	if (left.n == 0)
		return 0;
	while (result == 0 && left.n > 0) {
		struct msd_model_input one;

		result = msd_model_input_parse(&left, &one, &graph->diag) == MSD_OK
				 ? fix(graph, &one)
				 : -1;
	}
	if (result == 0) {
		drop_names(graph->inputs, graph->n_inputs);
		drop_names(graph->outputs, graph->n_outputs);
		for (size_t i = graph->n_inputs; i < input_count(graph); i++) {
			modser_sg_tensor *t = input_at(graph, i);

			drop_names(&t, 1);
		}
	}
	return result == 0 ? infer_known(graph) : result;
}

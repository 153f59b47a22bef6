/*
 * Happy path: each node of the graph becomes a node in Tengine's words, by the first
 * form that takes it; constants that became parameters are left out. Failures: no form
 * takes a node, and the error names it.
 */
#include "graph/serializer/tmfile/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"

static const struct tm_form *const forms[] = {tm_forms_always, tm_forms_element,
					      tm_forms_layer, tm_forms_move,
					      tm_forms_window};

int tm_fail(const struct tm_node *n, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return msd_sg_fail(n->from->graph, MSD_UNSUPPORTED,
			   "node %zu \"%s\": in a tmfile, %s: %s", n->from->index,
			   n->from->name, n->from->op->schema->name, text);
}

static int fail_made(const struct tm_node *n)
{
	return msd_sg_fail(n->from->graph, n->made->diag.code, "%s",
			   modser_graph_error(n->made));
}

int tm_become(struct tm_node *n, const char *op)
{
	n->op = modser_sg_op_create(n->made, op);
	return n->op != NULL ? 0 : fail_made(n);
}

int tm_copy(struct tm_node *n)
{
	const modser_sg_op *from = n->from->op;

	if (tm_become(n, from->schema->name) != 0)
		return -1;
	for (size_t i = 0; i < from->schema->n_fields; i++) {
		if (modser_sg_op_set_param(n->op, from->schema->fields[i].name,
					   &from->params[i]) != 0)
			return fail_made(n);
	}
	return 0;
}

static int set(const struct tm_node *n, const char *param, const modser_sg_attr *value)
{
	return modser_sg_op_set_param(n->op, param, value) == 0 ? 0 : fail_made(n);
}

int tm_set_int(const struct tm_node *n, const char *param, int64_t value)
{
	const modser_sg_attr a = {.kind = MODSER_ATTR_INT, .as.i = value};

	return set(n, param, &a);
}

int tm_set_float(const struct tm_node *n, const char *param, float value)
{
	const modser_sg_attr a = {.kind = MODSER_ATTR_FLOAT, .as.f = value};

	return set(n, param, &a);
}

int tm_set_ints(const struct tm_node *n, const char *param, const int64_t *values,
		size_t count)
{
	const modser_sg_attr a = {MODSER_ATTR_INTS, count, {.ints = values}};

	return set(n, param, &a);
}

int64_t tm_int(const struct tm_node *n, const char *param)
{
	return modser_sg_op_int(n->from->op, param);
}

const modser_sg_tensor *tm_input(const struct tm_node *n, size_t i)
{
	return i < n->from->n_inputs ? n->from->inputs[i] : NULL;
}

int tm_ndim(const struct tm_node *n)
{
	return tm_input(n, 0) != NULL ? tm_input(n, 0)->ndim : -1;
}

uint64_t tm_elements(const modser_sg_tensor *t)
{
	uint64_t count = 0;

	return t != NULL && t->ndim >= 0 &&
			       msd_shape_elements(t->dims, (size_t)t->ndim, &count)
		       ? count
		       : 0;
}

int tm_ints(const struct tm_node *n, size_t i, int64_t *ret, size_t *ret_n)
{
	const int result = msd_infer_ints(n->from, i, ret, ret_n);

	return result == MSD_INFER_LATER
		       ? tm_fail(n, "its input %zu must be a constant", i)
		       : result;
}

bool tm_number(const modser_sg_tensor *t, float *ret)
{
	if (t == NULL || t->type != MODSER_TENSOR_CONST || t->data == NULL ||
	    strcmp(t->dtype_name, "float32") != 0 || tm_elements(t) != 1)
		return false;
	memcpy(ret, t->data, sizeof(*ret));
	return true;
}

int tm_set_axis(const struct tm_node *n, const char *param, int ndim)
{
	const int64_t axis = tm_int(n, param);

	if (axis >= 0)
		return 0;
	if (ndim < 0)
		return tm_fail(n, "the shape of its input is not known");
	return tm_set_int(n, param, axis + ndim);
}

static bool is_output(const modser_graph *g, const modser_sg_tensor *t)
{
	for (size_t i = 0; i < g->n_outputs; i++) {
		if (g->outputs[i] == t)
			return true;
	}
	return false;
}

static bool reads(const modser_sg_node *node, const modser_sg_tensor *t)
{
	for (size_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] == t)
			return true;
	}
	return false;
}

int tm_keep_output(struct tm_node *n, const char *what)
{
	const modser_graph *g = n->from->graph;

	for (size_t k = 1; k < n->from->n_outputs; k++) {
		const modser_sg_tensor *t = n->from->outputs[k];
		bool is_read = t != NULL && is_output(g, t);

		for (size_t i = 0; t != NULL && i < g->n_nodes && !is_read; i++)
			is_read = reads(g->nodes[i], t);
		if (is_read)
			return tm_fail(n, "it has no %s", what);
	}
	n->n_outputs = 1;
	return 0;
}

/* A graph that was read from a tmfile has Tengine's operators already. */
static bool is_tengine(const modser_graph *g)
{
	return strcmp(modser_graph_text(g, MODSER_GRAPH_SOURCE_FORMAT), "tengine") == 0;
}

static const struct tm_form *form_of(const modser_graph *g, const char *op)
{
	const size_t n = is_tengine(g) ? 1 : sizeof(forms) / sizeof(forms[0]);

	for (size_t i = 0; i < n; i++) {
		for (const struct tm_form *f = forms[i]; f->op != NULL; f++) {
			if (strcmp(f->op, op) == 0)
				return f;
		}
	}
	return NULL;
}

/* A plugin's method writes its operators itself. */
static int plan_node(struct tm_node *n, const modser_serializer *serializer)
{
	const char *op = n->op->schema->name;
	const struct tm_form *f = form_of(n->from->graph, op);

	if (f == NULL || modser_serializer_op_store(serializer, op) != NULL)
		return 0;
	return f->write(n);
}

/* A constant that was read in the graph and is not read in the file. */
static bool is_left_out(const modser_graph *g, const modser_sg_node *node,
			const bool *is_read, const bool *was_read)
{
	const modser_sg_tensor *t = node->n_outputs == 1 ? node->outputs[0] : NULL;

	return t != NULL && t->type == MODSER_TENSOR_CONST && was_read[t->index] &&
	       !is_read[t->index] && !is_output(g, t);
}

static void mark(modser_sg_tensor *const *list, size_t n, bool *flags)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] != NULL)
			flags[list[i]->index] = true;
	}
}

/* Leave out the outputs of @node from @first on. */
static void leave_outputs(struct tm_plan *p, const modser_sg_node *node, size_t first)
{
	for (size_t k = first; k < node->n_outputs; k++) {
		if (node->outputs[k] != NULL)
			p->tensor_at[node->outputs[k]->index] = TM_LEFT_OUT;
	}
}

static void number(modser_graph *g, struct tm_plan *p, bool *is_read, bool *was_read)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		mark(p->nodes[i].inputs, p->nodes[i].n_inputs, is_read);
		mark(g->nodes[i]->inputs, g->nodes[i]->n_inputs, was_read);
	}
	memset(p->tensor_at, 0, g->n_tensors * sizeof(*p->tensor_at));
	for (size_t i = 0; i < g->n_nodes; i++) {
		const bool is_out = is_left_out(g, g->nodes[i], is_read, was_read);

		p->node_at[i] = is_out ? TM_LEFT_OUT : (uint32_t)p->n_nodes++;
		leave_outputs(p, g->nodes[i], is_out ? 0 : p->nodes[i].n_outputs);
	}
	for (size_t i = 0; i < g->n_tensors; i++) {
		if (p->tensor_at[i] != TM_LEFT_OUT)
			p->tensor_at[i] = (uint32_t)p->n_tensors++;
	}
}

static int plan_all(modser_graph *g, const modser_serializer *serializer,
		    struct tm_plan *p)
{
	for (size_t i = 0; i < g->n_tensors; i++)
		p->lengths[i] = -1;
	for (size_t i = 0; i < g->n_nodes; i++) {
		modser_sg_node *node = g->nodes[i];

		p->nodes[i] = (struct tm_node){.from = node,
					       .op = node->op,
					       .inputs = node->inputs,
					       .n_inputs = node->n_inputs,
					       .n_outputs = node->n_outputs,
					       .made = p->made,
					       .lengths = p->lengths};
		if (plan_node(&p->nodes[i], serializer) != 0)
			return -1;
		/* An own order of inputs lies in the node itself. */
		if (p->nodes[i].own[0] != NULL)
			p->nodes[i].inputs = p->nodes[i].own;
	}
	return 0;
}

int tm_plan_make(modser_graph *g, const modser_serializer *serializer,
		 struct tm_plan *ret)
{
	bool *flags = calloc(2 * g->n_tensors + 1, sizeof(*flags));
	int result;

	*ret = (struct tm_plan){
		.nodes = calloc(g->n_nodes + 1, sizeof(*ret->nodes)),
		.node_at = calloc(g->n_nodes + 1, sizeof(*ret->node_at)),
		.tensor_at = calloc(g->n_tensors + 1, sizeof(*ret->tensor_at)),
		.lengths = calloc(g->n_tensors + 1, sizeof(*ret->lengths)),
		.made = modser_graph_create(""),
	};
	if (flags == NULL || ret->nodes == NULL || ret->node_at == NULL ||
	    ret->tensor_at == NULL || ret->lengths == NULL || ret->made == NULL) {
		result = msd_sg_no_memory(g);
	} else {
		/* Forms use shapes as far as they are known; an error without a text
		 * had no memory for it. */
		const bool is_short =
			!is_tengine(g) && modser_graph_infer(g) != 0 &&
			(g->diag.code == MSD_NOMEM || g->diag.text == NULL);

		result = is_short ? msd_sg_no_memory(g) : plan_all(g, serializer, ret);
		if (result == 0)
			number(g, ret, flags, flags + g->n_tensors);
	}
	free(flags);
	return result;
}

void tm_plan_finish(struct tm_plan *p)
{
	free(p->nodes);
	free(p->node_at);
	free(p->tensor_at);
	free(p->lengths);
	modser_graph_destroy(p->made);
	*p = (struct tm_plan){0};
}

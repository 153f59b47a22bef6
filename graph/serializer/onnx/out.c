/*
 * Write a node as ONNX. Operators that need a form use it; the rest use their row, if
 * all of their parameters are in the row or at their defaults. A parameter that ONNX
 * cannot express is an error that names the node.
 */
#include "graph/serializer/onnx/out.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/elements.h"
#include "graph/serializer/onnx/emit.h"
#include "graph/serializer/onnx/format.h"

const struct onnx_form *const onnx_forms[] = {onnx_forms_dtype,
					      onnx_forms_flow,
					      onnx_forms_window,
					      onnx_forms_layer,
					      onnx_forms_move,
					      onnx_forms_detect,
					      NULL};

int onnx_out_fail(const struct onnx_out *o, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return msd_sg_fail(o->e->g, MSD_UNSUPPORTED, "node %zu \"%s\", %s: %s",
			   o->node->index, o->node->name, o->op->schema->name, text);
}

bool onnx_out_is_word(const char *list, const char *word)
{
	const size_t n = strlen(word);

	for (const char *at = strstr(list, word); at != NULL;
	     at = strstr(at + 1, word)) {
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
			return true;
	}
	return false;
}

static int check_param(const struct onnx_out *o, size_t i, bool is_handled)
{
	const modser_sg_op_field *field = &o->op->schema->fields[i];

	if (is_handled || msd_sg_attr_equal(&o->op->params[i], &field->def))
		return 0;
	return onnx_out_fail(o, "ONNX of opset %d has no %s", ONNX_OPSET, field->name);
}

int onnx_out_check(const struct onnx_out *o, const char *handled)
{
	for (size_t i = 0; i < o->op->schema->n_fields; i++) {
		const char *name = o->op->schema->fields[i].name;

		if (check_param(o, i, onnx_out_is_word(handled, name)) != 0)
			return -1;
	}
	return 0;
}

int onnx_out_ndim(const struct onnx_out *o, size_t i)
{
	return i < o->node->n_inputs && o->node->inputs[i] != NULL
		       ? o->node->inputs[i]->ndim
		       : -1;
}

static char *name_of(struct onnx_emit *e, const modser_sg_tensor *t)
{
	return t != NULL ? e->names[t->index] : onnx_emit_text(e, "");
}

char *onnx_out_input(const struct onnx_out *o, size_t i)
{
	return name_of(o->e, i < o->node->n_inputs ? o->node->inputs[i] : NULL);
}

char *onnx_out_output(const struct onnx_out *o, size_t i)
{
	return name_of(o->e, i < o->node->n_outputs ? o->node->outputs[i] : NULL);
}

Onnx__NodeProto *onnx_out_node(const struct onnx_out *o, const char *op)
{
	Onnx__NodeProto *node = onnx_emit_node(o->e, op, o->node->name);

	onnx_emit_in(o->e, node, onnx_out_input(o, 0));
	onnx_emit_out(o->e, node, onnx_out_output(o, 0));
	return node;
}

static double number_of(const modser_sg_attr *a)
{
	return a->kind == MODSER_ATTR_FLOAT ? (double)a->as.f : (double)a->as.i;
}

/* True if all parameters that @row fixes have its values. */
static bool is_fixed_so(const struct onnx_row *row, const modser_sg_op *op)
{
	const char *at = row->params;
	struct onnx_word w;

	while (onnx_word_next(&at, &w)) {
		const modser_sg_attr *a =
			w.is_fixed ? modser_sg_op_param(op, w.param) : NULL;

		if (a == NULL)
			continue;
		const double want =
			a->kind == MODSER_ATTR_FLOAT ? (double)(float)w.value : w.value;
		if (number_of(a) != want)
			return false;
	}
	return true;
}

const struct onnx_row *onnx_row_of_op(const modser_sg_op *op)
{
	struct onnx_row_walk w = {0};
	int64_t first;

	for (const struct onnx_row *r = onnx_row_next(&w); r != NULL;
	     r = onnx_row_next(&w)) {
		if (r->op != NULL && strcmp(r->op, op->schema->name) == 0 &&
		    onnx_row_find(onnx_row_domain(r), r->name, onnx_row_opset(r),
				  &first) == r &&
		    is_fixed_so(r, op))
			return r;
	}
	return NULL;
}

static void put_attr(const struct onnx_out *o, Onnx__NodeProto *node,
		     const struct onnx_word *w)
{
	const modser_sg_attr *a = modser_sg_op_param(o->op, w->param);
	const modser_sg_attr *def = modser_sg_op_default(o->op->schema->name, w->param);

	/* Omit values that are ONNX's default, too. */
	if (!w->is_required && !w->has_value && msd_sg_attr_equal(a, def))
		return;
	switch (a->kind) {
	case MODSER_ATTR_INT:
		onnx_emit_int(o->e, node, w->attr, a->as.i);
		return;
	case MODSER_ATTR_FLOAT:
		onnx_emit_float(o->e, node, w->attr, a->as.f);
		return;
	case MODSER_ATTR_STR:
		onnx_emit_string(o->e, node, w->attr, a->as.s,
				 strcmp(w->attr, "activations") == 0 ||
					 strcmp(w->attr, "nodes_modes") == 0);
		return;
	case MODSER_ATTR_INTS:
		onnx_emit_ints(o->e, node, w->attr, a->as.ints, a->n);
		return;
	case MODSER_ATTR_FLOATS:
		onnx_emit_floats(o->e, node, w->attr, a->as.floats, a->n);
		return;
	case MODSER_ATTR_GRAPH:
		return;
	}
}

Onnx__NodeProto *onnx_out_by_row(const struct onnx_out *o, const struct onnx_row *row)
{
	Onnx__NodeProto *node = onnx_emit_node(o->e, row->name, o->node->name);
	const char *domain = onnx_row_domain(row);
	const char *at = row->params;
	struct onnx_word w;

	if (node != NULL && !onnx_domain_is_own(domain)) {
		node->domain = (char *)(uintptr_t)domain;
		onnx_emit_domain(o->e, domain, onnx_row_opset(row));
	}
	for (size_t i = 0; i < o->node->n_inputs; i++)
		onnx_emit_in(o->e, node, onnx_out_input(o, i));
	for (size_t i = 0; i < o->node->n_outputs; i++)
		onnx_emit_out(o->e, node, onnx_out_output(o, i));
	while (onnx_word_next(&at, &w)) {
		if (w.attr[0] != '\0' && w.param[0] != '\0')
			put_attr(o, node, &w);
	}
	return node;
}

/* Check that every parameter without its default value is in the row. */
static int check_row(const struct onnx_out *o, const struct onnx_row *row)
{
	for (size_t i = 0; i < o->op->schema->n_fields; i++) {
		const char *at = row->params;
		bool is_handled = false;
		struct onnx_word w;

		while (onnx_word_next(&at, &w) && !is_handled) {
			is_handled =
				strcmp(w.param, o->op->schema->fields[i].name) == 0;
		}
		if (check_param(o, i, is_handled) != 0)
			return -1;
	}
	return 0;
}

/* Subgraphs are written by the forms of their operators. */
static int check_attrs(const struct onnx_out *o)
{
	for (size_t i = 0; i < o->op->attrs.n; i++) {
		const struct msd_sg_attr *a = &o->op->attrs.items[i];

		if (a->value.kind != MODSER_ATTR_GRAPH &&
		    !msd_sg_attr_is_origin(a->name)) {
			return onnx_out_fail(o, "ONNX has no attribute \"%.128s\"",
					     a->name);
		}
	}
	return 0;
}

int onnx_out_put(const struct onnx_out *o)
{
	const struct onnx_row *row = onnx_row_of_op(o->op);
	const char *name = row != NULL ? row->name : o->op->schema->name;

	if (onnx_elements_check(o, name) != 0 || check_attrs(o) != 0)
		return -1;
	for (size_t i = 0; onnx_forms[i] != NULL; i++) {
		for (const struct onnx_form *f = onnx_forms[i]; f->op != NULL; f++) {
			if (strcmp(f->op, o->op->schema->name) == 0)
				return f->store(o);
		}
	}
	if (row == NULL)
		return onnx_out_fail(o, "ONNX of opset 17 has no such operator");
	if (check_row(o, row) != 0)
		return -1;
	(void)onnx_out_by_row(o, row);
	return 0;
}

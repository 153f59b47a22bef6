/* Attributes of nodes, and the parameters set from them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/dtype.h"
#include "graph/serializer/onnx/rows/row.h"

int onnx_fail(const struct onnx_node *n, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return msd_sg_fail(n->l->g, MSD_UNSUPPORTED, "node %zu \"%s\", %s: %s",
			   n->index, onnx_text(n->proto->name), n->proto->op_type,
			   text);
}

const Onnx__AttributeProto *onnx_attr(const struct onnx_node *n, const char *name)
{
	for (size_t i = 0; i < n->proto->n_attribute; i++) {
		const Onnx__AttributeProto *a = n->proto->attribute[i];

		if (a->name != NULL && strcmp(a->name, name) == 0)
			return a;
	}
	return NULL;
}

int64_t onnx_attr_int(const struct onnx_node *n, const char *name, int64_t otherwise)
{
	const Onnx__AttributeProto *a = onnx_attr(n, name);

	return a != NULL && a->has_i ? a->i : otherwise;
}

bool onnx_attr_is(const struct onnx_node *n, const char *name, const char *text)
{
	const Onnx__AttributeProto *a = onnx_attr(n, name);

	return a != NULL && a->s.len == strlen(text) &&
	       memcmp(a->s.data, text, a->s.len) == 0;
}

int onnx_set_int(const struct onnx_node *n, const char *param, int64_t value)
{
	return modser_sg_op_set_int(n->op, param, value);
}

int onnx_set_ints(const struct onnx_node *n, const char *param, const int64_t *values,
		  size_t count)
{
	const modser_sg_attr value = {MODSER_ATTR_INTS, count, {.ints = values}};

	return modser_sg_op_set_param(n->op, param, &value);
}

int onnx_set_text(const struct onnx_node *n, const char *param, const char *text)
{
	const modser_sg_attr value = {MODSER_ATTR_STR, 0, {.s = text}};

	return modser_sg_op_set_param(n->op, param, &value);
}

int onnx_set_dtype(const struct onnx_node *n, const char *attr, const char *param)
{
	const int64_t type = onnx_attr_int(n, attr, 0);
	const char *name = onnx_dtype_name((int32_t)type);

	if (onnx_attr(n, attr) == NULL)
		return 0;
	if (name == NULL) {
		return onnx_fail(n, "element type %lld cannot be made",
				 (long long)type);
	}
	return onnx_set_text(n, param, name);
}

/* Join the texts with spaces into one parameter. */
static int set_texts(const struct onnx_node *n, const char *param,
		     const Onnx__AttributeProto *a)
{
	struct msd_buf text = {0};

	for (size_t i = 0; i < a->n_strings; i++) {
		if (i > 0)
			msd_buf_put_u8(&text, ' ');
		msd_buf_put(&text, a->strings[i].data, a->strings[i].len);
	}
	msd_buf_put_u8(&text, '\0');
	const int result = text.bad ? msd_sg_no_memory(n->l->g)
				    : onnx_set_text(n, param, (const char *)text.p);
	msd_buf_finish(&text);
	return result;
}

static int set_text(const struct onnx_node *n, const char *param,
		    const Onnx__AttributeProto *a)
{
	if (a->n_strings > 0)
		return set_texts(n, param, a);
	char *copy = msd_sg_copy((const char *)a->s.data, a->s.len);
	if (copy == NULL)
		return msd_sg_no_memory(n->l->g);
	const int result = onnx_set_text(n, param, copy);
	free(copy);
	return result;
}

/* Set a parameter; fails if the attribute has another kind. */
static int set_param(const struct onnx_node *n, const char *param,
		     const Onnx__AttributeProto *a)
{
	const modser_sg_attr *now = modser_sg_op_param(n->op, param);
	modser_sg_attr value = {.kind = now->kind};
	bool is_there = true;

	switch (now->kind) {
	case MODSER_ATTR_INT:
		is_there = a->has_i;
		value.as.i = a->i;
		break;
	case MODSER_ATTR_FLOAT:
		is_there = a->has_f;
		value.as.f = a->f;
		break;
	case MODSER_ATTR_INTS:
		value.n = a->n_ints;
		value.as.ints = a->ints;
		break;
	case MODSER_ATTR_FLOATS:
		value.n = a->n_floats;
		value.as.floats = a->floats;
		break;
	case MODSER_ATTR_STR:
		if (a->has_s || a->n_strings > 0)
			return set_text(n, param, a);
		is_there = false;
		break;
	case MODSER_ATTR_GRAPH:
		is_there = false;
	}
	if (!is_there)
		return onnx_fail(n, "attribute \"%s\" is of another type", a->name);
	return modser_sg_op_set_param(n->op, param, &value);
}

int onnx_param_read(const struct onnx_node *n, const char *attr, const char *param)
{
	const Onnx__AttributeProto *a = onnx_attr(n, attr);

	return a != NULL ? set_param(n, param, a) : 0;
}

static int set_number(const struct onnx_node *n, const char *param, double number)
{
	const modser_sg_attr *now = modser_sg_op_param(n->op, param);
	modser_sg_attr value = {.kind = now->kind};

	if (now->kind == MODSER_ATTR_FLOAT) {
		value.as.f = (float)number;
	} else {
		value.as.i = (int64_t)number;
	}
	return modser_sg_op_set_param(n->op, param, &value);
}

static int take_word(struct onnx_node *n, const struct onnx_word *w)
{
	const Onnx__AttributeProto *a = onnx_attr(n, w->attr);

	if (a == NULL && w->is_required)
		return onnx_fail(n, "attribute \"%s\" is missing", w->attr);
	if (w->param[0] == '\0')
		return 0;
	if (w->is_fixed || (a == NULL && w->has_value))
		return set_number(n, w->param, w->value);
	return a != NULL ? set_param(n, w->param, a) : 0;
}

/* True if @row handles attribute @name. */
static bool is_known(const struct onnx_row *row, const char *name)
{
	const char *at = row->params;
	struct onnx_word w;

	if (strcmp(name, "consumed_inputs") == 0) /* of opsets before 6 */
		return true;
	while (onnx_word_next(&at, &w)) {
		if (strcmp(w.attr, name) == 0)
			return true;
	}
	return false;
}

int onnx_params_read(struct onnx_node *n, const struct onnx_row *row)
{
	const char *at = row->params;
	struct onnx_word w;

	for (size_t i = 0; i < n->proto->n_attribute; i++) {
		const Onnx__AttributeProto *a = n->proto->attribute[i];

		if (a->name == NULL || !is_known(row, a->name)) {
			return onnx_fail(n,
					 "attribute \"%s\" is not known in opset %lld",
					 onnx_text(a->name), (long long)n->l->opset);
		}
		if (a->ref_attr_name != NULL && a->ref_attr_name[0] != '\0') {
			return onnx_fail(n, "attribute \"%s\" is a function's",
					 a->name);
		}
	}
	while (onnx_word_next(&at, &w)) {
		if (take_word(n, &w) != 0)
			return -1;
	}
	return 0;
}

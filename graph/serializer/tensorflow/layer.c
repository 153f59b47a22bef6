/* Helpers of all rows of operators: attributes, inputs, outputs, axes. */
#include "graph/serializer/tensorflow/layer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"

modser_sg_tensor *tf_fail(const struct tf_layer *x, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)tf_load_fail(x->f->l, MSD_UNSUPPORTED, "%s", text);
	return NULL;
}

const struct tf_row *tf_row_at(size_t i)
{
	static const struct tf_row *const tables[] = {
		tf_rows_element, tf_rows_window,  tf_rows_move, tf_rows_slice,
		tf_rows_reduce,  tf_rows_flow,    tf_rows_list, tf_rows_detect,
		tf_rows_volume,  tf_rows_scatter, tf_rows_make};

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (const struct tf_row *row = tables[t]; row->name != NULL; row++) {
			if (i-- == 0)
				return row;
		}
	}
	return NULL;
}

const struct tf_row *tf_row_find(const char *name)
{
	const struct tf_row *row;

	for (size_t i = 0; (row = tf_row_at(i)) != NULL; i++) {
		if (strcmp(row->name, name) == 0)
			return row;
	}
	return NULL;
}

/* Operators that no graph here can have, by a part of their names. */
static const struct {
	const char *part, *help;
} helps[] = {
	{"Table", "a hash table; look up outside of the model, and give its numbers to "
		  "--outputs' part"},
	{"String", "texts; compute them outside of the model"},
	{"Regex", "texts; compute them outside of the model"},
	{"Queue", "a queue; freeze the graph behind it, with a placeholder"},
	{"Iterator", "a data set; freeze the graph behind it, with a placeholder"},
	{"Dataset", "a data set; freeze the graph behind it, with a placeholder"},
	{"Decode",
	 "texts; decode outside of the model, and freeze the graph behind it"},
	{"ParseExample", "texts; parse outside of the model, and freeze the graph "
			 "behind it"},
	{"Variable", "a variable; freeze the graph "
		     "(convert_variables_to_constants_v2), or give the whole folder "
		     "of a SavedModel"},
	{"TensorArray", "an array of TensorFlow 1; export with "
			"tf.compat.v1.enable_control_flow_v2()"},
	{"Random", "random numbers; give them as an input"},
	{"PyFunc", "a Python function; export without it"},
};

int tf_refuse(const struct tf_layer *x)
{
	const char *op = x->node->op;

	for (size_t i = 0; i < sizeof(helps) / sizeof(helps[0]); i++) {
		if (strstr(op, helps[i].part) != NULL) {
			return tf_load_fail(x->f->l, MSD_UNSUPPORTED, "it is of %s",
					    helps[i].help);
		}
	}
	return tf_load_fail(x->f->l, MSD_UNSUPPORTED,
			    "this operator cannot be read; name outputs before it "
			    "(--outputs), or export the model without it");
}

const Tensorflow__AttrValue *tf_attr_of(const struct tf_frame *f, const tf_node *node,
					const char *name)
{
	for (size_t i = 0; i < node->n_attr; i++) {
		const Tensorflow__AttrEntry *e = node->attr[i];

		if (e->key == NULL || strcmp(e->key, name) != 0)
			continue;
		if (e->value != NULL && e->value->placeholder != NULL &&
		    f->caller != NULL) {
			return tf_attr_of(f->caller, f->call, e->value->placeholder);
		}
		return e->value;
	}
	return NULL;
}

const Tensorflow__AttrValue *tf_attr(const struct tf_layer *x, const char *name)
{
	return tf_attr_of(x->f, x->node, name);
}

int64_t tf_int(const struct tf_layer *x, const char *name, int64_t otherwise)
{
	const Tensorflow__AttrValue *a = tf_attr(x, name);

	return a != NULL && a->has_i ? a->i : otherwise;
}

float tf_float(const struct tf_layer *x, const char *name, float otherwise)
{
	const Tensorflow__AttrValue *a = tf_attr(x, name);

	return a != NULL && a->has_f ? a->f : otherwise;
}

bool tf_bool(const struct tf_layer *x, const char *name, bool otherwise)
{
	const Tensorflow__AttrValue *a = tf_attr(x, name);

	return a != NULL && a->has_b ? a->b : otherwise;
}

bool tf_is(const struct tf_layer *x, const char *name, const char *text)
{
	const Tensorflow__AttrValue *a = tf_attr(x, name);

	return a != NULL && a->has_s &&
	       msd_span_is((struct msd_span){a->s.data, a->s.len}, text);
}

size_t tf_list(const struct tf_layer *x, const char *name, int64_t *ret, size_t max)
{
	const Tensorflow__AttrValue *a = tf_attr(x, name);
	size_t n = 0;

	for (; a != NULL && a->list != NULL && n < a->list->n_i && n < max; n++)
		ret[n] = a->list->i[n];
	return n;
}

const char *tf_dtype(int32_t type)
{
	static const char *const names[] = {
		NULL,   "float32", "float64",  "int32", "uint8",  "int16",
		"int8", NULL,      NULL,       "int64", "bool",   NULL,
		NULL,   NULL,      "bfloat16", NULL,    NULL,     "uint16",
		NULL,   "float16", NULL,       NULL,    "uint32", "uint64"};

	type = type > 100 ? type - 100 : type; /* references of version 1 */
	return type >= 0 && (size_t)type < sizeof(names) / sizeof(names[0])
		       ? names[type]
		       : NULL;
}

const char *tf_type(const struct tf_layer *x, const char *name)
{
	const Tensorflow__AttrValue *a = tf_attr(x, name);
	const char *dtype = a != NULL && a->has_type ? tf_dtype(a->type) : NULL;

	if (dtype == NULL && a != NULL && a->has_type && a->type == 7) {
		(void)tf_fail(x, "it has texts; compute them outside of the model");
	} else if (dtype == NULL) {
		(void)tf_fail(x, "its attribute %s is no element type that can be read",
			      name);
	}
	return dtype;
}

const char *tf_function(const struct tf_layer *x, const char *name)
{
	const Tensorflow__AttrValue *a = tf_attr(x, name);

	if (a != NULL && a->func != NULL && a->func->name != NULL)
		return a->func->name;
	(void)tf_load_fail(x->f->l, MSD_BAD_ARTIFACT, "its attribute %s is no function",
			   name);
	return NULL;
}

bool tf_outs(struct tf_layer *x, size_t n)
{
	struct tf_cell *cell = &x->f->cells[x->at];

	if (n > TF_MANY) {
		(void)tf_load_fail(x->f->l, MSD_TOO_LARGE, "it has %zu outputs", n);
		return false;
	}
	cell->out = calloc(n + 1, sizeof(struct tf_value *));
	if (cell->out == NULL) {
		(void)msd_sg_no_memory(x->f->l->g);
		return false;
	}
	cell->n_out = n;
	return true;
}

int tf_out(struct tf_layer *x, size_t k, modser_sg_tensor *t)
{
	struct tf_value *v = tf_value_of(x->f->l, t);

	x->f->cells[x->at].out[k] = v;
	return v != NULL ? 0 : -1;
}

modser_sg_tensor *tf_in(const struct tf_layer *x, size_t i)
{
	static const char *const kinds[] = {
		[TF_LIST] = "a list of tensors",
		[TF_HANDLE] = "a variable, which was not read",
		[TF_TEXT] = "a text; compute texts outside of the model",
		[TF_DEAD] = "of a side that is never taken"};
	const struct tf_value *v = x->in[i];

	if (v->kind == TF_TENSOR)
		return v->t;
	return tf_fail(x, "input %zu is %s", i, kinds[v->kind]);
}

bool tf_ndim(const struct tf_layer *x, const modser_sg_tensor *t, size_t *ret)
{
	if (t->ndim < 0) {
		(void)tf_fail(x,
			      "the number of dimensions of \"%.200s\" is not known "
			      "before a call",
			      t->name);
		return false;
	}
	*ret = (size_t)t->ndim;
	return true;
}

bool tf_is_const(const modser_sg_tensor *t)
{
	return t->type == MODSER_TENSOR_CONST && (t->data != NULL || t->bytes == 0);
}

bool tf_axis(const struct tf_layer *x, const modser_sg_tensor *t, int64_t axis,
	     size_t *ret)
{
	size_t n;

	if (axis >= 0 && axis < MODSER_GRAPH_MAX_NDIM && t->ndim < 0) {
		*ret = (size_t)axis;
		return true;
	}
	if (!tf_ndim(x, t, &n))
		return false;
	const int64_t ndim = (int64_t)n;
	const int64_t at = axis < 0 ? axis + ndim : axis;
	if (at < 0 || at >= ndim) {
		(void)tf_load_fail(x->f->l, MSD_BAD_ARTIFACT, "axis %lld of %lld",
				   (long long)axis, (long long)ndim);
		return false;
	}
	*ret = (size_t)at;
	return true;
}

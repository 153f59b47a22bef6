/* Helpers of all rows of operators: attributes, which are texts, and common nodes. */
#include "graph/serializer/mxnet/layer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/build/compose.h"

modser_sg_tensor *mxnet_fail(const struct mxnet_layer *x, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)msd_sg_fail(x->b.g, MSD_UNSUPPORTED, "%s", text);
	return NULL;
}

const struct mxnet_row *mxnet_row_at(size_t i)
{
	static const struct mxnet_row *const tables[] = {
		mxnet_rows_element, mxnet_rows_array,     mxnet_rows_layer,
		mxnet_rows_move,    mxnet_rows_recurrent, mxnet_rows_reduce,
		mxnet_rows_detect};

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (const struct mxnet_row *row = tables[t]; row->name != NULL;
		     row++) {
			if (i-- == 0)
				return row;
		}
	}
	return NULL;
}

const struct mxnet_row *mxnet_row_find(const char *name)
{
	const struct mxnet_row *row;

	for (size_t i = 0; (row = mxnet_row_at(i)) != NULL; i++) {
		if (strcmp(row->name, name) == 0)
			return row;
	}
	return NULL;
}

const char *mxnet_attr(const struct mxnet_node *node, const char *name)
{
	for (size_t i = 0; i < 3; i++) {
		const char *text =
			json_string_value(json_object_get(node->attrs[i], name));

		if (text != NULL)
			return strcmp(text, "None") != 0 ? text : NULL;
	}
	return NULL;
}

bool mxnet_is(const struct mxnet_layer *x, const char *name, const char *text,
	      const char *otherwise)
{
	const char *has = mxnet_attr(x->node, name);

	return strcmp(has != NULL ? has : otherwise, text) == 0;
}

bool mxnet_bool(const struct mxnet_layer *x, const char *name, bool otherwise)
{
	const char *text = mxnet_attr(x->node, name);

	if (text == NULL)
		return otherwise;
	return strcmp(text, "True") == 0 || strcmp(text, "true") == 0 ||
	       strcmp(text, "1") == 0;
}

bool mxnet_float(const struct mxnet_layer *x, const char *name, double otherwise,
		 double *ret)
{
	const char *text = mxnet_attr(x->node, name);
	char *end;

	*ret = otherwise;
	if (text == NULL)
		return true;
	*ret = strtod(text, &end);
	if (end != text && *end == '\0')
		return true;
	(void)mxnet_fail(x, "%s is \"%.60s\", expected a number", name, text);
	return false;
}

bool mxnet_int(const struct mxnet_layer *x, const char *name, int64_t otherwise,
	       int64_t *ret)
{
	double v;

	if (!mxnet_float(x, name, (double)otherwise, &v))
		return false;
	if (v != v || v < -1e15 || v > 1e15 || v != (double)(int64_t)v) {
		(void)mxnet_fail(x, "%s is \"%.60s\", expected an integer", name,
				 mxnet_attr(x->node, name));
		return false;
	}
	*ret = (int64_t)v;
	return true;
}

bool mxnet_list_of(const struct mxnet_node *node, const char *name,
		   int64_t ret[static MXNET_MAX_LIST], size_t *ret_n)
{
	const char *p = mxnet_attr(node, name);

	*ret_n = 0;
	if (p == NULL)
		return true;
	for (;;) {
		p += strspn(p, "([ ,)]");
		if (*p == '\0')
			return true;
		if (*ret_n == MXNET_MAX_LIST)
			return false;
		if (strncmp(p, "None", 4) == 0) {
			ret[(*ret_n)++] = MXNET_NONE;
			p += 4;
			continue;
		}
		char *end;
		ret[(*ret_n)++] = strtoll(p, &end, 10);
		if (end == p)
			return false;
		p = end + (*end == 'L' ? 1 : 0);
	}
}

bool mxnet_list(const struct mxnet_layer *x, const char *name,
		int64_t ret[static MXNET_MAX_LIST], size_t *ret_n)
{
	if (mxnet_list_of(x->node, name, ret, ret_n))
		return true;
	(void)mxnet_fail(x, "%s is \"%.60s\", expected a list of integers", name,
			 mxnet_attr(x->node, name));
	return false;
}

modser_sg_tensor *mxnet_cast(const struct mxnet_layer *x, modser_sg_tensor *t,
			     const char *dtype)
{
	return t == NULL || (t->has_dtype && strcmp(t->dtype_name, dtype) == 0)
		       ? t
		       : msd_build_cast(&x->b, t, dtype);
}

modser_sg_tensor *mxnet_with_axes(const struct mxnet_layer *x, const char *op,
				  modser_sg_tensor *t, const int64_t *axes, size_t n)
{
	modser_sg_tensor *made = msd_build_node(&x->b, op, &t, 1);

	return msd_build_done(n > 0 ? msd_build_list(made, "axes", axes, n) : made);
}

modser_sg_tensor *mxnet_swap(const struct mxnet_layer *x, modser_sg_tensor *t, size_t n,
			     size_t a, size_t b)
{
	int64_t perm[MODSER_GRAPH_MAX_NDIM];

	for (size_t i = 0; i < n; i++)
		perm[i] = (int64_t)i;
	perm[a] = (int64_t)b;
	perm[b] = (int64_t)a;
	return msd_build_transpose(&x->b, t, perm, n);
}

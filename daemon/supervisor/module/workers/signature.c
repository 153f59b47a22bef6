/*
 * Happy path: the parameters, results, extents and named extents are counted, then
 * read into blocks of that size. Failures: a description without a name. All else that
 * a worker may leave out, or write in another form, is unknown.
 */
#include "daemon/supervisor/module/workers/signature.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/value.h"

static struct msd_span text_of(struct msd_span map, const char *key)
{
	const struct msd_span object = msd_map_value(map, key);
	struct msd_cur c = msd_cur_of(object);
	struct msd_wire_value v;

	return object.n > 0 && msd_value_read(&c, &v, NULL) == MSD_OK &&
			       v.kind == MSD_K_STR
		       ? v.as.str
		       : (struct msd_span){0};
}

/* The lists of a function, before they are read. */
struct lists {
	struct msd_cur params, results;
	uint32_t n_extents, n_names;
};

static bool open_list(struct msd_span described, const char *key, struct msd_cur *ret,
		      uint32_t *ret_n)
{
	if (msd_array_open(msd_map_value(described, key), ret, ret_n))
		return true;
	*ret_n = 0;
	return false;
}

static void count(struct lists *l, struct msd_cur list, uint32_t n)
{
	struct msd_span param;
	struct msd_cur c;
	uint32_t n_here;

	while (n-- > 0 && msd_object_parse(&list, &param)) {
		if (msd_array_open(msd_map_value(param, "shape"), &c, &n_here))
			l->n_extents += n_here;
		if (msd_array_open(msd_map_value(param, "extents"), &c, &n_here))
			l->n_names += n_here;
	}
}

/* Map a scalar's kind to its element type. */
static bool dtype_of(struct msd_span type, struct msd_dtype *ret)
{
	if (msd_span_is(type, "int")) {
		*ret = (struct msd_dtype){MSD_DT_INT, 64, 1};
		return true;
	}
	if (msd_span_is(type, "float")) {
		*ret = (struct msd_dtype){MSD_DT_FLOAT, 64, 1};
		return true;
	}
	return msd_dtype_parse((const char *)type.p, type.n, ret);
}

/* A kind that is not known may be a tensor. */
static enum msd_signature_kind kind_of(struct msd_span kind)
{
	static const char *const numbers[] = {"int", "float", "bool"};
	static const char *const others[] = {"str", "shape", "tuple"};

	for (unsigned i = 0; i < 3; i++) {
		if (msd_span_is(kind, numbers[i]))
			return MSD_SIGNATURE_NUMBER;
		if (msd_span_is(kind, others[i]))
			return MSD_SIGNATURE_OBJECT;
	}
	return MSD_SIGNATURE_TENSOR;
}

/* "?" means that it is not known. */
static bool is_name(struct msd_span s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (isalpha(s.p[i]))
			return true;
	}
	return false;
}

static uint32_t symbol_of(struct msd_function_signature *f, struct msd_span name)
{
	if (!is_name(name))
		return 0;
	for (uint32_t i = 0; i < f->n_symbols; i++) {
		if (msd_span_same(f->symbols[i], name))
			return i + 1;
	}
	if (f->n_symbols == MSD_SIGNATURE_SYMBOLS)
		return 0;
	f->symbols[f->n_symbols++] = name;
	return f->n_symbols;
}

static void read_extents(struct msd_signature_param *p, struct msd_span shape)
{
	struct msd_wire_value v;
	struct msd_cur c;
	uint32_t n;

	if (!msd_array_open(shape, &c, &n))
		return;
	p->has_shape = n <= MSD_MAX_NDIM;
	for (; p->n_extents < n && msd_value_read(&c, &v, NULL) == MSD_OK;
	     p->n_extents++) {
		p->extents[p->n_extents].value =
			v.kind == MSD_K_INT && v.as.i >= 0 ? v.as.i : -1;
	}
}

/* As many names as extents, or none of them is used. */
static void read_names(struct msd_function_signature *f, struct msd_signature_param *p,
		       struct msd_span names)
{
	struct msd_wire_value v;
	struct msd_cur c;
	uint32_t n;

	if (!msd_array_open(names, &c, &n) || n != p->n_extents)
		return;
	for (uint32_t i = 0; i < n && msd_value_read(&c, &v, NULL) == MSD_OK; i++) {
		if (v.kind == MSD_K_STR)
			p->extents[i].symbol = symbol_of(f, v.as.str);
	}
}

static void read_param(struct msd_function_signature *f, struct msd_signature_param *p,
		       struct msd_span param)
{
	p->name = text_of(param, "name");
	p->type = text_of(param, "dtype");
	p->kind = kind_of(text_of(param, "kind"));
	if (p->type.n == 0)
		p->type = text_of(param, "kind");
	p->has_dtype = dtype_of(p->type, &p->dtype);
	p->is_optional = msd_map_value(param, "optional").n > 0;
	read_extents(p, msd_map_value(param, "shape"));
	read_names(f, p, msd_map_value(param, "extents"));
}

static uint32_t read_list(struct msd_function_signature *f,
			  struct msd_signature_param *list, struct msd_cur c,
			  uint32_t n, const char *unnamed,
			  struct msd_signature_extent **extents)
{
	struct msd_span param;
	uint32_t i = 0;

	for (; i < n && msd_object_parse(&c, &param); i++) {
		struct msd_signature_param *p = &list[i];
		p->extents = *extents;
		read_param(f, p, param);
		*extents += p->n_extents;
		if (p->name.n == 0) {
			(void)snprintf(p->own_name, sizeof(p->own_name), "%s%u",
				       unnamed, i);
			p->name = msd_span_of(p->own_name);
		}
	}
	return i;
}

static bool make_room(struct msd_function_signature *f, const struct lists *l)
{
	const uint32_t n_symbols =
		l->n_names < MSD_SIGNATURE_SYMBOLS ? l->n_names : MSD_SIGNATURE_SYMBOLS;

	f->params = calloc((size_t)f->n_params + f->n_results + 1, sizeof(*f->params));
	f->extents = calloc((size_t)l->n_extents + 1, sizeof(*f->extents));
	f->symbols = calloc((size_t)n_symbols + 1, sizeof(*f->symbols));
	return f->params != NULL && f->extents != NULL && f->symbols != NULL;
}

msd_err msd_function_signature_read(struct msd_function_signature *ret,
				    struct msd_span described, struct msd_diag *d)
{
	const struct msd_span style = text_of(described, "style");
	struct msd_function_signature *f = ret;
	struct lists l = {0};

	*f = (struct msd_function_signature){.name = text_of(described, "name"),
					     .is_prim = msd_span_is(style, "prim"),
					     .is_model = msd_span_is(style, "model")};
	if (f->name.p == NULL) {
		return msd_diag_set(
			d, MSD_INTERNAL,
			"the worker's description: a function without a name");
	}
	f->has_params = open_list(described, "params", &l.params, &f->n_params);
	f->has_results = open_list(described, "results", &l.results, &f->n_results);
	count(&l, l.params, f->n_params);
	count(&l, l.results, f->n_results);
	if (!make_room(f, &l))
		return msd_diag_no_memory(d);
	struct msd_signature_extent *extents = f->extents;
	f->results = f->params + f->n_params;
	f->n_params = read_list(f, f->params, l.params, f->n_params, "arg", &extents);
	f->n_results =
		read_list(f, f->results, l.results, f->n_results, "output", &extents);
	return MSD_OK;
}

void msd_function_signature_finish(struct msd_function_signature *f)
{
	free(f->params);
	free(f->extents);
	free(f->symbols);
	*f = (struct msd_function_signature){0};
}

/*
 * Happy path: the name is split at its colon, the module is looked up, and its
 * function is found in the worker's report. The function's parameters and results are
 * the tensors. A function that fills its outputs has them after its inputs; the last
 * parameter is assumed to be one. If an artifact does not declare the model's
 * results, no outputs are listed.
 */
#include "daemon/supervisor/http/models/model.h"

#include <stdio.h>
#include <string.h>

#include "daemon/http/infer_data.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/readiness.h"
#include "proto/base/json.h"
#include "proto/value.h"

#define NAMES_SHOWN 8u

struct msd_span msd_model_module_name(struct msd_span name)
{
	const uint8_t *colon = name.n > 0 ? memchr(name.p, ':', name.n) : NULL;

	return colon == NULL ? name
			     : (struct msd_span){name.p, (size_t)(colon - name.p)};
}

msd_err msd_model_find(struct msd_module_registry *registry, struct msd_span name,
		       struct msd_model *ret, struct msd_diag *d)
{
	const struct msd_span module = msd_model_module_name(name);
	struct msd_model m = {0};
	msd_err err = msd_module_require(registry, module, &m.module, d);

	if (err != MSD_OK)
		return err;
	const struct msd_facts *facts = &m.module->group.facts;
	if (module.n == name.n) {
		m.function = msd_facts_model(facts);
	} else {
		const struct msd_span function = {name.p + module.n + 1,
						  name.n - module.n - 1};
		m.function = msd_facts_function(facts, function);
		if (m.function.n == 0 && msd_facts_are_known(facts)) {
			const struct msd_span near =
				msd_facts_near_function(facts, function);

			return msd_diag_set(
				d, MSD_NOT_FOUND, "%s has no function %.*s%s%.*s%s",
				m.module->group.name, (int)function.n,
				(const char *)function.p,
				near.n > 0 ? "; did you mean " : "", (int)near.n,
				(const char *)near.p, near.n > 0 ? "?" : "");
		}
	}
	*ret = m;
	return MSD_OK;
}

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

struct words {
	const char *inputs, *outputs, *datatype, *shape;
	const char *type; /* prefix of a datatype's name */
};

static const struct words words_of[MSD_MODEL_FORM_COUNT] = {
	[MSD_MODEL_METADATA] = {"inputs", "outputs", "datatype", "shape", ""},
	[MSD_MODEL_CONFIG] = {"input", "output", "data_type", "dims", "TYPE_"}};

/* A type without a name in the protocol keeps its own name. */
static void write_datatype(const struct msd_model_param *p, const struct words *words,
			   struct msd_buf *out)
{
	const char *name = p->has_dtype ? msd_datatype_name(p->dtype) : NULL;

	if (name != NULL) {
		msd_buf_printf(out, "\"%s%s\"", words->type, name);
	} else {
		msd_json_str(out, p->type);
	}
}

static void write_shape(struct msd_span shape, struct msd_buf *out)
{
	struct msd_wire_value v;
	struct msd_cur c;
	uint32_t n;

	msd_buf_printf(out, "[");
	if (!msd_array_open(shape, &c, &n))
		n = 0;
	for (uint32_t i = 0; i < n && msd_value_read(&c, &v, NULL) == MSD_OK; i++) {
		msd_buf_printf(out, "%s%lld", i > 0 ? "," : "",
			       v.kind == MSD_K_INT ? (long long)v.as.i : -1LL);
	}
	msd_buf_printf(out, "]");
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

bool msd_model_is_prim(const struct msd_model *m)
{
	return msd_span_is(text_of(m->function, "style"), "prim");
}

struct msd_span msd_model_function_name(const struct msd_model *m)
{
	return text_of(m->function, "name");
}

static bool open_list(const struct msd_model *m, const char *key, const char *unnamed,
		      struct msd_model_walk *ret)
{
	*ret = (struct msd_model_walk){.unnamed = unnamed};
	return m->function.n > 0 &&
	       msd_array_open(msd_map_value(m->function, key), &ret->left, &ret->n);
}

bool msd_model_open(const struct msd_model *m, struct msd_model_walk *ret)
{
	return open_list(m, "params", "arg", ret);
}

bool msd_model_open_results(const struct msd_model *m, struct msd_model_walk *ret)
{
	return open_list(m, "results", "output", ret);
}

bool msd_model_next(struct msd_model_walk *w, struct msd_model_param *ret)
{
	struct msd_span param;

	if (w->i == w->n || !msd_object_parse(&w->left, &param))
		return false;
	*ret = (struct msd_model_param){.name = text_of(param, "name"),
					.shape = msd_map_value(param, "shape"),
					.extents = msd_map_value(param, "extents")};
	if (ret->name.n == 0) {
		(void)snprintf(w->room, sizeof(w->room), "%s%u", w->unnamed, w->i);
		ret->name =
			(struct msd_span){(const uint8_t *)w->room, strlen(w->room)};
	}
	ret->type = text_of(param, "dtype");
	ret->is_scalar = !msd_span_is(text_of(param, "kind"), "tensor");
	if (ret->type.n == 0)
		ret->type = text_of(param, "kind");
	ret->has_dtype = dtype_of(ret->type, &ret->dtype);
	w->i++;
	return true;
}

static void write_tensor(const struct msd_model_param *p, const struct words *words,
			 struct msd_buf *out)
{
	msd_buf_printf(out, "{\"name\":");
	msd_json_str(out, p->name);
	msd_buf_printf(out, ",\"%s\":", words->datatype);
	write_datatype(p, words, out);
	msd_buf_printf(out, ",\"%s\":", words->shape);
	if (p->shape.n == 0 && !p->is_scalar) {
		msd_buf_printf(out, "[-1]"); /* the number is not known */
	} else {
		write_shape(p->shape, out);
	}
	msd_buf_printf(out, "}");
}

/* At most @n tensors of @w. */
static void write_list(struct msd_model_walk *w, uint32_t n, const char *key,
		       const struct words *words, struct msd_buf *out)
{
	struct msd_model_param param;

	msd_buf_printf(out, "\"%s\":[", key);
	for (uint32_t i = 0; i < n && msd_model_next(w, &param); i++) {
		if (i > 0)
			msd_buf_printf(out, ",");
		write_tensor(&param, words, out);
	}
	msd_buf_printf(out, "]");
}

void msd_model_write_tensors(const struct msd_model *m, enum msd_model_form form,
			     struct msd_buf *out)
{
	const struct words *words = &words_of[form];
	struct msd_model_walk w, results;

	if (!msd_model_open(m, &w))
		w.n = 0;
	const bool returns = msd_model_open_results(m, &results);
	if (!returns)
		results.n = 0;
	const bool fills = !returns && msd_model_is_prim(m) && w.n > 0;
	write_list(&w, w.n - fills, words->inputs, words, out);
	msd_buf_put_u8(out, ',');
	write_list(fills ? &w : &results, fills ? 1 : results.n, words->outputs, words,
		   out);
}

const char *msd_model_state(const struct msd_module *m)
{
	if (msd_readiness_serves(m))
		return "READY";
	return m->life.state == MSD_STATE_LOADING || m->life.state == MSD_STATE_TRIAL
		       ? "LOADING"
		       : "UNAVAILABLE";
}

bool msd_model_read_extents(struct msd_span shape, uint32_t *ret_ndim,
			    int64_t ret[MSD_MAX_NDIM])
{
	struct msd_wire_value v;
	struct msd_cur c;
	uint32_t n;

	if (shape.n == 0 || !msd_array_open(shape, &c, &n) || n > MSD_MAX_NDIM)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (msd_value_read(&c, &v, NULL) != MSD_OK)
			return false;
		ret[i] = v.kind == MSD_K_INT && v.as.i >= 0 ? v.as.i : -1;
	}
	*ret_ndim = n;
	return true;
}

void msd_model_put_names(const struct msd_model *m, struct msd_buf *out)
{
	struct msd_model_walk w;
	struct msd_model_param p;

	if (!msd_model_open(m, &w))
		return;
	for (uint32_t i = 0; i < NAMES_SHOWN && msd_model_next(&w, &p); i++) {
		msd_buf_printf(out, "%s%.*s", i > 0 ? ", " : "",
			       (int)(p.name.n < 64 ? p.name.n : 64),
			       (const char *)p.name.p);
	}
}

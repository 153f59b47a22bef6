/*
 * Happy path: the name is split at its colon, the module is looked up, and its
 * function is found among its signatures. The function's parameters and results are
 * the tensors. A function that fills its outputs has them after its inputs; the last
 * parameter is assumed to be one. If an artifact does not declare the model's
 * results, no outputs are listed.
 */
#include "daemon/supervisor/http/models/model.h"

#include <string.h>

#include "daemon/http/infer_data.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/readiness.h"
#include "daemon/supervisor/module/workers/signature.h"
#include "proto/base/json.h"

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
		m.function = facts->model;
	} else {
		const struct msd_span function = {name.p + module.n + 1,
						  name.n - module.n - 1};
		m.function = msd_facts_function(facts, function);
		if (m.function == NULL && msd_facts_are_known(facts)) {
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

struct words {
	const char *inputs, *outputs, *datatype, *shape;
	const char *type;     /* prefix of a datatype's name */
	const char *optional; /* NULL: no word for it */
};

static const struct words words_of[MSD_MODEL_FORM_COUNT] = {
	[MSD_MODEL_METADATA] = {"inputs", "outputs", "datatype", "shape", "", NULL},
	[MSD_MODEL_CONFIG] = {"input", "output", "data_type", "dims", "TYPE_",
			      "optional"}};

/* A type without a name in the protocol keeps its own name. */
static void write_datatype(const struct msd_signature_param *p,
			   const struct words *words, struct msd_buf *out)
{
	const char *name = p->has_dtype ? msd_datatype_name(p->dtype) : NULL;

	if (name != NULL) {
		msd_buf_printf(out, "\"%s%s\"", words->type, name);
	} else {
		msd_json_str(out, p->type);
	}
}

static void write_shape(const struct msd_signature_param *p, struct msd_buf *out)
{
	msd_buf_printf(out, "[");
	for (uint32_t i = 0; i < p->n_extents; i++) {
		msd_buf_printf(out, "%s%lld", i > 0 ? "," : "",
			       (long long)p->extents[i].value);
	}
	msd_buf_printf(out, "]");
}

static void write_tensor(const struct msd_signature_param *p, const struct words *words,
			 struct msd_buf *out)
{
	msd_buf_printf(out, "{\"name\":");
	msd_json_str(out, p->name);
	msd_buf_printf(out, ",\"%s\":", words->datatype);
	write_datatype(p, words, out);
	msd_buf_printf(out, ",\"%s\":", words->shape);
	if (!p->has_shape && p->kind != MSD_SIGNATURE_NUMBER) {
		msd_buf_printf(out, "[-1]"); /* the number is not known */
	} else {
		write_shape(p, out);
	}
	if (p->is_optional && words->optional != NULL)
		msd_buf_printf(out, ",\"%s\":true", words->optional);
	msd_buf_printf(out, "}");
}

static void write_list(const struct msd_signature_param *list, uint32_t n,
		       const char *key, const struct words *words, struct msd_buf *out)
{
	msd_buf_printf(out, "\"%s\":[", key);
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			msd_buf_printf(out, ",");
		write_tensor(&list[i], words, out);
	}
	msd_buf_printf(out, "]");
}

void msd_model_write_tensors(const struct msd_model *m, enum msd_model_form form,
			     struct msd_buf *out)
{
	static const struct msd_function_signature unknown;
	const struct msd_function_signature *f =
		m->function != NULL ? m->function : &unknown;
	const struct words *words = &words_of[form];
	const bool fills = !f->has_results && f->is_prim && f->n_params > 0;

	write_list(f->params, f->n_params - fills, words->inputs, words, out);
	msd_buf_put_u8(out, ',');
	write_list(fills ? &f->params[f->n_params - 1] : f->results,
		   fills ? 1 : f->n_results, words->outputs, words, out);
}

const char *msd_model_state(const struct msd_module *m)
{
	if (msd_readiness_serves(m))
		return "READY";
	return m->life.state == MSD_STATE_LOADING || m->life.state == MSD_STATE_TRIAL
		       ? "LOADING"
		       : "UNAVAILABLE";
}

void msd_model_put_names(const struct msd_model *m, struct msd_buf *out)
{
	const struct msd_function_signature *f = m->function;

	for (uint32_t i = 0; f != NULL && i < f->n_params && i < NAMES_SHOWN; i++) {
		const struct msd_span name = f->params[i].name;
		msd_buf_printf(out, "%s%.*s", i > 0 ? ", " : "",
			       (int)(name.n < 64 ? name.n : 64), (const char *)name.p);
	}
}

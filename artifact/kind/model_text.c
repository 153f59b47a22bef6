/* Facts about a model in words and as JSON. */
#include <inttypes.h>

#include "proto/json.h"
#include "artifact/kind/model.h"

static void put_shape(struct msd_buf *out, const struct msd_model_value *v,
		      const char *any)
{
	msd_buf_printf(out, "[");
	for (uint32_t i = 0; i < v->ndim; i++) {
		msd_buf_put(out, ", ", i > 0 ? 2 : 0);
		if (v->shape[i] < 0)
			msd_buf_printf(out, "%s", any);
		else
			msd_buf_printf(out, "%" PRId64, v->shape[i]);
	}
	msd_buf_printf(out, "]");
}

static void put_value(struct msd_buf *out, const struct msd_model_value *v)
{
	char dtype[MSD_DTYPE_NAME_MAX];
	const bool has_type = v->is_tensor || v->type != NULL;

	if (v->name != NULL)
		msd_buf_printf(out, "%s%s", v->name, has_type ? ": " : "");
	if (v->is_tensor) {
		msd_buf_printf(out, "Tensor(");
		put_shape(out, v, "?");
		msd_buf_printf(out, ", %s)", msd_dtype_format(v->dtype, dtype));
	} else if (v->type != NULL) {
		msd_buf_printf(out, "%s", v->type);
	} else if (v->name == NULL) {
		msd_buf_printf(out, "?");
	}
}

static void put_values(struct msd_buf *out, const struct msd_model_value *v, size_t n)
{
	msd_buf_printf(out, "(");
	for (size_t i = 0; i < n; i++) {
		msd_buf_put(out, ", ", i > 0 ? 2 : 0);
		put_value(out, &v[i]);
	}
	msd_buf_printf(out, ")");
}

void msd_model_text(const struct msd_model *m, int indent, struct msd_buf *out)
{
	for (size_t i = 0; i < m->n_funcs; i++) {
		const struct msd_model_func *f = &m->funcs[i];
		msd_buf_printf(out, "%*sfunction: %s", indent, "", f->name);
		put_values(out, f->inputs, f->n_inputs);
		if (f->n_outputs > 0) {
			msd_buf_printf(out, " -> ");
			put_values(out, f->outputs, f->n_outputs);
		}
		msd_buf_printf(out, "%s\n", f->is_compiled ? ", compiled" : "");
	}
}

static void json_value(struct msd_buf *out, const struct msd_model_value *v)
{
	char dtype[MSD_DTYPE_NAME_MAX];
	const char *comma = "";

	msd_buf_printf(out, "{");
	if (v->name != NULL) {
		msd_buf_printf(out, "\"name\":");
		msd_json_cstr(out, v->name);
		comma = ",";
	}
	if (v->is_tensor) {
		msd_buf_printf(out, "%s\"dtype\":\"%s\",\"shape\":", comma,
			       msd_dtype_format(v->dtype, dtype));
		put_shape(out, v, "-1");
	} else if (v->type != NULL) {
		msd_buf_printf(out, "%s\"type\":", comma);
		msd_json_cstr(out, v->type);
	}
	msd_buf_printf(out, "}");
}

static void json_values(struct msd_buf *out, const char *key,
			const struct msd_model_value *v, size_t n)
{
	msd_buf_printf(out, ",\"%s\":[", key);
	for (size_t i = 0; i < n; i++) {
		msd_buf_put(out, ",", i > 0 ? 1 : 0);
		json_value(out, &v[i]);
	}
	msd_buf_printf(out, "]");
}

void msd_model_json(const struct msd_model *m, struct msd_buf *out)
{
	msd_buf_printf(out, "{\"functions\":[");
	for (size_t i = 0; i < m->n_funcs; i++) {
		const struct msd_model_func *f = &m->funcs[i];
		msd_buf_printf(out, "%s{\"name\":", i > 0 ? "," : "");
		msd_json_cstr(out, f->name);
		json_values(out, "inputs", f->inputs, f->n_inputs);
		json_values(out, "outputs", f->outputs, f->n_outputs);
		if (f->is_compiled)
			msd_buf_printf(out, ",\"compiled\":true");
		msd_buf_printf(out, "}");
	}
	msd_buf_printf(out, "]");
	if (m->has_params)
		msd_buf_printf(out, ",\"params\":%" PRIu64 ",\"param_bytes\":%" PRIu64,
			       m->n_params, m->param_bytes);
	msd_buf_printf(out, "}");
}

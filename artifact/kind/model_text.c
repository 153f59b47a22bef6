/* Facts about a model as text and as JSON. */
#include "artifact/json.h"
#include "artifact/kind/model.h"
#include "proto/type_text.h"

static void put_value(struct msd_buf *out, const struct msd_model_value *v)
{
	const bool has_type = v->is_tensor || v->type != NULL;

	if (v->name != NULL)
		msd_buf_printf(out, "%s%s", v->name, has_type ? ": " : "");
	if (v->is_tensor) {
		msd_tensor_type_put(out, v->shape, (int32_t)v->ndim, NULL, &v->dtype);
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
	if (m->n_late > 0)
		msd_buf_printf(out, "%*sbound later: ", indent, "");
	for (size_t i = 0; i < m->n_late; i++) {
		msd_buf_printf(out, "%s%s", m->late[i],
			       i + 1 < m->n_late ? ", " : " (load --params FILE)\n");
	}
}

static json_t *value_json(const struct msd_model_value *v)
{
	char dtype[MSD_DTYPE_NAME_MAX];
	json_t *map = json_object();

	if (v->name != NULL)
		msd_json_set(&map, "name", msd_json_string(v->name));
	if (v->is_tensor) {
		json_t *shape = json_array();

		for (uint32_t i = 0; i < v->ndim; i++)
			msd_json_add(&shape, json_integer(v->shape[i]));
		msd_json_set(&map, "dtype",
			     json_string(msd_dtype_format(v->dtype, dtype)));
		msd_json_set(&map, "shape", shape);
	} else if (v->type != NULL) {
		msd_json_set(&map, "type", msd_json_string(v->type));
	}
	return map;
}

static json_t *values_json(const struct msd_model_value *v, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		msd_json_add(&list, value_json(&v[i]));
	return list;
}

json_t *msd_model_json(const struct msd_model *m)
{
	json_t *functions = json_array();

	for (size_t i = 0; i < m->n_funcs; i++) {
		const struct msd_model_func *f = &m->funcs[i];
		json_t *map =
			json_pack("{s:o,s:o,s:o}", "name", msd_json_string(f->name),
				  "inputs", values_json(f->inputs, f->n_inputs),
				  "outputs", values_json(f->outputs, f->n_outputs));
		if (f->is_compiled)
			msd_json_set(&map, "compiled", json_true());
		msd_json_add(&functions, map);
	}
	json_t *model = json_pack("{s:o}", "functions", functions);
	if (m->has_params) {
		msd_json_set(&model, "params", json_integer((json_int_t)m->n_params));
		msd_json_set(&model, "param_bytes",
			     json_integer((json_int_t)m->param_bytes));
	}
	if (m->n_late > 0)
		msd_json_set(&model, "bound_later", msd_json_texts(m->late, m->n_late));
	return model;
}

/* A Model Library Format archive as JSON and as text. The text is generated from the
 * JSON, so that both agree. */
#include <string.h>

#include "artifact/graph_json/graph.h"
#include "artifact/json.h"
#include "artifact/mlf/mlf.h"
#include "artifact/mlf/operator.h"
#include "artifact/params/params.h"
#include "artifact/params/tensor_blob.h"
#include "artifact/printable.h"

static json_t *tensor_json(struct msd_span name, struct msd_dtype dtype,
			   const int64_t *shape, uint32_t ndim)
{
	char text[MSD_DTYPE_NAME_MAX];
	json_t *dims = json_array();

	for (uint32_t i = 0; i < ndim; i++)
		(void)json_array_append_new(dims, json_integer(shape[i]));
	return json_pack("{s:s%,s:s,s:o}", "name", (const char *)name.p, name.n,
			 "dtype", msd_dtype_format(dtype, text), "shape", dims);
}

static json_t *entry_json(const struct msd_graph *g, const char *name, uint32_t entry)
{
	const struct msd_graph_entry *e = &g->entries[entry];

	return tensor_json(msd_span_of(name), e->dtype, e->shape, e->ndim);
}

static void put_params(json_t *out, const struct msd_params *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->n; i++) {
		(void)json_array_append_new(
			list, tensor_json(p->names[i], p->tensors[i].dtype,
					  p->tensors[i].shape, p->tensors[i].ndim));
	}
	(void)json_object_set_new(out, "parameters", list);
}

/* Inputs are the arguments without a parameter. */
static void put_graph(json_t *out, const struct msd_graph *g,
		      const struct msd_params *params)
{
	json_t *inputs = json_array();
	json_t *outputs = json_array();
	char name[32];

	for (uint32_t i = 0; i < g->n_args; i++) {
		const struct msd_graph_node *node = &g->nodes[g->args[i]];

		if (msd_params_find(params, node->name) == NULL) {
			(void)json_array_append_new(
				inputs, entry_json(g, node->name, node->first_entry));
		}
	}
	for (uint32_t i = 0; i < g->n_heads; i++) {
		(void)snprintf(name, sizeof(name), "%u", i);
		(void)json_array_append_new(outputs, entry_json(g, name, g->heads[i]));
	}
	(void)json_object_set_new(out, "inputs", inputs);
	(void)json_object_set_new(out, "outputs", outputs);
}

/* Show a damaged part as such and continue with the rest. */
static void put_parts(json_t *out, const struct msd_mlf_model *model)
{
	struct msd_params params = {0};
	struct msd_graph graph = {0};
	struct msd_diag d = {0};

	if (model->params.n > 0 &&
	    msd_params_read_file(model->params, &params, &d) != MSD_OK) {
		(void)json_object_set_new(out, "damaged",
					  json_string(msd_diag_text(&d)));
	} else if (model->params.n > 0) {
		put_params(out, &params);
	}
	if (msd_mlf_check_params(model, &d) != MSD_OK) {
		(void)json_object_set_new(out, "damaged",
					  json_string(msd_diag_text(&d)));
	}
	if (model->graph.n > 0 && msd_graph_read(model->graph, &graph, &d) != MSD_OK) {
		(void)json_object_set_new(out, "damaged",
					  json_string(msd_diag_text(&d)));
	} else if (model->graph.n > 0) {
		put_graph(out, &graph, &params);
	}
	msd_graph_finish(&graph);
	msd_params_finish(&params);
	msd_diag_finish(&d);
}

static void copy(json_t *out, const char *key, const json_t *from, const char *old_key)
{
	json_t *v = json_object_get(from, key);

	if (v == NULL && old_key != NULL)
		v = json_object_get(from, old_key);
	if (v != NULL)
		(void)json_object_set(out, key, v);
}

static json_t *model_json(const struct msd_mlf_model *model)
{
	json_t *out = json_object();

	copy(out, "model_name", model->json, NULL);
	(void)json_object_set_new(
		out, "style",
		json_string(model->is_operator ? "operator" : "full-model"));
	copy(out, "export_datetime", model->json, NULL);
	copy(out, "target", model->json, NULL);
	copy(out, "executors", model->json, "runtimes");
	copy(out, "memory", model->json, NULL);
	copy(out, "external_dependencies", model->json, NULL);
	put_parts(out, model);
	return out;
}

static json_t *describe(const struct msd_mlf *m)
{
	json_t *models = json_array();
	json_t *files = json_array();

	for (size_t i = 0; i < m->n_models; i++)
		(void)json_array_append_new(models, model_json(&m->models[i]));
	for (size_t i = 0; i < m->archive.n; i++) {
		(void)json_array_append_new(
			files,
			json_pack("{s:s,s:I}", "path", m->archive.files[i].path,
				  "bytes", (json_int_t)m->archive.files[i].data.n));
	}
	return json_pack("{s:I,s:s,s:i,s:o,s:o}", "file_bytes",
			 (json_int_t)m->file_bytes, "format", "Model Library Format",
			 "version", (int)m->version, "models", models, "files", files);
}

void msd_mlf_json(const struct msd_mlf *m, struct msd_buf *out)
{
	msd_json_put(out, describe(m), JSON_COMPACT | JSON_ENSURE_ASCII);
	msd_buf_put_u8(out, '\n');
}

static void put_text(struct msd_buf *out, const json_t *text)
{
	const char *s = json_string_value(text);

	if (s != NULL)
		msd_printable_put(out, msd_span_of(s));
}

static void put_label(struct msd_buf *out, const char *label)
{
	msd_buf_printf(out, "%-11s", label);
}

/* A list of texts, or a map to texts, on one line. */
static void put_texts(struct msd_buf *out, const char *label, json_t *v)
{
	const char *key;
	json_t *text;
	bool any = false;

	if (json_array_size(v) == 0 && json_object_size(v) == 0)
		return;
	put_label(out, label);
	for (size_t i = 0; i < json_array_size(v); i++) {
		msd_buf_printf(out, "%s", i > 0 ? ", " : "");
		put_text(out, json_array_get(v, i));
	}
	json_object_foreach(v, key, text)
	{
		msd_buf_printf(out, "%s", any ? ", " : "");
		put_text(out, text);
		msd_buf_printf(out, " (device type ");
		msd_printable_put(out, msd_span_of(key));
		msd_buf_printf(out, ")");
		any = true;
	}
	msd_buf_printf(out, "\n");
}

static void put_tensors(struct msd_buf *out, const char *label, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *t = json_array_get(list, i);
		const json_t *shape = json_object_get(t, "shape");

		put_label(out, i == 0 ? label : "");
		put_text(out, json_object_get(t, "name"));
		msd_buf_printf(out, ": ");
		put_text(out, json_object_get(t, "dtype"));
		for (size_t k = 0; k < json_array_size(shape); k++) {
			msd_buf_printf(out, "%s%lld", k > 0 ? ", " : "[",
				       json_integer_value(json_array_get(shape, k)));
		}
		msd_buf_printf(out, json_array_size(shape) > 0 ? "]\n" : "[]\n");
	}
}

/* "workspace 416, constants 3496 bytes": the numbers of one map. */
static void put_figures(struct msd_buf *out, json_t *map)
{
	const char *key;
	json_t *v;
	bool any = false;

	json_object_foreach(map, key, v)
	{
		if (!json_is_integer(v))
			continue;
		msd_buf_printf(out, "%s", any ? ", " : "");
		msd_printable_put(out, msd_span_of(key));
		msd_buf_printf(out, " %lld", json_integer_value(v));
		any = true;
	}
}

static void put_function(struct msd_buf *out, bool is_first, const char *name,
			 const json_t *spaces)
{
	put_label(out, is_first ? "functions" : "");
	if (name != NULL)
		msd_printable_put(out, msd_span_of(name));
	for (size_t k = 0; k < json_array_size(spaces); k++) {
		msd_buf_printf(out, k == 0 ? ": " : "; ");
		put_figures(out, json_array_get(spaces, k));
	}
	msd_buf_printf(out, "\n");
}

/* TVM writes a list of functions; its specification has a map of them. */
static void put_memory(struct msd_buf *out, const json_t *memory)
{
	json_t *mains = json_object_get(memory, "main");
	json_t *functions = json_object_get(memory, "operator_functions");
	bool is_first = true;
	const char *name;
	json_t *spaces;

	for (size_t i = 0; i < json_array_size(mains); i++) {
		put_label(out, i == 0 ? "memory" : "");
		put_figures(out, json_array_get(mains, i));
		msd_buf_printf(out, "\n");
	}
	for (size_t i = 0; i < json_array_size(functions); i++) {
		const json_t *f = json_array_get(functions, i);

		put_function(out, i == 0,
			     json_string_value(json_object_get(f, "function_name")),
			     json_object_get(f, "workspace"));
	}
	json_object_foreach(functions, name, spaces)
	{
		put_function(out, is_first, name, spaces);
		is_first = false;
	}
}

/* An archive of operators has a list of tensors for each function. */
static void put_operators(struct msd_buf *out, json_t *memory)
{
	const char *name;
	json_t *tensors;
	bool any = false;

	json_object_foreach(memory, name, tensors)
	{
		put_label(out, any ? "" : "functions");
		msd_mlf_put_operator(name, tensors, out);
		msd_buf_printf(out, "\n");
		any = true;
	}
}

static void put_model(struct msd_buf *out, const json_t *m, bool is_operator)
{
	put_label(out, "model");
	put_text(out, json_object_get(m, "model_name"));
	msd_buf_printf(out, ", %s", is_operator ? "operator" : "full-model");
	if (json_object_get(m, "export_datetime") != NULL) {
		msd_buf_printf(out, ", exported ");
		put_text(out, json_object_get(m, "export_datetime"));
	}
	msd_buf_printf(out, "\n");
	put_texts(out, "target", json_object_get(m, "target"));
	put_texts(out, "executors", json_object_get(m, "executors"));
	if (json_object_get(m, "damaged") != NULL) {
		put_label(out, "damaged");
		put_text(out, json_object_get(m, "damaged"));
		msd_buf_printf(out, "\n");
	}
	put_tensors(out, "inputs", json_object_get(m, "inputs"));
	put_tensors(out, "outputs", json_object_get(m, "outputs"));
	put_tensors(out, "parameters", json_object_get(m, "parameters"));
	if (is_operator) {
		put_operators(out, json_object_get(m, "memory"));
	} else {
		put_memory(out, msd_mlf_memory(m));
	}
}

void msd_mlf_text(const struct msd_mlf *m, struct msd_buf *out)
{
	json_t *json = describe(m);
	const json_t *models = json_object_get(json, "models");

	if (json == NULL) {
		out->bad = true;
		return;
	}
	msd_buf_printf(out, "%-11s%llu bytes\n", "file",
		       (unsigned long long)m->file_bytes);
	msd_buf_printf(out, "%-11sModel Library Format, version %u\n", "format",
		       m->version);
	for (size_t i = 0; i < m->n_models; i++)
		put_model(out, json_array_get(models, i), m->models[i].is_operator);
	for (size_t i = 0; i < m->archive.n; i++) {
		const struct msd_archive_file *f = &m->archive.files[i];

		put_label(out, i == 0 ? "files" : "");
		msd_printable_put(out, msd_span_of(f->path));
		msd_buf_printf(out, ", %zu bytes\n", f->data.n);
	}
	json_decref(json);
}

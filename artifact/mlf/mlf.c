/*
 * Read an archive into models: unpack it into memory, parse metadata.json, check the
 * types of used keys, and find each model's graph and parameters at the paths of its
 * version. Unknown keys are allowed: versions add some.
 */
#include "artifact/mlf/mlf.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/printable.h"

#define MAX_METADATA_BYTES ((size_t)64 << 20)
#define LAST_VERSION 7

void msd_mlf_finish(struct msd_mlf *m)
{
	if (m == NULL)
		return;
	msd_archive_finish(&m->archive);
	free(m->models);
	json_decref(m->json);
	*m = (struct msd_mlf){0};
}

static msd_err expected(struct msd_diag *d, const char *key, const char *what)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "metadata.json: %s: expected %s", key,
			    what);
}

static msd_err read_metadata(struct msd_mlf *m, struct msd_diag *d)
{
	const struct msd_archive_file *file =
		msd_archive_find(&m->archive, "metadata.json");
	json_error_t e;

	if (file == NULL) {
		return msd_diag_set(
			d, MSD_BAD_ARTIFACT,
			"metadata.json is missing: not a Model Library Format archive");
	}
	if (file->data.n > MAX_METADATA_BYTES)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "metadata.json: over 64 MiB");
	m->json = json_loadb((const char *)file->data.p, file->data.n,
			     JSON_REJECT_DUPLICATES, &e);
	if (m->json == NULL) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "metadata.json: line %d: %s",
				    e.line, e.text);
	}
	const json_t *version = json_object_get(m->json, "version");
	if (!json_is_integer(version) || json_integer_value(version) < 1)
		return expected(d, "version", "a number from 1 to 7");
	if (json_integer_value(version) > LAST_VERSION) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "metadata.json: version %lld of the Model Library "
				    "Format; expected 1 to 7",
				    (long long)json_integer_value(version));
	}
	m->version = (unsigned)json_integer_value(version);
	return MSD_OK;
}

/* The file at one of the paths that the versions use; empty if absent. */
static struct msd_span find_first(const struct msd_archive *a, const char *const *forms,
				  size_t n, const char *name)
{
	char path[MSD_ARCHIVE_MAX_PATH + 64];

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "%s%s%s", forms[3 * i],
			       forms[3 * i + 1] != NULL ? name : "", forms[3 * i + 2]);
		const struct msd_archive_file *f = msd_archive_find(a, path);
		if (f != NULL)
			return (struct msd_span){f->data.p, f->data.n};
	}
	return (struct msd_span){0};
}

/* Each form: the prefix, the model name if used, the suffix. */
static const char *const graph_forms[] = {
	"executor-config/graph/", "name", ".graph",     /* 7 */
	"executor-config/graph/", NULL,   "graph.json", /* 5, 6 */
	"runtime-config/graph/",  NULL,   "graph.json", /* 1 to 4 */
};
static const char *const params_forms[] = {"parameters/", "name", ".params"};

/* True if the list of executors (runtimes until version 4) contains @name. */
static bool has_executor(const json_t *executors, const char *name)
{
	for (size_t i = 0; i < json_array_size(executors); i++) {
		const char *s = json_string_value(json_array_get(executors, i));

		if (s != NULL && strcmp(s, name) == 0)
			return true;
	}
	return false;
}

static msd_err check_target(const json_t *target, struct msd_diag *d)
{
	if (!json_is_object(target) && !json_is_array(target))
		return expected(d, "target", "a map of texts or a list of texts");
	for (void *at = json_object_iter((json_t *)(uintptr_t)target); at != NULL;
	     at = json_object_iter_next((json_t *)(uintptr_t)target, at)) {
		if (!json_is_string(json_object_iter_value(at)))
			return expected(d, "target", "texts");
	}
	for (size_t i = 0; i < json_array_size(target); i++) {
		if (!json_is_string(json_array_get(target, i)))
			return expected(d, "target", "texts");
	}
	return MSD_OK;
}

static msd_err check_types(const struct msd_mlf *m, const json_t *json,
			   const json_t *executors, struct msd_diag *d)
{
	const json_t *memory = json_object_get(json, "memory");
	const char *style = json_string_value(json_object_get(json, "style"));

	if (!json_is_string(json_object_get(json, "model_name")))
		return expected(d, "model_name", "a text");
	if (strlen(json_string_value(json_object_get(json, "model_name"))) >
	    MSD_ARCHIVE_MAX_PATH)
		return expected(d, "model_name", "a shorter text");
	if (json_object_get(json, "export_datetime") != NULL &&
	    !json_is_string(json_object_get(json, "export_datetime")))
		return expected(d, "export_datetime", "a text");
	if (memory != NULL && !json_is_object(memory) && !json_is_array(memory))
		return expected(d, "memory", "a map or a list");
	/* TVM's specification of the format lacks this key; the default is a model. */
	if (json_object_get(json, "style") != NULL &&
	    (style == NULL ||
	     (strcmp(style, "full-model") != 0 && strcmp(style, "operator") != 0)))
		return expected(d, "style", "\"full-model\" or \"operator\"");
	if (!json_is_array(executors))
		return expected(d, m->version < 5 ? "runtimes" : "executors", "a list");
	return check_target(json_object_get(json, "target"), d);
}

/* Find parameters under another name than the model's, which its graph would lack.
 * With several models they may belong to another one. */
static void find_other_params(struct msd_mlf *m)
{
	struct msd_mlf_model *model = &m->models[0];

	if (m->n_models != 1 || model->graph.n == 0 || model->params.n > 0)
		return;
	for (size_t i = 0; i < m->archive.n && model->other_params == NULL; i++) {
		const char *path = m->archive.files[i].path;

		if (msd_archive_path_is(path, params_forms[0], params_forms[2]))
			model->other_params = path;
	}
}

msd_err msd_mlf_check_params(const struct msd_mlf_model *model, struct msd_diag *d)
{
	char path[MSD_PRINTABLE_MAX];
	char name[MSD_PRINTABLE_MAX];

	if (model->other_params == NULL)
		return MSD_OK;
	return msd_diag_set(
		d, MSD_BAD_ARTIFACT,
		"%s is not called as the model is: its graph's parameters are expected "
		"in parameters/%s.params",
		msd_printable(msd_span_of(model->other_params), path),
		msd_printable(msd_span_of(model->name), name));
}

static msd_err read_model(const struct msd_mlf *m, json_t *json,
			  struct msd_mlf_model *ret, struct msd_diag *d)
{
	const char *style = json_string_value(json_object_get(json, "style"));
	const json_t *executors =
		json_object_get(json, m->version < 5 ? "runtimes" : "executors");
	msd_err err = check_types(m, json, executors, d);

	if (err != MSD_OK)
		return err;
	*ret = (struct msd_mlf_model){
		.name = json_string_value(json_object_get(json, "model_name")),
		.is_operator = style != NULL && strcmp(style, "operator") == 0,
		.has_aot = has_executor(executors, "aot"),
		.json = json,
	};
	ret->params = find_first(&m->archive, params_forms, 1, ret->name);
	if (!has_executor(executors, "graph"))
		return MSD_OK;
	ret->graph = find_first(&m->archive, graph_forms, 3, ret->name);
	if (ret->graph.n == 0) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "the graph is missing: expected %s",
				    m->version < 5   ? "runtime-config/graph/"
						       "graph.json"
				    : m->version < 7 ? "executor-config/graph/"
						       "graph.json"
						     : "executor-config/graph/"
						       "NAME.graph");
	}
	return MSD_OK;
}

/* Version 7 has a map of models; its style "operator" did not change. */
static msd_err read_models(struct msd_mlf *m, struct msd_diag *d)
{
	json_t *modules = json_object_get(m->json, "modules");
	const char *key;
	json_t *json;
	msd_err err = MSD_OK;
	size_t n = 1;

	if (m->version >= 7 && modules != NULL)
		n = json_object_size(modules);
	if (n == 0 || (m->version >= 7 && modules != NULL && !json_is_object(modules)))
		return expected(d, "modules", "a map of models");
	m->models = calloc(n, sizeof(*m->models));
	if (m->models == NULL)
		return msd_diag_no_memory(d);
	if (m->version < 7 || modules == NULL) {
		m->n_models = 1;
		return read_model(m, m->json, &m->models[0], d);
	}
	json_object_foreach(modules, key, json)
	{
		char text[MSD_PRINTABLE_MAX];
		struct msd_span s = msd_span_of(key);

		err = read_model(m, json, &m->models[m->n_models++], d);
		if (err != MSD_OK) {
			return msd_diag_wrap(d, err, "model %s",
					     msd_printable(s, text));
		}
	}
	return MSD_OK;
}

msd_err msd_mlf_read(struct msd_span file, struct msd_mlf *ret, struct msd_diag *d)
{
	struct msd_mlf m = {.file_bytes = file.n};
	msd_err err = msd_archive_read(file, &m.archive, d);

	if (err == MSD_OK)
		err = read_metadata(&m, d);
	if (err == MSD_OK)
		err = read_models(&m, d);
	if (err == MSD_OK)
		find_other_params(&m);
	if (err != MSD_OK) {
		msd_mlf_finish(&m);
		return err;
	}
	*ret = m;
	return MSD_OK;
}

static void list_models(const struct msd_mlf *m, struct msd_buf *out)
{
	for (size_t i = 0; i < m->n_models; i++) {
		const char *name = m->models[i].name;

		msd_buf_printf(out, "%s", i > 0 ? ", " : "");
		msd_printable_put(out, msd_span_of(name));
	}
}

msd_err msd_mlf_find(const struct msd_mlf *m, const char *name,
		     const struct msd_mlf_model **ret, struct msd_diag *d)
{
	struct msd_buf names = {0};
	msd_err err;

	if (name == NULL && m->n_models == 1) {
		*ret = &m->models[0];
		return MSD_OK;
	}
	for (size_t i = 0; name != NULL && i < m->n_models; i++) {
		if (strcmp(m->models[i].name, name) == 0) {
			*ret = &m->models[i];
			return MSD_OK;
		}
	}
	list_models(m, &names);
	if (name == NULL) {
		err = msd_diag_set(d, MSD_BAD_ARGUMENT,
				   "the archive holds several models (%.*s); choose "
				   "one: modser convert model.tar --name NAME -o "
				   "deploy.so",
				   (int)names.n, (const char *)names.p);
	} else {
		err = msd_diag_set(d, MSD_NOT_FOUND,
				   "the archive holds no model %.64s, but %.*s", name,
				   (int)names.n, (const char *)names.p);
	}
	msd_buf_finish(&names);
	return err;
}

bool msd_mlf_is_in_c(struct msd_span name, const char *c)
{
	if (strlen(c) != name.n)
		return false;
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] != (uint8_t)c[i] &&
		    (c[i] != '_' || isalnum(name.p[i]) != 0))
			return false;
	}
	return true;
}

static uint64_t bytes_of(const json_t *v)
{
	return json_is_integer(v) && json_integer_value(v) >= 0
		       ? (uint64_t)json_integer_value(v)
		       : UINT64_MAX;
}

json_t *msd_mlf_memory(const json_t *model)
{
	json_t *memory = json_object_get(model, "memory");
	json_t *functions = json_object_get(memory, "functions");

	return functions != NULL ? functions : memory;
}

static json_t *main_of(const struct msd_mlf_model *model)
{
	return json_array_get(json_object_get(msd_mlf_memory(model->json), "main"), 0);
}

const char *msd_mlf_io_name(const struct msd_mlf_model *model, const char *kind,
			    size_t i)
{
	const char *key;
	json_t *v;

	json_object_foreach(json_object_get(main_of(model), kind), key, v)
	{
		if (i-- == 0)
			return key;
	}
	return NULL;
}

uint64_t msd_mlf_io_bytes(const struct msd_mlf_model *model, const char *kind,
			  const char *name)
{
	json_t *main = main_of(model);
	uint64_t found = UINT64_MAX;
	const char *key;
	json_t *v;

	if (kind == NULL)
		return bytes_of(json_object_get(main, "io_size_bytes"));
	json_object_foreach(json_object_get(main, kind), key, v)
	{
		const struct msd_span given = msd_span_of(key);
		if (!msd_mlf_is_in_c(given, name))
			continue;
		if (found != UINT64_MAX) /* two names become one */
			return UINT64_MAX;
		found = bytes_of(json_object_get(v, "size"));
	}
	return found;
}

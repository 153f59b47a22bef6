/*
 * Write a Model Library Format archive of a graph executor, version 5 or 7: check the
 * parts, parse graph and parameters (only readable parts are written), generate
 * metadata.json, and add all files at the paths of the version.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "artifact/graph_json/graph.h"
#include "artifact/mlf/mlf.h"
#include "artifact/params/params.h"
#include "artifact/params/tensor_blob.h"

#define DEVICE_CPU 1
#define MAX_PARTS 4096u /* objects and sources */

/* The bytes of each storage: those of its largest entry. */
static size_t *storage_bytes(const struct msd_graph *g)
{
	size_t *bytes = calloc((size_t)g->n_storages + 1, sizeof(*bytes));

	for (uint32_t i = 0; bytes != NULL && i < g->n_entries; i++) {
		if (g->entries[i].bytes > bytes[g->entries[i].storage])
			bytes[g->entries[i].storage] = g->entries[i].bytes;
	}
	return bytes;
}

/* The storages in the order of their first use, each with its input. Storages without
 * an input or parameter count as workspace. */
static json_t *sids_json(const struct msd_graph *g, const size_t *bytes,
			 uint64_t *ret_workspace)
{
	json_t *list = json_array();
	bool *is_seen = calloc((size_t)g->n_storages + 1, sizeof(*is_seen));

	*ret_workspace = 0;
	for (uint32_t i = 0; is_seen != NULL && i < g->n_nodes; i++) {
		const struct msd_graph_node *node = &g->nodes[i];

		for (uint32_t k = 0; k < node->n_entries; k++) {
			uint32_t s = g->entries[node->first_entry + k].storage;

			if (is_seen[s])
				continue;
			is_seen[s] = true;
			json_t *row = json_pack("{s:I,s:I}", "storage_id",
						(json_int_t)g->storage_ids[s],
						"size_bytes", (json_int_t)bytes[s]);
			if (node->func == NULL) {
				(void)json_object_set_new(row, "input_binding",
							  json_string(node->name));
			} else {
				*ret_workspace += bytes[s];
			}
			(void)json_array_append_new(list, row);
		}
	}
	free(is_seen);
	return list;
}

static bool is_first_use(const struct msd_graph *g, uint32_t node)
{
	const char *func = g->nodes[node].func;

	if (func == NULL || strcmp(func, "__nop") == 0 || strcmp(func, "__copy") == 0)
		return false;
	for (uint32_t i = 0; i < node; i++) {
		if (g->nodes[i].func != NULL && strcmp(g->nodes[i].func, func) == 0)
			return false;
	}
	return true;
}

/* Code does not record its workspace: it is omitted, which is not 0 bytes. */
static json_t *functions_json(const struct msd_graph *g)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		if (is_first_use(g, i)) {
			(void)json_array_append_new(
				list, json_pack("{s:s,s:[]}", "function_name",
						g->nodes[i].func, "workspace"));
		}
	}
	return list;
}

static json_t *type_json(const struct msd_graph_entry *e)
{
	char text[MSD_DTYPE_NAME_MAX];

	return json_pack("{s:I,s:s}", "size", (json_int_t)e->bytes, "dtype",
			 msd_dtype_format(e->dtype, text));
}

/* Version 7 names the inputs and outputs of the main function. */
static void put_interface(json_t *main, const struct msd_graph *g,
			  const struct msd_params *params)
{
	json_t *inputs = json_object();
	json_t *outputs = json_object();
	char name[32];

	for (uint32_t i = 0; i < g->n_args; i++) {
		const struct msd_graph_node *node = &g->nodes[g->args[i]];

		if (msd_params_find(params, node->name) == NULL) {
			(void)json_object_set_new(
				inputs, node->name,
				type_json(&g->entries[node->first_entry]));
		}
	}
	for (uint32_t i = 0; i < g->n_heads; i++) {
		(void)snprintf(name, sizeof(name),
			       g->n_heads > 1 ? "output%u" : "output", i);
		(void)json_object_set_new(outputs, name,
					  type_json(&g->entries[g->heads[i]]));
	}
	(void)json_object_set_new(main, "inputs", inputs);
	(void)json_object_set_new(main, "outputs", outputs);
}

static json_t *main_json(const struct msd_graph *g, const struct msd_params *params,
			 uint64_t workspace, unsigned version)
{
	uint64_t constants = 0;
	uint64_t io = 0;

	for (size_t i = 0; i < params->n; i++)
		constants += params->tensors[i].data.n;
	for (uint32_t i = 0; i < g->n_args; i++) {
		const struct msd_graph_node *node = &g->nodes[g->args[i]];

		if (msd_params_find(params, node->name) == NULL)
			io += g->entries[node->first_entry].bytes;
	}
	for (uint32_t i = 0; i < g->n_heads; i++)
		io += g->entries[g->heads[i]].bytes;
	json_t *out = json_pack("{s:i,s:I,s:I,s:I}", "device", DEVICE_CPU,
				"workspace_size_bytes", (json_int_t)workspace,
				"constants_size_bytes", (json_int_t)constants,
				"io_size_bytes", (json_int_t)io);
	if (version >= 7)
		put_interface(out, g, params);
	return out;
}

static void put_time(int64_t when, char out[static 32])
{
	time_t t = (time_t)when;
	struct tm tm;

	if (gmtime_r(&t, &tm) == NULL ||
	    strftime(out, 32, "%Y-%m-%d %H:%M:%SZ", &tm) == 0)
		out[0] = '\0';
}

static json_t *metadata_json(const struct msd_mlf_parts *p, const struct msd_graph *g,
			     const struct msd_params *params, const size_t *bytes)
{
	/* the compiler of the objects is unknown; the kind is known */
	const char *target = p->n_objects > 0 ? "llvm -keys=cpu" : "c -keys=cpu";
	uint64_t workspace;
	char exported[32];
	json_t *sids = sids_json(g, bytes, &workspace);
	json_t *json;

	put_time(p->time, exported);
	json = json_pack("{s:s,s:s,s:{s:o,s:{s:[o],s:o}},s:[s],s:s}", "model_name",
			 p->name, "export_datetime", exported, "memory", "sids", sids,
			 "functions", "main",
			 main_json(g, params, workspace, p->version),
			 "operator_functions", functions_json(g), "executors", "graph",
			 "style", "full-model");
	if (p->version >= 7) {
		(void)json_object_set_new(json, "target", json_pack("[s]", target));
		return json_pack("{s:i,s:{s:o}}", "version", (int)p->version, "modules",
				 p->name, json);
	}
	(void)json_object_set_new(json, "target", json_pack("{s:s}", "1", target));
	(void)json_object_set_new(json, "version", json_integer(p->version));
	return json;
}

/* Entries with room for their paths. */
struct entries {
	struct msd_archive_entry *list;
	char (*paths)[MSD_ARCHIVE_MAX_PATH];
	size_t n;
};

static void add(struct entries *e, struct msd_span data, const char *dir,
		const char *name, const char *suffix)
{
	char *path = e->paths[e->n];

	(void)snprintf(path, MSD_ARCHIVE_MAX_PATH, "./%s%s%s", dir, name, suffix);
	e->list[e->n++] = (struct msd_archive_entry){path, data};
}

static void add_many(struct entries *e, const struct msd_span *list, size_t n,
		     const char *model, const char *dir, const char *suffix)
{
	char name[MSD_ARCHIVE_MAX_PATH / 2];

	if (n == 0)
		return;
	add(e, (struct msd_span){0}, dir, "", "");
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "%.256s_lib%zu", model, i);
		add(e, list[i], dir, name, suffix);
	}
}

/* Directories before their files, sorted by name, as in TVM's archives. */
static void add_all(struct entries *e, const struct msd_mlf_parts *p,
		    struct msd_span metadata)
{
	const struct msd_span none = {0};
	const bool is_5 = p->version < 7;

	add(e, none, "", "", "");
	add(e, none, "codegen/", "", "");
	add(e, none, "codegen/host/", "", "");
	add_many(e, p->objects, p->n_objects, p->name, MSD_MLF_LIB, ".o");
	add_many(e, p->sources, p->n_sources, p->name, MSD_MLF_SRC, ".c");
	add(e, none, "executor-config/", "", "");
	add(e, none, "executor-config/graph/", "", "");
	add(e, p->graph, "executor-config/graph/", is_5 ? "graph" : p->name,
	    is_5 ? ".json" : ".graph");
	add(e, metadata, "metadata.json", "", "");
	add(e, none, "parameters/", "", "");
	if (p->params.n > 0)
		add(e, p->params, "parameters/", p->name, ".params");
	if (p->relay.n == 0)
		return;
	add(e, none, "src/", "", "");
	add(e, p->relay, "src/", is_5 ? "relay" : p->name, is_5 ? ".txt" : ".relay");
}

static msd_err write_with(const struct msd_mlf_parts *p, const char *metadata,
			  struct msd_buf *out, struct msd_diag *d)
{
	size_t most = p->n_objects + p->n_sources + 16;
	struct entries e = {.list = calloc(most, sizeof(*e.list)),
			    .paths = calloc(most, sizeof(*e.paths))};
	msd_err err;

	if (e.list == NULL || e.paths == NULL || metadata == NULL) {
		err = msd_diag_no_memory(d);
	} else {
		add_all(&e, p, msd_span_of(metadata));
		err = msd_archive_write(e.list, e.n, p->time, out, d);
	}
	free(e.list);
	free(e.paths);
	return err;
}

static msd_err check_parts(const struct msd_mlf_parts *p, struct msd_diag *d)
{
	if (p->version != 5 && p->version != 7) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "version %u cannot be written; expected 5 or 7",
				    p->version);
	}
	if (p->n_objects + p->n_sources == 0 ||
	    p->n_objects + p->n_sources > MAX_PARTS) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "%zu objects and sources; expected 1 to %u",
				    p->n_objects + p->n_sources, MAX_PARTS);
	}
	/* it becomes a part of paths */
	if (p->name[0] == '\0' || strlen(p->name) > 255 ||
	    strspn(p->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "0123456789_") != strlen(p->name)) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "\"%.64s\" is not a valid model name: expected "
				    "letters, digits and _",
				    p->name);
	}
	return MSD_OK;
}

msd_err msd_mlf_write(const struct msd_mlf_parts *parts, struct msd_buf *out,
		      struct msd_diag *d)
{
	struct msd_params params = {0};
	struct msd_graph graph = {0};
	size_t *bytes = NULL;
	char *text = NULL;
	msd_err err = check_parts(parts, d);

	if (err == MSD_OK)
		err = msd_graph_read(parts->graph, &graph, d);
	if (err == MSD_OK && parts->params.n > 0)
		err = msd_params_read_file(parts->params, &params, d);
	if (err == MSD_OK) {
		bytes = storage_bytes(&graph);
		json_t *json = bytes != NULL
				       ? metadata_json(parts, &graph, &params, bytes)
				       : NULL;
		text = json != NULL ? json_dumps(json, JSON_INDENT(2) | JSON_SORT_KEYS)
				    : NULL;
		json_decref(json);
		err = write_with(parts, text, out, d);
	}
	free(text);
	free(bytes);
	msd_graph_finish(&graph);
	msd_params_finish(&params);
	return err;
}

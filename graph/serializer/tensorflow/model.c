/*
 * Read a file: a GraphDef, or a SavedModel, which is a GraphDef with signatures.
 * Normal path: the message without its weights is unpacked, inputs and outputs are
 * chosen, and each output is evaluated (frame.c). Inputs of a signature have its names;
 * those of a GraphDef are its placeholders. Failures name what was looked for.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/serializer/model_files.h"
#include "graph/serializer/tensorflow/load.h"
#include "graph/serializer/wire/wire.h"
#include "proto/base/diag.h"

#define MAX_VISITS (1u << 24)

static const struct msd_wire_weight weights[] = {
	{&tensorflow__tensor_proto__descriptor, 4},
	{&tensorflow__tensor_proto__descriptor, 5},
};
static const struct msd_wire_format graph_format = {
	"TensorFlow", &tensorflow__graph_def__descriptor, weights, 2};
static const struct msd_wire_format saved_format = {
	"TensorFlow", &tensorflow__saved_model__descriptor, weights, 2};

/* A SavedModel begins with its version, a number; a GraphDef has none. */
static bool is_saved(struct msd_span file)
{
	return file.n > 0 && file.p[0] == (1 << 3 | MSD_WIRE_VARINT);
}

/* ---- The message ---- */

static bool has_tag(const Tensorflow__MetaGraphDef *m, const char *tag)
{
	const Tensorflow__MetaInfoDef *info = m->meta_info_def;

	for (size_t i = 0; info != NULL && i < info->n_tags; i++) {
		if (strcmp(info->tags[i], tag) == 0)
			return true;
	}
	return false;
}

static int choose_meta(struct tf_load *l)
{
	const Tensorflow__SavedModel *s = l->saved;

	for (size_t i = 0; i < s->n_meta_graphs && l->meta == NULL; i++) {
		if (has_tag(s->meta_graphs[i], "serve"))
			l->meta = s->meta_graphs[i];
	}
	if (l->meta == NULL && s->n_meta_graphs > 0)
		l->meta = s->meta_graphs[0];
	if (l->meta == NULL || l->meta->graph_def == NULL) {
		(void)tf_load_fail(l, MSD_BAD_ARTIFACT, "the SavedModel has no graph");
		return -1;
	}
	l->graph = l->meta->graph_def;
	return 0;
}

static int unpack(struct tf_load *l)
{
	struct msd_buf small = {0};
	const bool saved = is_saved(l->file);

	if (msd_wire_trim(l->g, saved ? &saved_format : &graph_format, l->file,
			  &small) != 0) {
		msd_buf_finish(&small);
		return -1;
	}
	if (saved) {
		l->saved = tensorflow__saved_model__unpack(NULL, small.n, small.p);
	} else {
		l->frozen = tensorflow__graph_def__unpack(NULL, small.n, small.p);
	}
	msd_buf_finish(&small);
	if (l->saved == NULL && l->frozen == NULL) {
		(void)tf_load_fail(l, MSD_BAD_ARTIFACT, "it is no %s of TensorFlow",
				   saved ? "SavedModel" : "GraphDef");
		return -1;
	}
	l->graph = l->frozen;
	return l->saved != NULL ? choose_meta(l) : 0;
}

static int list_functions(struct tf_load *l)
{
	const Tensorflow__FunctionDefLibrary *library = l->graph->library;
	const size_t n = library != NULL ? library->n_function : 0;

	l->functions = calloc(n + 1, sizeof(*l->functions));
	if (l->functions == NULL)
		return msd_sg_no_memory(l->g);
	l->n_functions = n;
	for (size_t i = 0; i < n; i++) {
		const Tensorflow__FunctionDef *p = library->function[i];
		struct tf_body *b = &l->functions[i];

		if (p->signature == NULL || p->signature->name == NULL ||
		    msd_names_find(&l->function_names, p->signature->name) != NULL) {
			return tf_load_fail(l, MSD_BAD_ARTIFACT,
					    "function %zu has no name of its own", i);
		}
		*b = (struct tf_body){.name = p->signature->name,
				      .nodes = p->node_def,
				      .n = p->n_node_def,
				      .function = p};
		if (!msd_names_add(&l->function_names, b->name, b))
			return msd_sg_no_memory(l->g);
	}
	return 0;
}

/* ---- The whole ---- */

static int read_model(struct tf_load *l)
{
	struct tf_scope scope = {.g = l->g};

	if (unpack(l) != 0 || list_functions(l) != 0)
		return -1;
	l->top = (struct tf_body){
		.name = "", .nodes = l->graph->node, .n = l->graph->n_node};
	if (tf_body_init(l, &l->top) != 0 || tf_variables_init(l) != 0)
		return -1;
	struct tf_frame f = {.l = l, .body = &l->top, .scope = &scope};
	int result = tf_frame_init(&f);
	if (result == 0)
		result = tf_frame_read(&f);
	tf_frame_finish(&f);
	free(scope.captures);
	return result == 0 ? msd_sg_drop_unread(l->g) : -1;
}

static void finish(struct tf_load *l)
{
	tf_body_finish(&l->top);
	for (size_t i = 0; i < l->n_functions; i++)
		tf_body_finish(&l->functions[i]);
	free(l->functions);
	msd_names_finish(&l->function_names);
	msd_names_finish(&l->restored);
	msd_names_finish(&l->aliases);
	msd_names_finish(&l->variables);
	tf_bundle_finish(&l->bundle);
	tf_values_finish(l);
	if (l->frozen != NULL)
		tensorflow__graph_def__free_unpacked(l->frozen, NULL);
	if (l->saved != NULL)
		tensorflow__saved_model__free_unpacked(l->saved, NULL);
}

int tf_model_load(const modser_serializer *s, const modser_part *parts,
		  const modser_model_options *options, modser_graph *graph)
{
	struct tf_load l = {.g = graph,
			    .file = {parts[0].data, parts[0].bytes},
			    .options = options,
			    .left = MAX_VISITS,
			    .counts = true};

	(void)s;
	const int result = read_model(&l);
	finish(&l);
	return result;
}

/* ---- The files of a SavedModel, in one ---- */

static int read_file(struct msd_model_files *f, const char *name,
		     modser_read_beside *read, void *ctx, modser_graph *g)
{
	modser_part part = {0};

	if (read(ctx, g, name, &part) != 0)
		return -1;
	f->items[f->n++] =
		(struct msd_model_file){msd_span_of(name), {part.data, part.bytes}};
	return 0;
}

static int join_files(struct msd_model_files *f, const struct tf_bundle *b,
		      char (*names)[64], modser_read_beside *read, void *ctx,
		      modser_graph *g, modser_part *ret)
{
	struct msd_buf out = {0};

	for (uint32_t i = 0; i < b->n_shards; i++) {
		tf_bundle_shard_name(b, i, names[i]);
		if (read_file(f, names[i], read, ctx, g) != 0)
			return -1;
	}
	if (msd_model_files_write(f, &out, &g->diag) != MSD_OK) {
		msd_buf_finish(&out);
		return -1;
	}
	*ret = (modser_part){out.p, out.n};
	return 0;
}

int tf_model_join(const modser_part *model, modser_read_beside *read, void *ctx,
		  modser_graph *graph, modser_part *ret)
{
	const struct msd_span file = {model->data, model->bytes};
	struct msd_model_files f = {0};
	struct tf_bundle bundle = {0};
	modser_part index = {0};
	char(*names)[64] = NULL;
	int result = -1;

	if (!is_saved(file))
		return 0;
	if (read(ctx, graph, TF_BUNDLE_INDEX, &index) != 0) {
		msd_diag_finish(&graph->diag); /* it may have no variables */
		return 0;
	}
	if (tf_bundle_read(graph, (struct msd_span){index.data, index.bytes},
			   &bundle) == 0) {
		f.items = calloc(bundle.n_shards + 2, sizeof(*f.items));
		names = calloc(bundle.n_shards + 1, sizeof(*names));
		if (f.items == NULL || names == NULL) {
			(void)msd_sg_no_memory(graph);
		} else {
			f.items[0] = (struct msd_model_file){
				msd_span_of("saved_model.pb"), file};
			f.items[1] =
				(struct msd_model_file){msd_span_of(TF_BUNDLE_INDEX),
							{index.data, index.bytes}};
			f.n = 2;
			result = join_files(&f, &bundle, names, read, ctx, graph, ret);
		}
	}
	free(names);
	msd_model_files_finish(&f);
	tf_bundle_finish(&bundle);
	return result;
}

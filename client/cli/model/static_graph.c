/*
 * Frameworks' models in the command line, for inspect and convert.
 *
 * Happy path: a serializer is selected by the file's bytes and reads a graph. The
 * graph is printed, or stored by the serializer of the output file's name. A failure
 * quotes the graph's own error.
 */
#include "client/cli/model/static_graph.h"

#include <stdlib.h>
#include <string.h>

#include "artifact/json.h"
#include "client/cli/model/static_graph_json.h"
#include "graph/inspect/inspect.h"
#include "graph/serializer/choose.h"
#include "graph/serializer/model_files.h"

bool msd_static_graph_is(struct msd_span file)
{
	modser_serializer *s = modser_serializer_probe(file.p, file.n);

	modser_serializer_unref(s);
	return s != NULL || msd_model_files_are(file);
}

static msd_err take_error(const modser_graph *g, struct msd_diag *d)
{
	return msd_diag_set(d, msd_err_from_name(modser_graph_error_name(g)), "%s",
			    modser_graph_error(g));
}

/* Read the graph of @file, which must stay valid while the graph is used. Constants
 * in other files are not read. */
static msd_err read_graph(struct msd_span file, const struct msd_model_words *words,
			  modser_graph **ret, struct msd_diag *d)
{
	const modser_model_options options = {.fill = MODSER_FILL_LEAVE,
					      .outputs = msd_model_word(words->outputs),
					      .signature =
						      msd_model_word(words->signature),
					      .inputs = msd_model_word(words->input)};
	struct msd_model_files files = {0};
	modser_serializer *s = NULL;
	modser_graph *g = modser_graph_create("");
	msd_err err = g != NULL ? MSD_OK : msd_diag_no_memory(d);

	if (err == MSD_OK)
		err = msd_model_files_of(file, (struct msd_span){0}, &files, d);
	if (err == MSD_OK)
		err = msd_serializer_choose(words->format, &files, &s, d);
	if (err == MSD_OK && msd_model_files_load(s, &files, &options, g) != 0)
		err = msd_serializer_blame(words->format, &files, take_error(g, d), d);
	if (err == MSD_OK && modser_graph_fix_inputs(g, words->input) != 0)
		err = take_error(g, d);
	modser_serializer_unref(s);
	msd_model_files_finish(&files);
	if (err != MSD_OK) {
		modser_graph_destroy(g);
		return err;
	}
	*ret = g;
	return MSD_OK;
}

static msd_err put_dump(modser_graph *g, struct msd_buf *out, struct msd_diag *d)
{
	char *text;

	if (modser_graph_dump(g, &text) != 0)
		return take_error(g, d);
	msd_buf_printf(out, "%s", text);
	free(text);
	return MSD_OK;
}

msd_err msd_static_graph_inspect(const struct msd_cli *cli, struct msd_span file,
				 struct msd_buf *out, struct msd_diag *d)
{
	modser_graph *g;
	msd_err err = read_graph(file, &cli->run.words, &g, d);

	if (err != MSD_OK)
		return err;
	if (cli->dump) {
		err = put_dump(g, out, d);
	} else if (cli->dot) {
		msd_sg_inspect_dot(g, out);
	} else if (cli->json) {
		msd_json_put(out, msd_static_graph_json(g), 0);
	} else {
		msd_sg_inspect_text(g, out);
		msd_sg_inspect_run_text(g, out);
	}
	modser_graph_destroy(g);
	return out->bad ? msd_diag_no_memory(d) : err;
}

const char *msd_static_graph_format(const char *path)
{
	const char *dot = strrchr(path, '.');
	modser_serializer *s = dot != NULL ? modser_serializer_named(dot + 1) : NULL;
	const bool is_one = s != NULL && modser_serializer_file_count(s) == 1;

	modser_serializer_unref(s);
	return is_one ? dot + 1 : NULL;
}

static msd_err store(modser_graph *g, const char *format, struct msd_buf *out,
		     struct msd_diag *d)
{
	modser_serializer *s = modser_serializer_named(format);
	modser_part part = {0};
	msd_err err = MSD_OK;

	if (s == NULL) {
		err = msd_diag_no_memory(d); /* the format was detected */
	} else if (modser_serializer_store_memory(s, g, &part, 1) != 0) {
		err = take_error(g, d);
	}
	msd_buf_put(out, part.data, part.bytes);
	free((void *)(uintptr_t)part.data);
	modser_serializer_unref(s);
	return out->bad ? msd_diag_no_memory(d) : err;
}

msd_err msd_static_graph_convert(const struct msd_cli *cli, struct msd_span file,
				 const char *format, struct msd_buf *out,
				 struct msd_diag *d)
{
	modser_graph *g;
	msd_err err = read_graph(file, &cli->run.words, &g, d);

	if (err != MSD_OK)
		return err;
	err = store(g, format, out, d);
	modser_graph_destroy(g);
	return err;
}

static struct msd_buf buf_of(const modser_part *part)
{
	return (struct msd_buf){.p = (uint8_t *)(uintptr_t)part->data,
				.n = part->bytes,
				.cap = part->bytes};
}

msd_err msd_static_graph_split(const char *format, const char *name,
			       struct msd_buf *model, struct msd_buf *ret_data,
			       struct msd_diag *d)
{
	modser_serializer *s = modser_serializer_named(format);
	modser_graph *g = modser_graph_create("");
	const modser_part whole = {model->p, model->n};
	modser_part small;
	modser_part data;
	msd_err err = MSD_OK;

	if (s == NULL || g == NULL) {
		err = msd_diag_no_memory(d);
	} else if (modser_serializer_split(s, &whole, name, g, &small, &data) != 0) {
		err = take_error(g, d);
	} else {
		msd_buf_finish(model);
		*model = buf_of(&small);
		*ret_data = buf_of(&data);
	}
	modser_graph_destroy(g);
	modser_serializer_unref(s);
	return err;
}

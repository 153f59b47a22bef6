/*
 * convert: builds a library from an archive, an archive from parts, or a model in
 * another format. The inputs and the name of the output select the conversion. The
 * whole result is made in memory and written last, so that a failure leaves no file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "artifact/mlf/archive.h"
#include "artifact/mlf/mlf.h"
#include "client/build/folder.h"
#include "client/build/formats.h"
#include "client/build/parts.h"
#include "client/cli/measure/beside.h"
#include "client/cli/model/static_graph.h"
#include "client/cli/values/file.h"
#include "client/cli/values/objects.h"
#include "client/cli/verbs/report.h"

#define DEFAULT_VERSION 7u

/* Creation time of the archive: SOURCE_DATE_EPOCH for reproducible builds. */
static msd_err find_time(int64_t *ret, struct msd_diag *d)
{
	const char *text = getenv("SOURCE_DATE_EPOCH");
	char *end;

	if (text == NULL || text[0] == '\0') {
		*ret = (int64_t)time(NULL);
		return MSD_OK;
	}
	errno = 0;
	long long seconds = strtoll(text, &end, 10);
	/* until the end of the year 9999 */
	if (*end != '\0' || errno != 0 || seconds < 0 || seconds > 253402300799) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "SOURCE_DATE_EPOCH: expected seconds since 1970");
	}
	*ret = seconds;
	return MSD_OK;
}

static msd_err list_spans(const struct msd_archive *from, struct msd_span **ret,
			  struct msd_diag *d)
{
	*ret = calloc(from->n + 1, sizeof(**ret));
	if (*ret == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < from->n; i++) {
		(*ret)[i] =
			(struct msd_span){from->files[i].data.p, from->files[i].data.n};
	}
	return MSD_OK;
}

static struct msd_span span_of(const struct msd_buf *b)
{
	return (struct msd_span){b->p, b->n};
}

static msd_err pack(const struct msd_cli *cli, const struct msd_parts *parts,
		    struct msd_buf *out, struct msd_diag *d)
{
	struct msd_mlf_parts p = {
		.version = cli->mlf_version != 0 ? cli->mlf_version : DEFAULT_VERSION,
		.name = parts->name != NULL  ? parts->name
			: cli->model != NULL ? cli->model
					     : "default",
		.graph = span_of(&parts->graph),
		.params = span_of(&parts->params),
		.relay = span_of(&parts->relay),
		.n_objects = parts->objects.n,
		.n_sources = parts->sources.n,
	};
	struct msd_span *objects = NULL;
	struct msd_span *sources = NULL;
	msd_err err = find_time(&p.time, d);

	if (err == MSD_OK && p.graph.n == 0)
		err = msd_diag_set(d, MSD_BAD_ARGUMENT, "no graph.json was given");
	if (err == MSD_OK)
		err = list_spans(&parts->objects, &objects, d);
	if (err == MSD_OK)
		err = list_spans(&parts->sources, &sources, d);
	p.objects = objects;
	p.sources = sources;
	if (err == MSD_OK)
		err = msd_mlf_write(&p, out, d);
	free(objects);
	free(sources);
	return err;
}

static msd_err make_archive(const struct msd_cli *cli, struct msd_buf *out,
			    struct msd_diag *d)
{
	struct msd_parts parts = {.wanted = cli->model};
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < cli->n_words; i++)
		err = msd_parts_add(&parts, cli->words[i], d);
	if (err == MSD_OK)
		err = pack(cli, &parts, out, d);
	msd_parts_finish(&parts);
	return err;
}

/* A file that needs no linker is rejected, because `modser load` accepts it
 * unchanged; damage is reported first. */
static msd_err link_file(const struct msd_cli *cli, struct msd_loadable *made,
			 struct msd_diag *d)
{
	const struct msd_file_format *format =
		msd_file_format_of(cli->words[0], span_of(&made->library));

	if ((format->traits & MSD_FORMAT_LINKED) != 0)
		return format->prepare(cli, made, d);
	msd_err err = msd_file_format_check(format, cli, span_of(&made->library), d);
	if (err != MSD_OK)
		return err;
	return msd_diag_set(
		d, MSD_UNSUPPORTED,
		"%s: modser load accepts this file directly; convert makes libraries "
		"of model library archives, objects, C sources and archives of them",
		format->name);
}

/* Treat several files as an archive of them. */
static msd_err read_several(const struct msd_cli *cli, struct msd_buf *ret,
			    struct msd_diag *d)
{
	struct msd_archive_entry *entries = calloc(cli->n_words, sizeof(*entries));
	struct msd_buf *files = calloc(cli->n_words, sizeof(*files));
	msd_err err = MSD_OK;

	if (entries == NULL || files == NULL) {
		free(files);
		free(entries);
		return msd_diag_no_memory(d);
	}
	for (size_t i = 0; err == MSD_OK && i < cli->n_words; i++) {
		const char *path = cli->words[i];
		const char *slash = strrchr(path, '/');

		err = msd_file_read(path, &files[i], d);
		if (err == MSD_OK) {
			err = msd_objects_check_whole(path, span_of(&files[i]), d);
			if (err != MSD_OK)
				err = msd_diag_wrap(d, err, "%s", path);
		}
		entries[i].path = slash != NULL ? slash + 1 : path;
		entries[i].data = span_of(&files[i]);
	}
	if (err == MSD_OK)
		err = msd_archive_write(entries, cli->n_words, 0, ret, d);
	for (size_t i = 0; i < cli->n_words; i++)
		msd_buf_finish(&files[i]);
	free(files);
	free(entries);
	return err;
}

static msd_err make_library(const struct msd_cli *cli, struct msd_buf *out,
			    struct msd_diag *d)
{
	const char *path = cli->words[0];
	struct msd_loadable made = {0};
	msd_err err = cli->n_words > 1
			      ? read_several(cli, &made.library, d)
			      : msd_folder_or_file_read(path, &made.library, d);

	if (err == MSD_OK)
		err = msd_archive_check_whole(path, span_of(&made.library), d);
	if (err == MSD_OK) { /* earlier errors already name the file */
		err = link_file(cli, &made, d);
		if (err != MSD_OK)
			err = msd_diag_wrap(d, err, "%s", path);
	}
	if (err == MSD_OK) {
		*out = made.library;
		made.library = (struct msd_buf){0};
	}
	msd_loadable_finish(&made);
	return err;
}

static msd_err make_model(const struct msd_cli *cli, const char *format,
			  struct msd_buf *out, struct msd_diag *d)
{
	struct msd_buf file = {0};
	msd_err err = msd_folder_or_file_read(cli->words[0], &file, d);

	if (err == MSD_OK)
		err = msd_model_join(cli, cli->words, cli->n_words, &file, d);
	if (err == MSD_OK) {
		err = msd_static_graph_convert(cli, span_of(&file), format, out, d);
		if (err != MSD_OK)
			err = msd_diag_wrap(d, err, "%s", cli->words[0]);
	}
	msd_buf_finish(&file);
	return err;
}

/* Name of the file @path, if it is in the same folder as @beside; else NULL. */
static const char *name_beside(const char *path, const char *beside)
{
	const char *slash = strrchr(path, '/');
	const char *other = strrchr(beside, '/');
	const size_t n = slash != NULL ? (size_t)(slash - path) : 0;
	const size_t k = other != NULL ? (size_t)(other - beside) : 0;

	if (n != k || (slash == NULL) != (other == NULL) ||
	    memcmp(path, beside, n) != 0)
		return NULL;
	return slash != NULL ? slash + 1 : path;
}

/* Move the weights to the second file; the first refers to it. The first is written
 * last, so that it never refers to a missing file. */
static msd_err write_split(const struct msd_cli *cli, const char *format,
			   struct msd_buf *model, struct msd_diag *d)
{
	const char *name = name_beside(cli->outputs[1], cli->outputs[0]);
	struct msd_buf data = {0};
	msd_err err = msd_static_graph_split(format, name, model, &data, d);
	const struct msd_span weights = span_of(&data);

	if (err == MSD_OK)
		err = msd_file_write(cli->outputs[1], &weights, 1, d);
	msd_buf_finish(&data);
	return err;
}

static enum msd_exit check_outputs(const struct msd_cli *cli, const char *format)
{
	const char *to = cli->n_outputs > 0 ? cli->outputs[0] : "";

	if (cli->n_outputs < 1 || cli->n_outputs > (format != NULL ? 2 : 1) ||
	    (format == NULL && !msd_archive_path_is(to, "", ".tar") &&
	     !msd_archive_path_is(to, "", ".so"))) {
		return msd_report_usage(
			"-o deploy.so, -o model.tar, -o model.onnx or -o net.tmfile",
			"convert needs one -o that ends in .so, .tar, .onnx or "
			".tmfile");
	}
	if (cli->n_outputs == 2 && name_beside(cli->outputs[1], to) == NULL) {
		return msd_report_usage("-o DIR/model.onnx -o DIR/model.onnx.data",
					"write both into one folder: a model finds its "
					"weights only there");
	}
	if (cli->n_libraries > 0 && !msd_archive_path_is(to, "", ".so")) {
		return msd_report_usage("give -o FILE.so, or omit -l",
					"-l works only for a library (.so)");
	}
	return MSD_EXIT_OK;
}

/* Objects and C sources without a model, as export_library stores them. */
static bool is_code_alone(const struct msd_cli *cli)
{
	for (size_t i = 0; i < cli->n_words; i++) {
		if (!msd_archive_path_is(cli->words[i], "", ".o") &&
		    !msd_archive_path_is(cli->words[i], "", ".c"))
			return false;
	}
	return cli->model == NULL && cli->mlf_version == 0;
}

enum msd_exit msd_verb_convert(const struct msd_cli *cli)
{
	const char *to = cli->n_outputs > 0 ? cli->outputs[0] : "";
	const char *format = msd_static_graph_format(to);
	enum msd_exit code = check_outputs(cli, format);
	struct msd_buf out = {0};
	struct msd_diag d = {0};

	if (code != MSD_EXIT_OK)
		return code;
	msd_err err = format != NULL ? make_model(cli, format, &out, &d)
		      : msd_archive_path_is(to, "", ".so") ? make_library(cli, &out, &d)
		      : is_code_alone(cli)                 ? read_several(cli, &out, &d)
					   : make_archive(cli, &out, &d);
	if (err == MSD_OK && cli->n_outputs == 2)
		err = write_split(cli, format, &out, &d);
	if (err == MSD_OK) {
		const struct msd_span bytes = span_of(&out);
		err = msd_file_write(to, &bytes, 1, &d);
	}
	if (err != MSD_OK)
		code = msd_report_file(&d);
	msd_buf_finish(&out);
	msd_diag_finish(&d);
	return code;
}

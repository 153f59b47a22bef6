/*
 * load: uploads a library.
 *
 * Happy path: the files are read, and the format of the file (formats.h) prepares
 * what a daemon loads. A file that no daemon can load is rejected before a connection
 * is made. Then it is uploaded and loaded, with the progress on a terminal. A
 * rejected file has one exit code, wherever the error was found.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "artifact/mlf/archive.h"
#include "client/build/folder.h"
#include "client/build/formats.h"
#include "client/cli/deadline_option.h"
#include "client/cli/measure/beside.h"
#include "client/cli/measure/progress.h"
#include "client/cli/run_option.h"
#include "client/cli/session.h"
#include "client/cli/target.h"
#include "client/cli/values/file.h"
#include "client/cli/verbs/report.h"
#include "proto/name.h"
#include "proto/words/params_folder.h"
#include "store/digest.h"

/* The file of a path that ends with a slash is the model of that folder. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;

	return *name != '\0' ? name : "saved_model.pb";
}

static struct msd_span span_of(const struct msd_buf *b)
{
	return (struct msd_span){b->p, b->n};
}

/* Prepare the file for the daemon, by its format. */
static msd_err prepare(const struct msd_cli *cli, struct msd_loadable *f,
		       struct msd_diag *d)
{
	const char *path = cli->words[1];
	const struct msd_file_format *format =
		msd_file_format_for(cli, path, span_of(&f->library));
	msd_err err = format->prepare != NULL ? format->prepare(cli, f, d) : MSD_OK;

	return err == MSD_OK ? err : msd_diag_wrap(d, err, "%s", path);
}

/* An empty file would mean "no graph" to the daemon. */
static msd_err read_part(const char *path, struct msd_buf *ret, struct msd_diag *d)
{
	msd_err err = msd_file_read(path, ret, d);

	if (err == MSD_OK && ret->n == 0)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "%s: the file is empty", path);
	return err;
}

static msd_err files_read(const struct msd_cli *cli, struct msd_loadable *f,
			  struct msd_diag *d)
{
	msd_err err = msd_folder_or_file_read(cli->words[1], &f->library, d);

	if (err == MSD_OK)
		err = msd_archive_check_whole(cli->words[1], span_of(&f->library), d);
	if (err == MSD_OK) {
		err = msd_model_join(cli, cli->words + 1, cli->n_words - 1, &f->library,
				     d);
	}
	if (err == MSD_OK && cli->graph != NULL)
		err = read_part(cli->graph, &f->graph, d);
	if (err == MSD_OK && cli->params != NULL && !msd_params_folder_is(cli->params))
		err = read_part(cli->params, &f->params, d);
	return err == MSD_OK ? prepare(cli, f, d) : err;
}

static enum msd_exit upload(const struct msd_cli *cli, const struct msd_loadable *f,
			    const struct msd_due *due)
{
	const char *name = cli->words[0];
	modser_load_options options = {.replace = cli->replace,
				       .file = base_name(cli->words[1]),
				       .graph = f->graph.p,
				       .graph_bytes = f->graph.n,
				       .params = f->params.p,
				       .params_bytes = f->params.n,
				       .keep = cli->keep};
	struct msd_digest digest;
	modser_client *client;
	modser_result *result = NULL;
	struct msd_progress progress;
	enum msd_exit code = msd_session_open(cli, &client);

	if (code != MSD_EXIT_OK)
		return code;
	if (cli->keep) {
		msd_digest_of(span_of(&f->library), &digest);
		options.sha256 = digest.b;
	}
	if (cli->params != NULL && msd_params_folder_is(cli->params))
		options.params_folder = cli->params;
	msd_run_option_to_load(cli, &options);
	options.deadline_ms = msd_due_left_ms(due);
	progress = msd_progress_begin("load", name);
	if (isatty(STDERR_FILENO) == 1) {
		options.progress = msd_progress_show;
		options.ctx = &progress;
	}
	modser_err err = modser_load(client, name, f->library.p, f->library.n, &options,
				     &result);
	msd_progress_end(&progress);
	if (err != MODSER_OK) {
		code = msd_report_refusal(client, result);
	} else {
		msd_session_print(cli, result);
		msd_target_print_next(cli, name, modser_result_value(result));
	}
	modser_result_free(result);
	modser_close(client);
	return code;
}

static bool guard(const struct msd_due *due, const char *file)
{
	char what[MSD_PATH_BYTES];

	(void)snprintf(what, sizeof(what), "%s: it was not read and made ready",
		       strcmp(file, "-") == 0 ? "standard input" : file);
	return msd_due_guard(due, what);
}

enum msd_exit msd_verb_load(const struct msd_cli *cli)
{
	const char *name = cli->words[0];
	const struct msd_due due = msd_due_begin(cli->deadline_ms);
	struct msd_cli left = *cli;
	struct msd_loadable files = {0};
	struct msd_diag d = {0};
	enum msd_exit code;

	if (!msd_name_valid(msd_span_of(name)) && access(name, R_OK) == 0) {
		return msd_report_usage("the NAME comes first, then the FILE",
					"\"%s\" is a file, not a module name", name);
	}
	code = msd_report_name(name);
	if (code != MSD_EXIT_OK)
		return code;
	if (!guard(&due, cli->words[1]))
		return msd_report_no_memory();
	msd_err err = files_read(cli, &files, &d);
	msd_due_unguard();
	left.deadline_ms = msd_due_left_ms(&due);
	if (err == MSD_OK) {
		code = upload(&left, &files, &due);
	} else if (err == MSD_NOT_FOUND && access(name, R_OK) == 0) {
		code = msd_report_diag(MSD_EXIT_NOT_FOUND,
				       "the NAME comes first, then the FILE", &d);
	} else {
		code = msd_report_file(&d);
	}
	msd_loadable_finish(&files);
	msd_diag_finish(&d);
	return code;
}

/*
 * inspect: shows the contents of a file without running it.
 *
 * Happy path: the file, or the folder of an unpacked archive, is read completely. Its
 * type (library, archive of a model, device code) selects the reader, which prints
 * text, JSON or a graph. With --will-run-on, the daemon reports what it can run, and
 * the library is compared with that (verdict.h).
 */
#include <string.h>

#include "artifact/mlf/archive.h"
#include "artifact/params/params.h"
#include "client/build/folder.h"
#include "client/build/formats.h"
#include "client/build/library.h"
#include "client/cli/doctor/verdict.h"
#include "client/cli/measure/beside.h"
#include "client/cli/model/plan.h"
#include "client/cli/model/worker.h"
#include "client/cli/session.h"
#include "client/cli/values/file.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"

static struct msd_span span_of(const struct msd_buf *b)
{
	return (struct msd_span){b->p, b->n};
}

/* Ask the daemon what it can run, and judge this library. */
static enum msd_exit judge(const struct msd_cli *cli, const struct msd_inspect *inspect,
			   const struct msd_params *params)
{
	const bool is_local = strncmp(cli->host, "tcp:", 4) != 0 &&
			      strncmp(cli->host, "tls:", 4) != 0;
	struct msd_verdict verdict = {0};
	struct msd_buf out = {0};
	struct msd_diag d = {0};
	modser_result *info;
	enum msd_exit code = msd_session_ask(cli, "server.info", NULL, 0, &info);

	if (code != MSD_EXIT_OK) {
		modser_result_free(info);
		return code;
	}
	msd_err err = msd_verdict_find(inspect, modser_result_value(info), params,
				       is_local, &verdict, &d);
	if (err == MSD_OK && cli->json) {
		msd_verdict_json(&verdict, &out);
	} else if (err == MSD_OK) {
		msd_verdict_text(&verdict, cli->host, &out);
	}
	if (err == MSD_OK && verdict.reasons.n > 0) {
		code = MSD_EXIT_BAD_FILE;
	} else if (err != MSD_OK) {
		code = msd_report_diag(MSD_EXIT_REMOTE, "use a newer daemon", &d);
	}
	msd_print_flush(&out);
	msd_verdict_finish(&verdict);
	modser_result_free(info);
	msd_diag_finish(&d);
	return code;
}

static msd_err read_params(const char *path, struct msd_buf *bytes,
			   struct msd_params *ret, struct msd_diag *d)
{
	msd_err err = msd_file_read(path, bytes, d);

	if (err != MSD_OK)
		return err;
	err = msd_params_read_file(span_of(bytes), ret, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "%s", path);
}

static enum msd_exit inspect_for_host(const struct msd_cli *cli, struct msd_span file)
{
	struct msd_inspect *inspect = NULL;
	struct msd_params params = {0};
	struct msd_buf bytes = {0};
	struct msd_diag d = {0};
	enum msd_exit code;

	if ((msd_file_format_of(cli->words[0], file)->traits & MSD_FORMAT_LINKED) !=
	    0) {
		return msd_report_usage(
			"modser convert FILE -o deploy.so",
			"--check-daemon checks libraries; link the archive first");
	}
	msd_err err = msd_library_look(cli, file, &inspect, &d);
	if (err != MSD_OK)
		err = msd_diag_wrap(&d, err, "%s", cli->words[0]);
	if (err == MSD_OK && cli->params != NULL)
		err = read_params(cli->params, &bytes, &params, &d);
	if (err == MSD_OK) {
		code = judge(cli, inspect, cli->params != NULL ? &params : NULL);
	} else {
		code = msd_report_file(&d);
	}
	msd_params_finish(&params);
	msd_buf_finish(&bytes);
	msd_inspect_destroy(inspect);
	msd_diag_finish(&d);
	return code;
}

/* Let a worker read and plan the model. */
static enum msd_exit plan_file(const struct msd_cli *cli, struct msd_span file,
			       struct msd_buf *out)
{
	struct msd_cli_worker worker;
	struct msd_diag d = {0};
	bool has_died;
	enum msd_exit code = MSD_EXIT_OK;

	if (msd_file_format_for(cli, cli->words[0], file) != &msd_format_model) {
		(void)msd_diag_set(&d, MSD_UNSUPPORTED,
				   "%s: --plan is for model files of frameworks",
				   cli->words[0]);
		code = msd_report_file(&d);
		msd_diag_finish(&d);
		return code;
	}
	const msd_err err = msd_cli_worker_start(&worker, file, &d);
	if (err == MSD_OK) {
		code = msd_cli_worker_open(&worker, cli);
	} else {
		code = msd_report_file(&d);
	}
	if (code == MSD_EXIT_OK) {
		const struct msd_plan_source from = {
			worker.client, MSD_CLI_WORKER_MODULE, cli->deadline_ms};
		code = msd_plan_print(&from, cli->json, out);
	}
	msd_cli_worker_end(&worker, &has_died, &d);
	if (has_died)
		code = msd_report_file(&d);
	msd_diag_finish(&d);
	return code;
}

/* Only libraries have a tree to draw and programs to list. */
static msd_err inspect_file(const struct msd_cli *cli, struct msd_span file,
			    struct msd_buf *out, struct msd_diag *d)
{
	const struct msd_file_format *format =
		msd_file_format_for(cli, cli->words[0], file);

	if (*cli->run.words.input != '\0' && format != &msd_format_model) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "--input is for model files of frameworks");
	}
	if (cli->dump && format != &msd_format_model) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "--dump is for model files of frameworks");
	}
	if ((cli->dot && (format->traits & MSD_FORMAT_DOT) == 0) ||
	    (cli->vm && (format->traits & MSD_FORMAT_VM) == 0)) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "%s; %s is for libraries",
				    format->name, cli->dot ? "--dot" : "--vm");
	}
	return format->inspect(cli, file, out, d);
}

enum msd_exit msd_verb_inspect(const struct msd_cli *cli)
{
	const char *path = cli->words[0];
	struct msd_buf file = {0};
	struct msd_buf out = {0};
	struct msd_diag d = {0};
	enum msd_exit code = MSD_EXIT_OK;

	if ((int)cli->dot + (int)cli->vm + (int)cli->will_run + (int)cli->plan > 1) {
		return msd_report_usage("give one of them",
					"inspect: --dot, --plan, --vm and "
					"--check-daemon exclude each other");
	}
	msd_err err = msd_folder_or_file_read(path, &file, &d);
	if (err == MSD_OK)
		err = msd_archive_check_whole(path, span_of(&file), &d);
	if (err == MSD_OK)
		err = msd_model_join(cli, cli->words, cli->n_words, &file, &d);
	if (err == MSD_OK && cli->will_run) {
		code = inspect_for_host(cli, span_of(&file));
	} else if (err == MSD_OK && cli->plan) {
		code = plan_file(cli, span_of(&file), &out);
	} else if (err == MSD_OK) {
		err = inspect_file(cli, span_of(&file), &out, &d);
		if (err != MSD_OK)
			err = msd_diag_wrap(&d, err, "%s", path);
	}
	if (err == MSD_NOT_FOUND && strpbrk(path, "./") == NULL) {
		code = msd_report_diag(
			MSD_EXIT_NOT_FOUND,
			"give a file; for a loaded module use modser show NAME", &d);
	} else if (err != MSD_OK) {
		code = msd_report_file(&d);
	}
	if (out.n > 0 && out.p[out.n - 1] != '\n')
		msd_buf_put_u8(&out, '\n');
	msd_print_flush(&out);
	msd_buf_finish(&file);
	msd_diag_finish(&d);
	return code;
}

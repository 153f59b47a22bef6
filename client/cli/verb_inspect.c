/*
 * inspect: what a file holds, without running any of it.
 *
 * Happy path: the file, or the folder of an unpacked archive, is read whole; by what it
 * is (library, archive of a model, device code) its reader is chosen, and text, JSON or
 * a picture printed. With --will-run-on a daemon is asked what it runs, and the library
 * judged by that (verdict.h).
 */
#include <string.h>

#include "artifact/inspect/hash.h"
#include "artifact/json.h"
#include "artifact/mlf/mlf.h"
#include "client/cli/beside.h"
#include "client/cli/file.h"
#include "client/cli/folder.h"
#include "client/cli/print.h"
#include "client/cli/report.h"
#include "client/cli/session.h"
#include "client/cli/static_graph.h"
#include "client/cli/system.h"
#include "client/cli/verdict.h"

static struct msd_span span_of(const struct msd_buf *b)
{
	return (struct msd_span){b->p, b->n};
}

/* What this machine's libraries have is of no use to code of another. */
static msd_err resolve(struct msd_inspect *inspect, struct msd_span file,
		       struct msd_diag *d)
{
	struct msd_system system = {0};
	struct msd_elf elf = {0};
	msd_err err = msd_elf_read(file, &elf, d);
	const bool is_ours = err == MSD_OK && msd_elf_check_host(&elf, NULL) == MSD_OK;

	msd_elf_finish(&elf);
	if (!is_ours)
		return err;
	err = msd_system_read(inspect, &system, d);
	if (err == MSD_OK)
		err = msd_inspect_resolve(inspect, msd_system_find, &system, d);
	for (size_t i = 0; i < inspect->n_needed; i++) {
		if (!msd_system_has(&system, inspect->needed[i]))
			inspect->missing = inspect->needed[i];
	}
	msd_system_finish(&system);
	return err;
}

/* Read, with this machine's libraries asked for what nobody else has. */
static msd_err read_library(const struct msd_cli *cli, struct msd_span file,
			    struct msd_inspect **ret, struct msd_diag *d)
{
	msd_err err = msd_inspect_read(file, cli->era, ret, d);

	if (err == MSD_OK)
		err = resolve(*ret, file, d);
	return err;
}

static msd_err inspect_library(const struct msd_cli *cli, struct msd_span file,
			       struct msd_buf *out, struct msd_diag *d)
{
	struct msd_inspect *inspect = NULL;

	if (cli->vm)
		return msd_inspect_programs(file, out, d);
	msd_err err = read_library(cli, file, &inspect, d);

	if (err == MSD_OK)
		msd_inspect_hash(inspect, file);
	if (err == MSD_OK && cli->dot) {
		msd_inspect_dot(inspect, out);
	} else if (err == MSD_OK && cli->json) {
		msd_inspect_json(inspect, out);
	} else if (err == MSD_OK) {
		msd_inspect_text(inspect, out);
	}
	msd_inspect_destroy(inspect);
	return err;
}

/* A cubin, fatbin or PTX by itself, as compilers leave them and unpack writes them. */
static bool is_gpu_code(const char *path, struct msd_span file)
{
	const size_t n = strlen(path);
	const bool is_ptx = n > 4 && strcmp(path + n - 4, ".ptx") == 0;
	const struct msd_span format = {(const uint8_t *)"ptx", is_ptx ? 3 : 0};

	return msd_gpu_code_is(format, file);
}

static msd_err inspect_gpu_code(struct msd_span file, bool as_json, struct msd_buf *out,
				struct msd_diag *d)
{
	struct msd_gpu_code code = {0};
	msd_err err = msd_gpu_code_read(file, &code, d);

	if (err != MSD_OK)
		return err;
	if (as_json) {
		msd_json_put(out, msd_gpu_code_json(&code), JSON_COMPACT);
	} else {
		msd_gpu_code_text(&code, 0, out);
	}
	msd_gpu_code_finish(&code);
	return MSD_OK;
}

static msd_err inspect_model(struct msd_span file, bool as_json, struct msd_buf *out,
			     struct msd_diag *d)
{
	struct msd_mlf m = {0};
	msd_err err = msd_mlf_read(file, &m, d);

	if (err != MSD_OK)
		return err;
	if (as_json) {
		msd_mlf_json(&m, out);
	} else {
		msd_mlf_text(&m, out);
	}
	msd_mlf_finish(&m);
	return MSD_OK;
}

/* Ask the daemon what it runs, and say whether this is among it. */
static enum msd_exit judge(const struct msd_cli *cli, const struct msd_inspect *inspect,
			   const struct msd_params *params)
{
	const bool is_local = strncmp(cli->host, "tcp:", 4) != 0;
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
		code = MSD_EXIT_REFUSED;
	} else if (err != MSD_OK) {
		code = msd_report_diag(MSD_EXIT_REMOTE, "ask a newer daemon", &d);
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

	if (msd_archive_is_model(file)) {
		return msd_report_usage("modser convert FILE -o deploy.so",
					"--will-run-on judges libraries; link the "
					"archive first");
	}
	msd_err err = read_library(cli, file, &inspect, &d);
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

/* Libraries have a tree to draw and programs to list; nothing else has. */
static msd_err inspect_file(const struct msd_cli *cli, struct msd_span file,
			    struct msd_buf *out, struct msd_diag *d)
{
	const bool is_model = msd_archive_is_model(file);
	const bool is_code = !is_model && is_gpu_code(cli->words[0], file);

	if (!cli->vm && msd_static_graph_is(file))
		return msd_static_graph_inspect(cli, file, out, d);
	if (cli->dump) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "--dump is for model files of frameworks");
	}
	if ((is_model || is_code) && (cli->dot || cli->vm)) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "%s; %s is for libraries",
				    is_model ? "a model library archive"
					     : "device code",
				    cli->dot ? "--dot" : "--vm");
	}
	if (is_model)
		return inspect_model(file, cli->json, out, d);
	return is_code ? inspect_gpu_code(file, cli->json, out, d)
		       : inspect_library(cli, file, out, d);
}

enum msd_exit msd_verb_inspect(const struct msd_cli *cli)
{
	const char *path = cli->words[0];
	struct msd_buf file = {0};
	struct msd_buf out = {0};
	struct msd_diag d = {0};
	enum msd_exit code = MSD_EXIT_OK;

	if ((int)cli->dot + (int)cli->vm + (int)cli->will_run > 1) {
		return msd_report_usage("take one of them",
					"inspect does one of --dot, "
					"--vm and --will-run-on");
	}
	msd_err err = msd_folder_or_file_read(path, &file, &d);
	if (err == MSD_OK)
		err = msd_archive_check_whole(path, span_of(&file), &d);
	if (err == MSD_OK)
		err = msd_beside_join(cli, path, &file, &d);
	if (err == MSD_OK && cli->will_run) {
		code = inspect_for_host(cli, span_of(&file));
	} else if (err == MSD_OK) {
		err = inspect_file(cli, span_of(&file), &out, &d);
		if (err != MSD_OK)
			err = msd_diag_wrap(&d, err, "%s", path);
	}
	if (err != MSD_OK)
		code = msd_report_file(&d);
	if (out.n > 0 && out.p[out.n - 1] != '\n')
		msd_buf_put_u8(&out, '\n');
	msd_print_flush(&out);
	msd_buf_finish(&file);
	msd_diag_finish(&d);
	return code;
}

/*
 * pull: lets the daemon download a module into its store.
 *
 * Happy path: one request, with its progress on a terminal until the module is READY.
 * Failures are reported by the daemon; a digest or signature mismatch has its own
 * exit code.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/measure/progress.h"
#include "client/cli/run_option.h"
#include "client/cli/session.h"
#include "client/cli/target.h"
#include "client/cli/verbs/report.h"
#include "proto/base/bytes.h"

/* Reject a path of this machine: the daemon has another working directory. */
static enum msd_exit check_uri(const char *uri)
{
	if (strstr(uri, "://") != NULL)
		return MSD_EXIT_OK;
	return msd_report_usage("give https://HOST/FILE, or file:///PATH of the "
				"daemon's machine; `modser load` sends a file",
				"%s: not a URI", uri);
}

/* The URI of @file of an artifact: the file is the fragment. */
static enum msd_exit set_file(const char *uri, const char *file, char **ret)
{
	struct msd_buf out = {0};

	if (strncmp(uri, "oci://", 6) != 0 || strchr(uri, '#') != NULL) {
		return msd_report_usage("give oci://HOST/REPOSITORY:TAG with --file, "
					"or oci://HOST/REPOSITORY:TAG#NAME without it",
					"%s: --file needs an oci:// URI without #",
					uri);
	}
	msd_buf_printf(&out, "%s#", uri);
	for (; *file != '\0'; file++) {
		const bool is_plain = isalnum((unsigned char)*file) != 0 ||
				      strchr("-._~/", *file) != NULL;

		msd_buf_printf(&out, is_plain ? "%c" : "%%%02X", (unsigned char)*file);
	}
	msd_buf_put(&out, "", 1);
	if (out.bad) {
		msd_buf_finish(&out);
		return msd_report_no_memory();
	}
	*ret = (char *)out.p;
	return MSD_EXIT_OK;
}

static enum msd_exit pull(const struct msd_cli *cli, const char *uri,
			  modser_client *client)
{
	modser_pull_options options = {.sha256 = cli->sha256,
				       .deadline_ms = cli->deadline_ms};
	struct msd_progress progress = msd_progress_begin("pull", cli->words[0]);
	modser_result *result = NULL;
	enum msd_exit code = MSD_EXIT_OK;

	msd_run_option_to_pull(cli, &options);
	if (isatty(STDERR_FILENO) == 1) {
		options.progress = msd_progress_show;
		options.ctx = &progress;
	}
	const modser_err err =
		modser_pull(client, cli->words[0], uri, &options, &result);
	msd_progress_end(&progress);
	if (err != MODSER_OK) {
		code = msd_report_refusal(client, result);
	} else {
		msd_session_print(cli, result);
		msd_target_print_next(cli, cli->words[0], modser_result_value(result));
	}
	modser_result_free(result);
	return code;
}

enum msd_exit msd_verb_pull(const struct msd_cli *cli)
{
	modser_client *client;
	char *uri = NULL;
	enum msd_exit code = msd_report_name(cli->words[0]);

	if (code == MSD_EXIT_OK)
		code = check_uri(cli->words[1]);
	if (code == MSD_EXIT_OK && cli->file != NULL)
		code = set_file(cli->words[1], cli->file, &uri);
	if (code == MSD_EXIT_OK)
		code = msd_session_open(cli, &client);
	if (code == MSD_EXIT_OK) {
		code = pull(cli, uri != NULL ? uri : cli->words[1], client);
		modser_close(client);
	}
	free(uri);
	return code;
}

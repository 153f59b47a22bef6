/*
 * pull: lets the daemon download a module into its store.
 *
 * Happy path: one request, with its progress on a terminal until the module is READY.
 * Failures are reported by the daemon; a digest or signature mismatch has its own
 * exit code.
 */
#include <string.h>
#include <unistd.h>

#include "client/cli/measure/progress.h"
#include "client/cli/run_option.h"
#include "client/cli/session.h"
#include "client/cli/verbs/report.h"

/* Reject a path of this machine: the daemon has another working directory. */
static enum msd_exit check_uri(const char *uri)
{
	if (strstr(uri, "://") != NULL)
		return MSD_EXIT_OK;
	return msd_report_usage("give https://HOST/FILE, or file:///PATH of the "
				"daemon's machine; `modser load` sends a file",
				"%s: not a URI", uri);
}

static enum msd_exit pull(const struct msd_cli *cli, modser_client *client)
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
		modser_pull(client, cli->words[0], cli->words[1], &options, &result);
	msd_progress_end(&progress);
	if (err != MODSER_OK) {
		code = msd_report_refusal(client, result);
	} else {
		msd_session_print(cli, result);
	}
	modser_result_free(result);
	return code;
}

enum msd_exit msd_verb_pull(const struct msd_cli *cli)
{
	modser_client *client;
	enum msd_exit code = msd_report_name(cli->words[0]);

	if (code == MSD_EXIT_OK)
		code = check_uri(cli->words[1]);
	if (code == MSD_EXIT_OK)
		code = msd_session_open(cli, &client);
	if (code != MSD_EXIT_OK)
		return code;
	code = pull(cli, client);
	modser_close(client);
	return code;
}

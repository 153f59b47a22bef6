/* call: words -> arguments, one round trip, results -> files and text. */
#include <string.h>

#include "client/cli/arguments.h"
#include "client/cli/report.h"
#include "client/cli/results.h"
#include "client/cli/session.h"
#include "proto/name.h"

enum msd_exit msd_verb_call(const struct msd_cli *cli)
{
	const char *target = cli->words[0];
	const modser_options options = {.deadline_ms = cli->deadline_ms,
					.device = cli->device,
					.kill_abandoned = cli->kill_on_exit,
					.trace = cli->trace};
	struct msd_arguments args = {0};
	struct msd_results results = {0};
	struct msd_span module, function;
	modser_result *answer = NULL;
	modser_client *client = NULL;

	if (!msd_target_split(msd_span_of(target), &module, &function)) {
		return msd_report_usage("modser call NAME:FUNC, see `modser ls`",
					"\"%s\" is not NAME:FUNC", target);
	}
	enum msd_exit code =
		msd_arguments_parse(cli, cli->words + 1, cli->n_words - 1, &args);
	if (code == MSD_EXIT_OK)
		code = msd_session_open(cli, &client);
	if (code == MSD_EXIT_OK)
		code = msd_arguments_call(&args, client, target, options, &answer);
	if (code == MSD_EXIT_OK)
		code = msd_results_add(&results, modser_result_value(answer));
	results.has_trace = modser_result_trace(answer, &results.trace);
	modser_close(client);
	if (code == MSD_EXIT_OK)
		code = msd_results_put(&results, cli);
	msd_results_finish(&results);
	modser_result_free(answer);
	msd_arguments_finish(&args);
	return code;
}

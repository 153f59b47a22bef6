/* call: words -> arguments, one round trip, results -> files and text. */
#include "client/cli/deadline_option.h"
#include "client/cli/retry_option.h"
#include "client/cli/target.h"
#include "client/cli/values/results.h"
#include "client/cli/verbs/report.h"

static enum msd_exit check(const struct msd_cli *cli)
{
	const enum msd_exit code = msd_target_check("call", cli->words[0]);

	if (code != MSD_EXIT_OK)
		return code;
	if (cli->idempotent && cli->retry_ms == 0) {
		return msd_report_usage("add --retry TIME",
					"--idempotent needs --retry");
	}
	return MSD_EXIT_OK;
}

enum msd_exit msd_verb_call(const struct msd_cli *cli)
{
	struct msd_arguments args = {0};
	struct msd_results results = {0};
	modser_result *answer = NULL;
	const struct msd_due due = msd_due_begin(cli->deadline_ms);
	struct msd_cli left = *cli;
	enum msd_exit code = check(cli);

	if (code == MSD_EXIT_OK && !msd_due_guard(&due, "the arguments were not read"))
		code = msd_report_no_memory();
	if (code == MSD_EXIT_OK) {
		code = msd_arguments_parse(cli, cli->words + 1, cli->n_words - 1,
					   &args);
	}
	msd_due_unguard();
	left.deadline_ms = msd_due_left_ms(&due);
	if (code == MSD_EXIT_OK)
		code = msd_again_call(&left, &args, &answer);
	if (code == MSD_EXIT_OK)
		code = msd_results_add(&results, modser_result_value(answer));
	results.has_trace = modser_result_trace(answer, &results.trace);
	if (code == MSD_EXIT_OK)
		code = msd_results_put(&results, cli);
	msd_results_finish(&results);
	modser_result_free(answer);
	msd_arguments_finish(&args);
	return code;
}

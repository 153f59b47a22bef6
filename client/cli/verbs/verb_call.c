/* call: words -> arguments, a round trip for each call, results -> files and text. */
#include "client/cli/deadline_option.h"
#include "client/cli/retry_option.h"
#include "client/cli/values/results.h"
#include "client/cli/values/steps.h"
#include "client/cli/verbs/report.h"

static enum msd_exit check(const struct msd_cli *cli)
{
	if (cli->idempotent && cli->retry_ms == 0) {
		return msd_report_usage("add --retry TIME",
					"--idempotent needs --retry");
	}
	return MSD_EXIT_OK;
}

enum msd_exit msd_verb_call(const struct msd_cli *cli)
{
	struct msd_steps steps = {0};
	struct msd_results results = {0};
	const struct msd_due due = msd_due_begin(cli->deadline_ms);
	struct msd_cli left = *cli;
	enum msd_exit code = check(cli);

	if (code == MSD_EXIT_OK && !msd_due_guard(&due, "the arguments were not read"))
		code = msd_report_no_memory();
	if (code == MSD_EXIT_OK)
		code = msd_steps_parse(cli, &steps);
	msd_due_unguard();
	left.deadline_ms = msd_due_left_ms(&due);
	if (code == MSD_EXIT_OK)
		code = msd_again_call(&left, &steps);
	if (code == MSD_EXIT_OK)
		code = msd_steps_add_results(&steps, &results);
	results.has_trace =
		modser_result_trace(msd_steps_answer(&steps), &results.trace);
	if (code == MSD_EXIT_OK)
		code = msd_results_put(&results, cli);
	msd_results_finish(&results);
	msd_steps_finish(&steps);
	return code;
}

/*
 * profile: runs one call of a framework's model and prints the time of each node.
 *
 * Happy path: the words become arguments, as for `call`. The daemon runs the call when
 * no other call waits, and returns times by row. The pages of the plan, asked for
 * after the run, have the names. With -o a trace is written, too. Failures: another
 * edition of the module may have come between: its plan has other rows.
 */
#include <string.h>

#include "client/cli/deadline_option.h"
#include "client/cli/measure/node_times.h"
#include "client/cli/model/plan.h"
#include "client/cli/session.h"
#include "client/cli/target.h"
#include "client/cli/values/arguments.h"
#include "client/cli/values/file.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"
#include "proto/limits.h"
#include "proto/name.h"

static void add_page(void *ctx, const modser_value *page)
{
	msd_node_times_add(ctx, page);
}

static enum msd_exit ask_plan(modser_client *client, struct msd_span name,
			      uint32_t deadline_ms, struct msd_node_times *ret)
{
	char text[MSD_MAX_NAME_BYTES + 1];
	modser_result *last = NULL;
	enum msd_exit code = MSD_EXIT_OK;

	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	const struct msd_plan_source from = {client, text, deadline_ms};
	if (msd_plan_each(&from, add_page, ret, &last) != MODSER_OK)
		code = msd_report_result(client, last);
	modser_result_free(last);
	return code == MSD_EXIT_OK && ret->is_bad ? msd_report_no_memory() : code;
}

static enum msd_exit report_changed(const char *function)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, MSD_INTERNAL,
			   "%s: the times are not those of its plan: the module was "
			   "replaced meanwhile",
			   function);
	const enum msd_exit code = msd_report_diag(MSD_EXIT_REMOTE, "try again", &d);
	msd_diag_finish(&d);
	return code;
}

/* Run the call, then ask for the names of its nodes. */
static enum msd_exit measure(const struct msd_cli *cli, modser_client *client,
			     struct msd_arguments *args, const char *function,
			     struct msd_node_times *ret)
{
	const modser_options options = {.deadline_ms = cli->deadline_ms};
	struct msd_span module, name;
	modser_result *answer = NULL;
	enum msd_exit code =
		msd_arguments_profile(args, client, function, options, &answer);

	if (code == MSD_EXIT_OK &&
	    !msd_target_split(msd_span_of(function), &module, &name))
		code = MSD_EXIT_USAGE; /* checked before */
	if (code == MSD_EXIT_OK)
		code = ask_plan(client, module, cli->deadline_ms, ret);
	if (code == MSD_EXIT_OK &&
	    !msd_node_times_set(ret, modser_result_value(answer)))
		code = report_changed(function);
	modser_result_free(answer);
	return code;
}

static enum msd_exit profile(const struct msd_cli *cli, struct msd_arguments *args,
			     struct msd_node_times *ret)
{
	modser_client *client = NULL;
	modser_result *answer = NULL;
	struct msd_buf function = {0};
	enum msd_exit code = msd_session_open(cli, &client);

	if (code == MSD_EXIT_OK) {
		code = msd_target_find(client, cli->words[0], cli->deadline_ms,
				       &function, &answer);
	}
	if (code == MSD_EXIT_OK)
		code = measure(cli, client, args, (const char *)function.p, ret);
	modser_result_free(answer);
	msd_buf_finish(&function);
	modser_close(client);
	return code;
}

static enum msd_exit write_trace(const char *path, const struct msd_node_times *t)
{
	struct msd_buf text = {0};
	struct msd_diag d = {0};
	enum msd_exit code = MSD_EXIT_OK;

	msd_node_times_chrome(&text, t);
	if (text.bad) {
		code = msd_report_no_memory();
	} else if (msd_file_write(path, &(struct msd_span){text.p, text.n}, 1, &d) !=
		   MSD_OK) {
		code = msd_report_file(&d);
	}
	msd_diag_finish(&d);
	msd_buf_finish(&text);
	return code;
}

static enum msd_exit print(const struct msd_cli *cli, const struct msd_node_times *t)
{
	struct msd_buf out = {0};

	if (cli->json) {
		msd_node_times_json(&out, t);
	} else {
		msd_node_times_text(&out, t, msd_print_for_people());
	}
	const enum msd_exit code = out.bad ? msd_report_no_memory() : MSD_EXIT_OK;
	if (code == MSD_EXIT_OK)
		msd_print_flush(&out);
	msd_buf_finish(&out);
	return code;
}

enum msd_exit msd_verb_profile(const struct msd_cli *cli)
{
	const struct msd_due due = msd_due_begin(cli->deadline_ms);
	struct msd_arguments args = {0};
	struct msd_node_times times = {0};
	struct msd_cli left = *cli;
	enum msd_exit code = msd_target_check("profile", cli->words[0]);

	if (code == MSD_EXIT_OK && cli->n_outputs > 1) {
		code = msd_report_usage("give one",
					"profile writes one trace: -o FILE");
	}
	if (code == MSD_EXIT_OK) {
		code = msd_arguments_parse(cli, cli->words + 1, cli->n_words - 1,
					   &args);
	}
	left.deadline_ms = msd_due_left_ms(&due);
	if (code == MSD_EXIT_OK)
		code = profile(&left, &args, &times);
	if (code == MSD_EXIT_OK && cli->n_outputs == 1)
		code = write_trace(cli->outputs[0], &times);
	if (code == MSD_EXIT_OK)
		code = print(cli, &times);
	msd_node_times_finish(&times);
	msd_arguments_finish(&args);
	return code;
}

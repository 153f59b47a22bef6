/* Verbs about modules. */
#include <string.h>

#include "client/cli/report.h"
#include "client/cli/session.h"

/* What @method says about the module that the first word names. */
static enum msd_exit show_about(const struct msd_cli *cli, const char *method)
{
	const modser_value param = modser_str(cli->words[0]);
	enum msd_exit code = msd_report_name(cli->words[0]);

	return code == MSD_EXIT_OK ? msd_session_show(cli, method, &param, 1) : code;
}

enum msd_exit msd_verb_ls(const struct msd_cli *cli)
{
	return msd_session_show(cli, "module.list", NULL, 0);
}

enum msd_exit msd_verb_show(const struct msd_cli *cli)
{
	return show_about(cli, "module.describe");
}

enum msd_exit msd_verb_funcs(const struct msd_cli *cli)
{
	return show_about(cli, "function.list");
}

enum msd_exit msd_verb_unload(const struct msd_cli *cli)
{
	return show_about(cli, "module.unload");
}

enum msd_exit msd_verb_logs(const struct msd_cli *cli)
{
	return show_about(cli, "module.logs");
}

/* A module that has failed is an answer to the wait, and not the one hoped for. */
static enum msd_exit check_state(const modser_value *answer)
{
	const modser_value *state = modser_find(answer, "state");
	const modser_value *cause = modser_find(answer, "error");
	modser_error e = {
		.code = MODSER_MODULE_FAILED,
		.name = "MODULE_FAILED",
		.message = "the module has failed",
		.hint = "see the cause in `modser ls` and `modser logs NAME`"};

	if (state == NULL || state->kind != MODSER_STR ||
	    strcmp(state->as.str.p, "FAILED") != 0)
		return MSD_EXIT_OK;
	if (cause != NULL && cause->kind == MODSER_STR)
		e.message = cause->as.str.p;
	return msd_report_error(&e);
}

enum msd_exit msd_verb_wait(const struct msd_cli *cli)
{
	const modser_value param = modser_str(cli->words[0]);
	modser_result *result = NULL;
	enum msd_exit code = msd_report_name(cli->words[0]);

	if (code == MSD_EXIT_OK)
		code = msd_session_ask(cli, "module.wait", &param, 1, &result);
	if (code == MSD_EXIT_OK) {
		msd_session_print(cli, result);
		code = check_state(modser_result_value(result));
	}
	modser_result_free(result);
	return code;
}

/* Verbs about modules. */
#include <string.h>

#include "client/cli/report.h"
#include "client/cli/session.h"

/* Ask @method about the module that the first word names. */
static enum msd_exit ask_about(const struct msd_cli *cli, const char *method,
			       modser_result **ret)
{
	const char *name = cli->words[0];
	modser_value param = modser_str(name);

	*ret = NULL;
	enum msd_exit code = msd_report_name(name);
	if (code != MSD_EXIT_OK)
		return code;
	return msd_session_ask(cli, method, &param, 1, ret);
}

static enum msd_exit show_about(const struct msd_cli *cli, const char *method)
{
	modser_result *result;
	enum msd_exit code = ask_about(cli, method, &result);

	if (code == MSD_EXIT_OK)
		msd_session_print(cli, result);
	modser_result_free(result);
	return code;
}

enum msd_exit msd_verb_ls(const struct msd_cli *cli)
{
	modser_result *result;
	enum msd_exit code = msd_session_ask(cli, "module.list", NULL, 0, &result);

	if (code == MSD_EXIT_OK)
		msd_session_print(cli, result);
	modser_result_free(result);
	return code;
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
	modser_result *result;
	enum msd_exit code = ask_about(cli, "module.wait", &result);

	if (code == MSD_EXIT_OK) {
		msd_session_print(cli, result);
		code = check_state(modser_result_value(result));
	}
	modser_result_free(result);
	return code;
}

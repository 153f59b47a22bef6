/*
 * logs: prints the output of modules' workers.
 *
 * Happy path: the kept output is printed, or its last lines. With -f, the next
 * request starts at its end, and the daemon answers when there is more. Failures: if
 * the module is unloaded, following ends.
 */
#include <stdio.h>

#include "client/cli/session.h"
#include "client/cli/values/json.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"

#define WAIT_MS 60000 /* of one request; after an empty answer it is repeated */

/* Start of the last @n lines of the text. */
static size_t last_lines(const char *p, size_t bytes, uint32_t n)
{
	size_t at = bytes;

	if (n == 0)
		return bytes;
	if (at > 0 && p[at - 1] == '\n')
		at--;
	for (; at > 0; at--) {
		if (p[at - 1] == '\n' && --n == 0)
			return at;
	}
	return 0;
}

static void print_text(const struct msd_cli *cli, const modser_value *text,
		       bool is_first, bool is_whole)
{
	struct msd_buf out = {0};
	size_t at = 0;

	if (text == NULL || text->kind != MODSER_STR)
		return;
	if (is_first && cli->has_tail)
		at = last_lines(text->as.str.p, text->as.str.n, cli->tail);
	if (cli->json) {
		const modser_value rest = {
			.kind = MODSER_STR,
			.as.str = {text->as.str.p + at, text->as.str.n - at}};
		msd_json_put_value(&out, &rest);
		msd_buf_put_u8(&out, '\n');
	} else if (is_whole) {
		msd_print_text(&out, text->as.str.p + at, text->as.str.n - at);
	} else {
		msd_print_piece(&out, text->as.str.p + at, text->as.str.n - at);
	}
	msd_print_flush(&out);
	(void)fflush(stdout); /* errors are reported at the end */
}

static enum msd_exit show_kept(const struct msd_cli *cli, const char *name)
{
	const modser_value param = modser_str(name);
	modser_result *result = NULL;
	enum msd_exit code = msd_session_ask(cli, "module.logs", &param, 1, &result);

	if (code == MSD_EXIT_OK)
		print_text(cli, modser_result_value(result), true, true);
	modser_result_free(result);
	return code;
}

/* Request one answer; *@next is the start of the following one. */
static modser_err ask_more(const struct msd_cli *cli, modser_client *client,
			   const char *name, int64_t *next, modser_result **ret)
{
	const modser_value pairs[4] = {modser_str("from"), modser_int(*next),
				       modser_str("wait_ms"), modser_int(WAIT_MS)};
	const modser_value params[2] = {
		modser_str(name),
		{.kind = MODSER_MAP, .as.tuple = {.item = pairs, .n = 2}}};
	modser_err err = modser_request(client, "module.logs", params, 2, NULL, ret);
	const modser_value *after = modser_find(modser_result_value(*ret), "next");

	if (err != MODSER_OK)
		return err;
	if (after != NULL && after->kind == MODSER_INT) {
		const modser_value *text =
			modser_find(modser_result_value(*ret), "text");
		if (text != NULL && text->kind == MODSER_STR &&
		    (text->as.str.n > 0 || *next == 0))
			print_text(cli, text, *next == 0, false);
		*next = after->as.i;
	}
	return MODSER_OK;
}

static enum msd_exit follow(const struct msd_cli *cli, const char *name)
{
	modser_client *client = NULL;
	modser_result *result = NULL;
	int64_t next = 0;
	modser_err err = MODSER_OK;
	enum msd_exit code = msd_session_open(cli, &client);

	if (code != MSD_EXIT_OK)
		return code;
	while (err == MODSER_OK && !ferror(stdout)) {
		modser_result_free(result);
		result = NULL;
		err = ask_more(cli, client, name, &next, &result);
	}
	/* The unload of an existing module is a normal end. */
	if (err != MODSER_OK && err != MODSER_DRAINING)
		code = msd_report_result(client, result);
	modser_result_free(result);
	modser_close(client);
	return code;
}

enum msd_exit msd_verb_logs(const struct msd_cli *cli)
{
	enum msd_exit first = MSD_EXIT_OK;

	if (cli->follow && cli->n_words > 1) {
		return msd_report_usage("modser logs -f NAME",
					"logs -f follows one module, %zu given",
					cli->n_words);
	}
	for (size_t i = 0; i < cli->n_words && first != MSD_EXIT_CONNECT; i++) {
		enum msd_exit code = msd_report_name(cli->words[i]);

		if (code == MSD_EXIT_OK && cli->n_words > 1 && !cli->json)
			(void)printf("==> %s <==\n", cli->words[i]);
		if (code == MSD_EXIT_OK) {
			code = cli->follow ? follow(cli, cli->words[i])
					   : show_kept(cli, cli->words[i]);
		}
		first = first == MSD_EXIT_OK ? code : first;
	}
	return first;
}

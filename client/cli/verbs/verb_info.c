/* info: prints the daemon's information, whole or in sections. */
#include <string.h>

#include "client/cli/session.h"
#include "client/cli/verbs/report.h"

/* Append the names of the sections, which are maps or lists. */
static void put_sections(struct msd_buf *out, const modser_value *info)
{
	for (size_t i = 0; i < info->as.tuple.n; i++) {
		const modser_value *key = &info->as.tuple.item[2 * i];
		const modser_kind kind = info->as.tuple.item[2 * i + 1].kind;

		if (key->kind == MODSER_STR &&
		    (kind == MODSER_MAP || kind == MODSER_TUPLE)) {
			msd_buf_printf(out, "%s%s", out->n > 0 ? ", " : "",
				       key->as.str.p);
		}
	}
	msd_buf_put_u8(out, '\0');
}

static enum msd_exit refuse(const char *section, const modser_value *info)
{
	struct msd_buf sections = {0};

	put_sections(&sections, info);
	const enum msd_exit code = msd_report_usage(
		"`modser info` prints all; its larger sections are named above",
		"info %s: no such section: expected %s", section,
		sections.bad ? "no memory" : (const char *)sections.p);
	msd_buf_finish(&sections);
	return code;
}

enum msd_exit msd_verb_info(const struct msd_cli *cli)
{
	modser_result *result = NULL;
	modser_value pairs[2 * MSD_CLI_INFO_WORDS];
	enum msd_exit code = msd_session_ask(cli, "server.info", NULL, 0, &result);
	const modser_value *info =
		code == MSD_EXIT_OK ? modser_result_value(result) : NULL;
	const bool is_map = info != NULL && info->kind == MODSER_MAP;

	for (size_t i = 0; is_map && code == MSD_EXIT_OK && i < cli->n_words; i++) {
		const modser_value *value = modser_find(info, cli->words[i]);

		if (value == NULL) {
			code = refuse(cli->words[i], info);
			break;
		}
		pairs[2 * i] = modser_str(cli->words[i]);
		pairs[2 * i + 1] = *value;
	}
	if (code == MSD_EXIT_OK && is_map && cli->n_words > 0) {
		const modser_value some = {
			.kind = MODSER_MAP,
			.as.tuple = {.item = pairs, .n = cli->n_words}};
		msd_session_print_value(cli, &some);
	} else if (code == MSD_EXIT_OK) {
		msd_session_print(cli, result);
	}
	modser_result_free(result);
	return code;
}

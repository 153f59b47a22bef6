/* Rights: whose they are, who was refused. */
#include <string.h>

#include "client/cli/report.h"
#include "client/cli/session.h"

static enum msd_exit dry_run(const struct msd_cli *cli)
{
	modser_value params[3];
	modser_result *result;
	const size_t n = cli->n_words - 1;

	for (size_t i = 0; i < n; i++)
		params[i] = modser_str(cli->words[i + 1]);
	enum msd_exit code = msd_session_ask(cli, "acl.dry_run", params, n, &result);
	if (code == MSD_EXIT_OK) {
		const modser_value *allowed =
			modser_find(modser_result_value(result), "allowed");
		msd_session_print(cli, result);
		if (allowed == NULL || allowed->kind != MODSER_BOOL || !allowed->as.b)
			code = MSD_EXIT_REFUSED;
	}
	modser_result_free(result);
	return code;
}

enum msd_exit msd_verb_acl(const struct msd_cli *cli)
{
	static const struct {
		const char *word, *method;
	} shown[] = {
		{"whoami", "acl.whoami"}, {"list", "acl.list"}, {"log", "acl.log"}};
	const bool is_dry = strcmp(cli->words[0], "dry-run") == 0;

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		if (strcmp(cli->words[0], shown[i].word) == 0 && cli->n_words == 1)
			return msd_session_show(cli, shown[i].method, NULL, 0);
	}
	if (is_dry && (cli->n_words == 3 || cli->n_words == 4))
		return dry_run(cli);
	return msd_report_usage(
		"modser acl whoami | list | log | dry-run USER METHOD [NAME]",
		"acl %s: not one of these, or words are missing", cli->words[0]);
}

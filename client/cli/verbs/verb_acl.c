/* acl: shows rights and rejected requests, and upgrades the ACL file. */
#include <stdio.h>
#include <string.h>

#include "client/cli/model/rewrite.h"
#include "client/cli/session.h"
#include "client/cli/values/file.h"
#include "client/cli/verbs/acl_upgrade.h"
#include "client/cli/verbs/report.h"

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

/* Write to standard output for standard input; else replace the file if it changed. */
static msd_err put_upgraded(const char *path, struct msd_span old, struct msd_span text,
			    struct msd_diag *d)
{
	if (strcmp(path, "-") == 0)
		return msd_file_write(path, &text, 1, d);
	return msd_span_same(old, text) ? MSD_OK : msd_rewrite(path, text, d);
}

static enum msd_exit upgrade(const char *path)
{
	struct msd_buf old = {0}, text = {0}, told = {0};
	struct msd_diag d = {0};
	enum msd_exit code = MSD_EXIT_OK;
	msd_err err = msd_file_read(path, &old, &d);
	const struct msd_span was = {old.p, old.n};

	if (err == MSD_OK)
		err = msd_acl_upgrade(path, was, &text, &told, &d);
	if (err == MSD_OK)
		err = put_upgraded(path, was, (struct msd_span){text.p, text.n}, &d);
	if (err != MSD_OK) {
		code = msd_report_file(&d);
	} else if (told.n > 0) {
		(void)fprintf(stderr, "%.*s", (int)told.n, (const char *)told.p);
	} else {
		(void)fprintf(stderr, "%s: nothing to do\n", path);
	}
	msd_buf_finish(&old);
	msd_buf_finish(&text);
	msd_buf_finish(&told);
	msd_diag_finish(&d);
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
	if (strcmp(cli->words[0], "upgrade") == 0 && cli->n_words == 2)
		return upgrade(cli->words[1]);
	return msd_report_usage(
		"modser acl whoami | list | log | dry-run USER METHOD [NAME] | upgrade "
		"FILE",
		"acl %s: unknown word, or words are missing", cli->words[0]);
}

/* Verbs for modules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/session.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"
#include "client/cli/verbs/show.h"

/* Call @ask for each module in the words; all are tried, and the first failure is
 * returned. */
static enum msd_exit for_each(const struct msd_cli *cli, const char *method,
			      enum msd_exit (*ask)(const struct msd_cli *cli,
						   const char *method,
						   const char *name))
{
	enum msd_exit first = MSD_EXIT_OK;

	for (size_t i = 0; i < cli->n_words && first != MSD_EXIT_CONNECT; i++) {
		enum msd_exit code = msd_report_name(cli->words[i]);

		if (code == MSD_EXIT_OK)
			code = ask(cli, method, cli->words[i]);
		first = first == MSD_EXIT_OK ? code : first;
	}
	return first;
}

static enum msd_exit show_one(const struct msd_cli *cli, const char *method,
			      const char *name)
{
	const modser_value param = modser_str(name);

	return msd_session_show(cli, method, &param, 1);
}

/* Print a title for each of several modules, as head and tail do for files. */
static enum msd_exit show_titled(const struct msd_cli *cli, const char *method,
				 const char *name)
{
	const modser_value param = modser_str(name);
	modser_result *result = NULL;

	if (cli->n_words > 1 && !cli->json)
		(void)printf("==> %s <==\n", name);
	enum msd_exit code = msd_session_ask(cli, method, &param, 1, &result);
	if (code == MSD_EXIT_OK)
		code = msd_show_print(cli, modser_result_value(result));
	modser_result_free(result);
	return code;
}

/* Columns that fit on a line; -l shows all. */
static const struct msd_column narrow[] = {
	{"name", "NAME", false},         {"state", "STATE", false},
	{"device", "DEVICE", false},     {"rss_bytes", "MEM", false},
	{"calls", "CALLS", false},       {"errors", "ERRORS", false},
	{"p50_ns", "P50", false},        {"p99_ns", "P99", false},
	{"busy_ms", "BUSY SINCE", true}, {"next", "NEXT", true},
	{"watch_ms", "WATCH", true},     {"sleeps_ms", "UNTIL", true},
	{"config", "CONFIG", true},      {"error", "WHY", true}};

enum msd_exit msd_verb_ls(const struct msd_cli *cli)
{
	const modser_value *list;
	modser_result *result = NULL;
	struct msd_buf out = {0};
	enum msd_exit code = msd_session_ask(cli, "module.list", NULL, 0, &result);

	list = code == MSD_EXIT_OK ? modser_result_value(result) : NULL;
	if (list != NULL && (cli->json || cli->is_long || list->kind != MODSER_TUPLE)) {
		msd_session_print(cli, result);
	} else if (list != NULL) {
		msd_print_columns(&out, list, narrow,
				  sizeof(narrow) / sizeof(narrow[0]),
				  msd_print_for_people(), cli->header);
	}
	msd_print_flush(&out);
	modser_result_free(result);
	return code;
}

enum msd_exit msd_verb_show(const struct msd_cli *cli)
{
	return for_each(cli, "module.describe", show_titled);
}

static const struct msd_column functions[] = {
	{"name", "NAME", false},      {"style", "STYLE", false},
	{"kind", "KIND", false},      {"signature", "SIGNATURE", true},
	{"refusal", "REFUSAL", true}, {"batch", "BATCH", true}};
static const struct msd_column described[] = {{"name", "NAME", false},
					      {"signature", "SIGNATURE", true},
					      {"doc", "DOC", true}};

static void put_text(struct msd_buf *out, const modser_value *v)
{
	msd_print_text(out, v->as.str.p, v->as.str.n);
}

/* Append the signature, and the author's text below it. */
static void put_described(struct msd_buf *out, const modser_value *list)
{
	for (size_t i = 0; i < list->as.tuple.n; i++) {
		const modser_value *f = &list->as.tuple.item[i];
		const modser_value *signature = modser_find(f, "signature");
		const modser_value *doc = modser_find(f, "doc");

		if (signature == NULL)
			signature = modser_find(f, "name");
		if (signature != NULL && signature->kind == MODSER_STR)
			put_text(out, signature);
		if (doc != NULL && doc->kind == MODSER_STR)
			msd_print_indented(out, doc->as.str.p, doc->as.str.n, "    ");
	}
}

static void put_functions(struct msd_buf *out, const modser_value *list,
			  const struct msd_cli *cli)
{
	const bool for_people = msd_print_for_people();
	const struct msd_column *columns = cli->doc ? described : functions;
	const size_t n = cli->doc ? sizeof(described) / sizeof(*described)
				  : sizeof(functions) / sizeof(*functions);

	if (cli->doc && for_people) {
		put_described(out, list);
	} else {
		msd_print_columns(out, list, columns, n, for_people, cli->header);
	}
}

/* True if the map @f describes the model of @about, an answer of module.describe. */
static bool is_model(const modser_value *f, const modser_result *about)
{
	const modser_value *name = modser_find(f, "name");
	const modser_value *model = modser_find(modser_result_value(about), "model");

	return name != NULL && name->kind == MODSER_STR && model != NULL &&
	       model->kind == MODSER_STR &&
	       strcmp(name->as.str.p, model->as.str.p) == 0;
}

/* Print the functions of @list, the model first and the others in their order. */
static enum msd_exit put_model_first(struct msd_buf *out, const modser_value *list,
				     const modser_result *about,
				     const struct msd_cli *cli)
{
	const size_t n = list->as.tuple.n;
	modser_value *item = calloc(n + 1, sizeof(*item));
	const modser_value sorted = {.kind = MODSER_TUPLE,
				     .as.tuple = {.item = item, .n = n}};
	size_t k = 0;

	if (item == NULL)
		return msd_report_no_memory();
	for (size_t i = 0; i < n; i++) {
		if (is_model(&list->as.tuple.item[i], about))
			item[k++] = list->as.tuple.item[i];
	}
	for (size_t i = 0; i < n; i++) {
		if (!is_model(&list->as.tuple.item[i], about))
			item[k++] = list->as.tuple.item[i];
	}
	put_functions(out, &sorted, cli);
	free(item);
	return MSD_EXIT_OK;
}

static enum msd_exit list_functions(const struct msd_cli *cli, const char *method,
				    const char *name)
{
	const modser_value param = modser_str(name);
	const modser_value *list;
	modser_result *result = NULL, *about = NULL;
	struct msd_buf out = {0};
	enum msd_exit code = msd_session_ask(cli, method, &param, 1, &result);

	if (code == MSD_EXIT_OK && !cli->json)
		code = msd_session_ask(cli, "module.describe", &param, 1, &about);
	list = code == MSD_EXIT_OK ? modser_result_value(result) : NULL;
	if (cli->n_words > 1 && !cli->json)
		msd_buf_printf(&out, "==> %s <==\n", name);
	if (list != NULL && (cli->json || list->kind != MODSER_TUPLE)) {
		msd_session_print(cli, result);
	} else if (list != NULL) {
		code = put_model_first(&out, list, about, cli);
	}
	msd_print_flush(&out);
	modser_result_free(about);
	modser_result_free(result);
	return code;
}

enum msd_exit msd_verb_funcs(const struct msd_cli *cli)
{
	return for_each(cli, "function.list", list_functions);
}

static enum msd_exit bring_one(const struct msd_cli *cli, const char *method,
			       const char *name)
{
	const modser_value param = modser_str(name);
	modser_result *result = NULL;
	enum msd_exit code = msd_session_bring(cli, method, &param, 1, &result);

	if (code == MSD_EXIT_OK)
		msd_session_print(cli, result);
	modser_result_free(result);
	return code;
}

enum msd_exit msd_verb_rollback(const struct msd_cli *cli)
{
	return for_each(cli, "module.rollback", bring_one);
}

enum msd_exit msd_verb_sleep(const struct msd_cli *cli)
{
	return for_each(cli, "module.sleep", show_one);
}

enum msd_exit msd_verb_unload(const struct msd_cli *cli)
{
	return for_each(cli, "module.unload", show_one);
}

/* The wait also ends if the module failed; report that as an error. */
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

static enum msd_exit wait_for(const struct msd_cli *cli, const char *method,
			      const char *name)
{
	const modser_value param = modser_str(name);
	modser_result *result = NULL;
	enum msd_exit code = msd_session_ask(cli, method, &param, 1, &result);

	if (code == MSD_EXIT_OK) {
		msd_session_print(cli, result);
		code = check_state(modser_result_value(result));
	}
	modser_result_free(result);
	return code;
}

enum msd_exit msd_verb_wait(const struct msd_cli *cli)
{
	return for_each(cli, "module.wait", wait_for);
}

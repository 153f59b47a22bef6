/*
 * Happy path: a word with a colon is the function. Else the daemon describes the
 * module, and its `model` is the function. While the module is loading, wait for it as
 * a call would. Failures: the module has no model; the error lists its functions.
 */
#include "client/cli/target.h"

#include <stdio.h>
#include <string.h>

#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"
#include "proto/name.h"

#define NAMES_MAX 16u

enum msd_exit msd_target_check(const char *verb, const char *word)
{
	const struct msd_span text = msd_span_of(word);
	struct msd_span module, function;
	char hint[64];

	if (msd_name_valid(text) || msd_target_split(text, &module, &function))
		return MSD_EXIT_OK;
	(void)snprintf(hint, sizeof(hint), "modser %s NAME:FUNC, see `modser ls`",
		       verb);
	return msd_report_usage(hint, "\"%s\" is not NAME or NAME:FUNC", word);
}

static void put_names(struct msd_buf *out, const modser_value *list)
{
	const size_t n = list->as.tuple.n;

	for (size_t i = 0; i < n && i < NAMES_MAX; i++) {
		const modser_value *name = modser_find(&list->as.tuple.item[i], "name");

		if (name != NULL && name->kind == MODSER_STR)
			msd_buf_printf(out, "%s%s", i > 0 ? ", " : "", name->as.str.p);
	}
	if (n > NAMES_MAX)
		msd_buf_printf(out, " and %zu more", n - NAMES_MAX);
}

/* Ask for the module's description, or send another request with its name. */
static enum msd_exit ask(modser_client *client, const char *method, const char *name,
			 uint32_t deadline_ms, modser_result **ret)
{
	const modser_options options = {.deadline_ms = deadline_ms};
	const modser_value param = modser_str(name);

	modser_result_free(*ret);
	*ret = NULL;
	return modser_request(client, method, &param, 1, &options, ret) == MODSER_OK
		       ? MSD_EXIT_OK
		       : msd_report_result(client, *ret);
}

static const modser_value *list_of(const modser_result *about)
{
	const modser_value *list = modser_find(modser_result_value(about), "functions");

	return list != NULL && list->kind == MODSER_TUPLE ? list : NULL;
}

/* Operators that TVM compiled for a graph executor, whose graph is another file. */
static bool has_operators(const modser_value *list)
{
	static const char prefix[] = "tvmgen_default_fused_";

	for (size_t i = 0; list != NULL && i < list->as.tuple.n; i++) {
		const modser_value *name = modser_find(&list->as.tuple.item[i], "name");

		if (name != NULL && name->kind == MODSER_STR &&
		    (strncmp(name->as.str.p, prefix, sizeof(prefix) - 1) == 0 ||
		     strncmp(name->as.str.p, "fused_", 6) == 0))
			return true;
	}
	return false;
}

static enum msd_exit report_none(const char *name, const modser_result *about)
{
	const modser_value *list = list_of(about);
	struct msd_buf names = {0};

	if (list != NULL)
		put_names(&names, list);
	msd_buf_put_u8(&names, 0);
	const enum msd_exit code =
		names.bad ? msd_report_no_memory()
			  : msd_report_usage(
				    has_operators(list)
					    ? "it has operators of a graph: load it "
					      "with its graph.json and parameters "
					      "(--graph FILE --params FILE); or "
					      "name the function: NAME:FUNC"
					    : "name the function: NAME:FUNC",
				    "%s has no function that is its model; it "
				    "has: %s",
				    name, (const char *)names.p);
	msd_buf_finish(&names);
	return code;
}

enum msd_exit msd_target_find(modser_client *client, const char *word,
			      uint32_t deadline_ms, struct msd_buf *ret,
			      modser_result **answer)
{
	const modser_value *model;
	modser_result *about = NULL;
	enum msd_exit code = MSD_EXIT_OK;

	*answer = NULL;
	if (strchr(word, ':') == NULL) {
		code = ask(client, "module.describe", word, deadline_ms, &about);
		if (code == MSD_EXIT_OK && list_of(about) == NULL)
			code = ask(client, "module.wait", word, deadline_ms, &about);
		if (code == MSD_EXIT_OK && list_of(about) == NULL) {
			code = ask(client, "module.describe", word, deadline_ms,
				   &about);
		}
	}
	if (code != MSD_EXIT_OK) {
		*answer = about;
		return code;
	}
	model = modser_find(modser_result_value(about), "model");
	if (about == NULL) {
		msd_buf_printf(ret, "%s", word);
	} else if (model != NULL && model->kind == MODSER_STR) {
		msd_buf_printf(ret, "%s:%s", word, model->as.str.p);
	} else {
		code = report_none(word, about);
	}
	modser_result_free(about);
	msd_buf_put_u8(ret, 0);
	return code == MSD_EXIT_OK && ret->bad ? msd_report_no_memory() : code;
}

void msd_target_print_next(const struct msd_cli *cli, const char *name,
			   const modser_value *loaded)
{
	const modser_value *model = modser_find(loaded, "model");
	struct msd_buf out = {0};

	if (cli->json || !msd_print_for_people())
		return;
	if (model != NULL && model->kind == MODSER_STR) {
		msd_buf_printf(&out, "`modser call %s ARGUMENT...` calls its model, ",
			       name);
		msd_print_line(&out, model->as.str.p, model->as.str.n);
		msd_buf_printf(&out, "; `modser funcs %s` lists the arguments\n", name);
	} else {
		msd_buf_printf(&out,
			       "`modser funcs %s` lists its functions; `modser call "
			       "%s:FUNC ARGUMENT...` calls one\n",
			       name, name);
	}
	msd_print_flush(&out);
}

/*
 * Happy path of a call: its words become values and names. Values without a dtype get
 * the one of the function's signature. Then the call is sent. Failures: an invalid
 * word or an unreadable file is reported before anything is sent.
 */
#include "client/cli/values/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "client/cli/advice.h"
#include "client/cli/session.h"
#include "client/cli/values/parameters.h"
#include "client/cli/values/word.h"
#include "client/cli/verbs/report.h"

static enum msd_exit report(const struct msd_diag *d)
{
	const bool is_file = d->code == MSD_NOT_FOUND || d->code == MSD_IO;

	return msd_report_diag(MSD_EXIT_USAGE,
			       is_file ? "check the file's name and rights"
				       : "`modser help call` lists the forms",
			       d);
}

/* Parse @text, [NAME=]WORD, if it names an earlier result. */
static size_t parse_named(const char *text, msd_arguments_named named, const void *ctx,
			  struct msd_word *ret, msd_err *ret_err, struct msd_diag *d)
{
	const char *sign = strchr(text, '=');
	size_t found = named(ctx, text);

	if (found > 0 || sign == NULL || sign == text)
		return found;
	found = named(ctx, sign + 1);
	if (found > 0)
		ret->name = strndup(text, (size_t)(sign - text));
	if (found > 0 && ret->name == NULL)
		*ret_err = msd_diag_no_memory(d);
	return found;
}

static size_t find_none(const void *ctx, const char *word)
{
	(void)ctx;
	(void)word;
	return 0;
}

enum msd_exit msd_arguments_parse(const struct msd_cli *cli, const char *const *words,
				  size_t n, struct msd_arguments *ret)
{
	return msd_arguments_parse_with(cli, words, n, find_none, NULL, ret);
}

enum msd_exit msd_arguments_parse_with(const struct msd_cli *cli,
				       const char *const *words, size_t n,
				       msd_arguments_named named, const void *ctx,
				       struct msd_arguments *ret)
{
	struct msd_diag d = {0};
	msd_err err = MSD_OK;

	*ret = (struct msd_arguments){.words = calloc(n + 1, sizeof(*ret->words)),
				      .values = calloc(n + 1, sizeof(*ret->values)),
				      .names = calloc(n + 1, sizeof(const char *)),
				      .texts = words,
				      .objects = calloc(n + 1, sizeof(size_t))};
	if (ret->words == NULL || ret->values == NULL || ret->names == NULL ||
	    ret->objects == NULL)
		return msd_report_no_memory();
	while (ret->n < n && err == MSD_OK) {
		struct msd_word *w = &ret->words[ret->n];

		ret->objects[ret->n] =
			parse_named(words[ret->n], named, ctx, w, &err, &d);
		if (ret->objects[ret->n] == 0)
			err = msd_word_parse(words[ret->n], w, &d);
		ret->values[ret->n] = w->value;
		ret->names[ret->n++] = w->name;
		ret->has_names |= w->name != NULL;
	}
	enum msd_exit code = MSD_EXIT_OK;
	if (err != MSD_OK)
		code = msd_session_check_name(cli);
	if (err != MSD_OK && code == MSD_EXIT_OK)
		code = report(&d);
	msd_diag_finish(&d);
	return code;
}

/* A positional argument takes the first parameter that no argument names. */
const modser_value *msd_arguments_param(const struct msd_arguments *a,
					const struct msd_parameters *s, size_t at)
{
	size_t free_ones = 0;

	if (!a->has_names || a->names[at] != NULL || s->params == NULL)
		return msd_parameters_param(s, a->names[at], at);
	for (size_t i = 0; i < at; i++)
		free_ones += a->names[i] == NULL;
	for (size_t i = 0; i < s->params->as.tuple.n; i++) {
		const modser_value *param = &s->params->as.tuple.item[i];
		const char *name = msd_parameters_text(param, "name");
		bool is_taken = false;

		for (size_t k = 0; name != NULL && k < a->n; k++) {
			if (a->names[k] != NULL && strcmp(a->names[k], name) == 0)
				is_taken = true;
		}
		if (!is_taken && free_ones-- == 0)
			return param;
	}
	return NULL;
}

static enum msd_exit set_type(struct msd_arguments *a, const struct msd_parameters *s,
			      size_t i, const char *function)
{
	struct msd_diag d = {0};
	struct msd_dtype t;
	enum msd_exit code = MSD_EXIT_OK;

	if (!msd_parameters_dtype(msd_arguments_param(a, s, i), &t)) {
		return msd_report_usage("add the dtype: float32:[1.0,2.0]",
					"argument %zu of %s: the signature has no "
					"dtype for this tensor",
					i + 1, function);
	}
	if (msd_word_set_type(&a->words[i], t, &d) == MSD_OK) {
		a->values[i] = a->words[i].value;
	} else {
		(void)msd_diag_wrap(&d, d.code, "argument %zu of %s", i + 1, function);
		code = report(&d);
	}
	msd_diag_finish(&d);
	return code;
}

enum msd_exit msd_arguments_set_types(struct msd_arguments *a, modser_client *client,
				      const char *function, uint32_t deadline_ms)
{
	struct msd_parameters s = {0};
	enum msd_exit code = MSD_EXIT_OK;

	for (size_t i = 0; i < a->n && code == MSD_EXIT_OK; i++) {
		if (!msd_word_wants_type(&a->words[i]))
			continue;
		if (s.list == NULL && msd_parameters_ask(client, function, deadline_ms,
							 &s) != MODSER_OK) {
			code = msd_report_result(client, s.list);
		} else {
			code = set_type(a, &s, i, function);
		}
	}
	msd_parameters_finish(&s);
	return code;
}

enum msd_exit msd_arguments_report(const struct msd_arguments *a, modser_client *client,
				   const char *function, uint32_t deadline_ms,
				   const modser_result *answer)
{
	modser_error e = *modser_result_error(answer);
	struct msd_parameters s = {0};
	struct msd_buf hint = {0};

	if (e.code != MODSER_BAD_ARGUMENT)
		return msd_report_result(client, answer);
	if (msd_parameters_ask(client, function, deadline_ms, &s) != MODSER_OK ||
	    !msd_advice_put(&hint, a, &s, function)) {
		msd_buf_printf(
			&hint,
			"follow the text; `modser funcs %.*s` has the signatures",
			(int)strcspn(function, ":"), function);
	}
	msd_buf_put_u8(&hint, 0);
	if (!hint.bad)
		e.hint = (const char *)hint.p;
	const enum msd_exit code = msd_report_error(&e);
	msd_buf_finish(&hint);
	msd_parameters_finish(&s);
	return code;
}

enum msd_exit msd_arguments_call(struct msd_arguments *a, modser_client *client,
				 const char *function, modser_options options,
				 modser_result **ret)
{
	const enum msd_exit code =
		msd_arguments_set_types(a, client, function, options.deadline_ms);

	if (code != MSD_EXIT_OK)
		return code;
	options.names = a->has_names ? a->names : NULL;
	if (modser_call(client, function, a->values, a->n, &options, ret) == MODSER_OK)
		return MSD_EXIT_OK;
	return msd_arguments_report(a, client, function, options.deadline_ms, *ret);
}

/* The parameters of a call: the function, then the arguments. NULL: memory is short. */
static modser_value *params_of(const struct msd_arguments *a,
			       const modser_value *function)
{
	modser_value *params = malloc((a->n + 1) * sizeof(*params));

	if (params == NULL)
		return NULL;
	params[0] = *function;
	if (a->n > 0)
		memcpy(params + 1, a->values, a->n * sizeof(*params));
	return params;
}

enum msd_exit msd_arguments_call_value(struct msd_arguments *a, modser_client *client,
				       const modser_value *function,
				       modser_options options, modser_result **ret)
{
	modser_value *params = params_of(a, function);
	enum msd_exit code = MSD_EXIT_OK;

	if (params == NULL)
		return msd_report_no_memory();
	for (size_t i = 0; i < a->n && code == MSD_EXIT_OK; i++) {
		if (msd_word_wants_type(&a->words[i])) {
			code = msd_report_usage("add the dtype: float32:[1.0,2.0]",
						"argument %zu: a function object has "
						"no signature with a dtype for it",
						i + 1);
		}
	}
	options.names = a->has_names ? a->names : NULL;
	if (code == MSD_EXIT_OK && modser_request(client, "call", params, a->n + 1,
						  &options, ret) != MODSER_OK)
		code = msd_report_result(client, *ret);
	free(params);
	return code;
}

enum msd_exit msd_arguments_profile(struct msd_arguments *a, modser_client *client,
				    const char *function, modser_options options,
				    modser_result **ret)
{
	const enum msd_exit code =
		msd_arguments_set_types(a, client, function, options.deadline_ms);

	if (code != MSD_EXIT_OK)
		return code;
	const modser_value target = modser_str(function);
	modser_value *params = params_of(a, &target);
	if (params == NULL)
		return msd_report_no_memory();
	options.names = a->has_names ? a->names : NULL;
	const modser_err err = modser_request(client, "module.profile", params,
					      a->n + 1, &options, ret);
	free(params);
	return err == MODSER_OK ? MSD_EXIT_OK
				: msd_arguments_report(a, client, function,
						       options.deadline_ms, *ret);
}

enum msd_exit msd_arguments_start(struct msd_arguments *a, modser_client *client,
				  const char *function, modser_options options,
				  uint64_t *ret_id)
{
	const modser_value target = modser_str(function);
	modser_value *params = params_of(a, &target);

	if (params == NULL)
		return msd_report_no_memory();
	options.names = a->has_names ? a->names : NULL;
	const modser_err err =
		modser_start(client, "call", params, a->n + 1, &options, ret_id);
	free(params);
	return err == MODSER_OK ? MSD_EXIT_OK : msd_report_error(modser_why(client));
}

void msd_arguments_finish(struct msd_arguments *a)
{
	for (size_t i = 0; i < a->n; i++)
		msd_word_finish(&a->words[i]);
	free(a->words);
	free(a->values);
	free(a->names);
	free(a->objects);
}

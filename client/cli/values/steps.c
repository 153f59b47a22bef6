/*
 * Happy path: the words are split at "then" and parsed before anything is sent. Then
 * each call runs with the results of earlier ones in place of their words. Failures: a
 * word that no earlier call gave is an ordinary word, so its error lists the forms.
 */
#include "client/cli/values/steps.h"

#include <stdlib.h>
#include <string.h>

#include "client/cli/target.h"
#include "client/cli/verbs/report.h"

/* Words that are no arguments, so they can end a call and name its result. */
#define SEPARATOR "then"
#define NAMING "as"

/* 1 + number of the step that gave its result the name @word; 0: none. */
static size_t find_named(const struct msd_steps *s, size_t n_before, const char *word)
{
	for (size_t i = n_before; i > 0; i--) { /* a name may be used again */
		if (s->all[i - 1].as != NULL && strcmp(s->all[i - 1].as, word) == 0)
			return i;
	}
	return 0;
}

static size_t find_earlier(const void *ctx, const char *word)
{
	const struct msd_steps *s = ctx;

	return find_named(s, s->n - 1, word);
}

/* Take "as WORD" from the end of the @n words. */
static enum msd_exit take_name(struct msd_step *step, const char *const *words,
			       size_t *n)
{
	for (size_t i = 1; i < *n; i++) {
		if (strcmp(words[i], NAMING) != 0)
			continue;
		if (i + 2 != *n) {
			return msd_report_usage(
				"modser call FUNCTION [ARGUMENT...] as WORD then ...",
				"\"" NAMING
				"\" needs one word behind it, at the end of "
				"the call");
		}
		step->as = words[i + 1];
		*n = i;
	}
	return MSD_EXIT_OK;
}

static enum msd_exit add_step(const struct msd_cli *cli, struct msd_steps *s,
			      const char *const *words, size_t n)
{
	struct msd_step *step = &s->all[s->n++];

	if (n == 0) {
		return msd_report_usage(
			"modser call FUNCTION [ARGUMENT...] then FUNCTION ...",
			"a function is missing before or behind \"" SEPARATOR "\"");
	}
	step->target = words[0];
	step->object = find_named(s, s->n - 1, words[0]);
	enum msd_exit code = take_name(step, words, &n);
	if (code == MSD_EXIT_OK && step->object == 0)
		code = msd_target_check("call", words[0]);
	return code != MSD_EXIT_OK
		       ? code
		       : msd_arguments_parse_with(cli, words + 1, n - 1, find_earlier,
						  s, &step->args);
}

enum msd_exit msd_steps_parse(const struct msd_cli *cli, struct msd_steps *ret)
{
	const size_t n = cli->n_words;
	enum msd_exit code = MSD_EXIT_OK;
	size_t start = 0;

	*ret = (struct msd_steps){.all = calloc(n + 1, sizeof(*ret->all))};
	if (ret->all == NULL)
		return msd_report_no_memory();
	for (size_t i = 0; i <= n && code == MSD_EXIT_OK; i++) {
		if (i < n && strcmp(cli->words[i], SEPARATOR) != 0)
			continue;
		code = add_step(cli, ret, cli->words + start, i - start);
		start = i + 1;
	}
	return code;
}

/* The value of a step: its result, else the tensors that it filled. */
static const modser_value *value_of(const struct msd_step *step)
{
	const modser_value *root = modser_result_value(step->answer);
	const modser_value *outs = &root->as.tuple.item[0];

	if (root->kind != MODSER_TUPLE || root->as.tuple.n != 2)
		return root;
	if (root->as.tuple.item[1].kind != MODSER_NIL || outs->kind != MODSER_TUPLE ||
	    outs->as.tuple.n == 0)
		return &root->as.tuple.item[1];
	return outs->as.tuple.n == 1 ? outs->as.tuple.item : outs;
}

/* Set the arguments that are results of earlier steps. */
static void set_objects(struct msd_steps *s, struct msd_step *step)
{
	for (size_t i = 0; i < step->args.n; i++) {
		if (step->args.objects[i] > 0) {
			step->args.values[i] =
				*value_of(&s->all[step->args.objects[i] - 1]);
		}
	}
}

static enum msd_exit call_object(struct msd_steps *s, struct msd_step *step,
				 modser_client *client, modser_options options)
{
	const modser_value *function = value_of(&s->all[step->object - 1]);

	if (function->kind != MODSER_OBJECT) {
		return msd_report_usage("call a function of the module with it",
					"%s is not an object that stays in the daemon",
					step->target);
	}
	return msd_arguments_call_value(&step->args, client, function, options,
					&step->answer);
}

static enum msd_exit call_step(struct msd_steps *s, struct msd_step *step,
			       modser_client *client, modser_options options)
{
	struct msd_buf function = {0};

	set_objects(s, step);
	if (step->object > 0)
		return call_object(s, step, client, options);
	enum msd_exit code = msd_target_find(client, step->target, options.deadline_ms,
					     &function, &step->answer);
	if (code == MSD_EXIT_OK) {
		code = msd_arguments_call(&step->args, client, (const char *)function.p,
					  options, &step->answer);
	}
	msd_buf_finish(&function);
	return code;
}

enum msd_exit msd_steps_call(struct msd_steps *s, modser_client *client,
			     const modser_options *options)
{
	enum msd_exit code = MSD_EXIT_OK;

	for (s->n_begun = 0; s->n_begun < s->n && code == MSD_EXIT_OK;) {
		struct msd_step *step = &s->all[s->n_begun++];
		code = call_step(s, step, client, *options);
	}
	return code;
}

const modser_result *msd_steps_answer(const struct msd_steps *s)
{
	return s->n_begun > 0 ? s->all[s->n_begun - 1].answer : NULL;
}

void msd_steps_clear(struct msd_steps *s)
{
	for (size_t i = 0; i < s->n; i++) {
		modser_result_free(s->all[i].answer);
		s->all[i].answer = NULL;
	}
	s->n_begun = 0;
}

enum msd_exit msd_steps_add_results(const struct msd_steps *s,
				    struct msd_results *results)
{
	enum msd_exit code = MSD_EXIT_OK;

	for (size_t i = 0; i < s->n && code == MSD_EXIT_OK; i++) {
		if (s->all[i].as != NULL && i + 1 < s->n)
			continue;
		code = msd_results_add(results, modser_result_value(s->all[i].answer));
	}
	return code;
}

void msd_steps_finish(struct msd_steps *s)
{
	msd_steps_clear(s);
	for (size_t i = 0; i < s->n; i++)
		msd_arguments_finish(&s->all[i].args);
	free(s->all);
}

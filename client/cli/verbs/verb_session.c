/* instance: creates an executor for the life of this process, and calls it several
 * times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/deadline_option.h"
#include "client/cli/session.h"
#include "client/cli/values/arguments.h"
#include "client/cli/values/results.h"
#include "client/cli/verbs/report.h"

/* A word that is not a valid argument, so it can separate the calls. */
#define SEPARATOR "then"

struct step {
	char *target; /* "module:function" */
	struct msd_arguments args;
	modser_result *answer;
};

struct instance {
	const struct msd_cli *cli;
	struct msd_due due;
	modser_client *client;
	modser_result *made; /* holds the handle */
	struct step *steps;
	size_t n;
};

/* Add one call from @n words. */
static enum msd_exit add_step(struct instance *x, const char *const *words, size_t n)
{
	struct step *s = &x->steps[x->n];

	if (n == 0) {
		return msd_report_usage(
			"modser session NAME FUNC [ARGUMENT...] then FUNC ...",
			"a function is missing before or behind \"" SEPARATOR "\"");
	}
	x->n++;
	if (asprintf(&s->target, "%s:%s", x->cli->words[0], words[0]) < 0) {
		s->target = NULL;
		return msd_report_no_memory();
	}
	return msd_arguments_parse(x->cli, words + 1, n - 1, &s->args);
}

static enum msd_exit parse_steps(struct instance *x)
{
	const char *const *words = x->cli->words;
	const size_t n = x->cli->n_words;
	enum msd_exit code = MSD_EXIT_OK;
	size_t start = 1;

	x->steps = calloc(n, sizeof(*x->steps));
	if (x->steps == NULL)
		return msd_report_no_memory();
	for (size_t i = 1; i <= n && code == MSD_EXIT_OK; i++) {
		if (i < n && strcmp(words[i], SEPARATOR) != 0)
			continue;
		code = add_step(x, words + start, i - start);
		start = i + 1;
	}
	return code;
}

/* Wait for its result, *@ret; reports an error. */
static enum msd_exit wait_for(struct instance *x, uint64_t id, modser_result **ret)
{
	return modser_wait(x->client, id, ret) == MODSER_OK
		       ? MSD_EXIT_OK
		       : msd_report_result(x->client, *ret);
}

/* Start the executor and its first call, in one write. */
static enum msd_exit begin(struct instance *x, modser_options *options)
{
	const modser_options promised = {.deadline_ms = options->deadline_ms,
					 .promised = true};
	const modser_value name = modser_str(x->cli->words[0]);
	modser_options first = *options;
	struct step *s = &x->steps[0];
	uint64_t id;
	enum msd_exit code = msd_arguments_set_types(&s->args, x->client, s->target,
						     options->deadline_ms);

	if (code != MSD_EXIT_OK)
		return code;
	if (modser_start(x->client, "module.instance", &name, 1, &promised,
			 &first.instance_of) != MODSER_OK)
		return msd_report_error(modser_why(x->client));
	code = msd_arguments_start(&s->args, x->client, s->target, first, &id);
	if (code == MSD_EXIT_OK)
		code = wait_for(x, first.instance_of, &x->made);
	if (code == MSD_EXIT_OK &&
	    modser_wait(x->client, id, &s->answer) != MODSER_OK) {
		code = msd_arguments_report(&s->args, x->client, s->target,
					    options->deadline_ms, s->answer);
	}
	if (code == MSD_EXIT_OK)
		options->instance = modser_result_value(x->made)->as.handle;
	return code;
}

static enum msd_exit run(struct instance *x, struct msd_results *results)
{
	modser_options options = {.deadline_ms = msd_due_left_ms(&x->due),
				  .kill_abandoned = x->cli->kill_on_exit};
	enum msd_exit code = begin(x, &options);

	for (size_t i = 0; i < x->n && code == MSD_EXIT_OK; i++) {
		struct step *s = &x->steps[i];

		options.deadline_ms = msd_due_left_ms(&x->due);
		if (i > 0) {
			code = msd_arguments_call(&s->args, x->client, s->target,
						  options, &s->answer);
		}
		if (code == MSD_EXIT_OK)
			code = msd_results_add(results, modser_result_value(s->answer));
	}
	return code;
}

static void finish(struct instance *x)
{
	for (size_t i = 0; i < x->n; i++) {
		free(x->steps[i].target);
		msd_arguments_finish(&x->steps[i].args);
		modser_result_free(x->steps[i].answer);
	}
	free(x->steps);
	modser_result_free(x->made);
}

enum msd_exit msd_verb_session(const struct msd_cli *cli)
{
	struct instance x = {.cli = cli, .due = msd_due_begin(cli->deadline_ms)};
	struct msd_cli left = *cli;
	struct msd_results results = {0};
	enum msd_exit code = msd_report_name(cli->words[0]);

	if (code == MSD_EXIT_OK &&
	    !msd_due_guard(&x.due, "the arguments were not read"))
		code = msd_report_no_memory();
	if (code == MSD_EXIT_OK)
		code = parse_steps(&x);
	msd_due_unguard();
	left.deadline_ms = msd_due_left_ms(&x.due);
	if (code == MSD_EXIT_OK)
		code = msd_session_open(&left, &x.client);
	if (code == MSD_EXIT_OK)
		code = run(&x, &results);
	modser_close(x.client); /* also frees the instance */
	if (code == MSD_EXIT_OK)
		code = msd_results_put(&results, cli);
	msd_results_finish(&results);
	finish(&x);
	return code;
}

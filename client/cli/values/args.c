/*
 * Parses the command line of modser, with the table of options (options.c) and the
 * table of verbs (verbs.c).
 *
 * Happy path: msd_argv_next() returns words and options in order. The first word is
 * the verb. An option's value is stored in its field or passed to its function. At
 * the end the number of words and the options are checked against the verb.
 */
#include "client/cli/values/args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/options.h"
#include "client/cli/values/word.h"
#include "client/cli/verbs/report.h"
#include "proto/base/argv.h"
#include "proto/base/spelling.h"

/* Verbs whose words are arguments of a function. */
#define TAKES_ARGUMENTS (MSD_OPT_CALL | MSD_OPT_BENCH)

/* The row of an option letter that several rows share: the option of @verb, else the
 * first. */
static const struct msd_option_row *owner_of(char letter, const struct msd_verb *verb)
{
	const struct msd_option_row *first = NULL;

	for (const struct msd_option_row *o = msd_options; o->name != NULL; o++) {
		if (o->letter != letter)
			continue;
		if (verb != NULL && (o->needs & ~verb->options) == 0)
			return o;
		if (first == NULL)
			first = o;
	}
	return first;
}

/* getopt's table of the same options, with the letters of @verb. */
static void list_rows(const struct msd_verb *verb,
		      struct option ret[MSD_OPTIONS_MAX + 1])
{
	size_t n = 0;

	for (const struct msd_option_row *o = msd_options; o->name != NULL; o++, n++) {
		ret[n] = (struct option){
			.name = o->name,
			.has_arg = o->has_value ? required_argument : no_argument,
			.val = o->letter != 0 && owner_of(o->letter, verb) == o
				       ? o->letter
				       : MSD_ARGV_NO_LETTER + (int)n};
	}
	ret[n] = (struct option){0};
}

/* Find the verb in advance, because it may follow its options. NULL: none. */
static const struct msd_verb *verb_of(int argc, char **argv, const struct option *rows)
{
	struct msd_argv line;
	const char *value;
	int val;

	msd_argv_start(&line, argc, argv, rows, msd_word_is_number);
	do {
		val = msd_argv_next(&line, &value);
	} while (val != MSD_ARGV_WORD && val != MSD_ARGV_END);
	return val == MSD_ARGV_WORD ? msd_verb_find(value) : NULL;
}

static const struct msd_option_row *row_of(const struct option *rows, int val)
{
	size_t i = 0;

	while (rows[i].val != val)
		i++;
	return &msd_options[i];
}

static enum msd_exit apply(const struct msd_option_row *o, struct msd_cli *cli,
			   const char *value)
{
	void *field = (char *)cli + o->field;

	if (o->apply != NULL)
		return o->apply(cli, value);
	if (o->has_value) {
		*(const char **)field = value;
	} else {
		*(bool *)field = true;
	}
	return MSD_EXIT_OK;
}

/* Options on the command line that the verb does not take. */
struct seen {
	unsigned needs;
	const char *word;
	const struct msd_verb *verb; /* defines the letters; NULL: no verb */
};

static enum msd_exit check_words(const struct msd_cli *cli, const char *hint)
{
	const struct msd_verb *v = cli->verb;
	const bool too_few = cli->n_words < v->min_words;
	const size_t bound = too_few ? v->min_words : v->max_words;

	if (!too_few && cli->n_words <= v->max_words)
		return MSD_EXIT_OK;
	if (bound == 0) {
		return msd_report_usage(hint, "%s takes no words, %zu given", v->name,
					cli->n_words);
	}
	return msd_report_usage(hint, "%s takes %s%zu word%s, %zu given", v->name,
				v->min_words == v->max_words ? ""
				: too_few                    ? "at least "
							     : "at most ",
				bound, bound == 1 ? "" : "s", cli->n_words);
}

static enum msd_exit check_verb(const struct msd_cli *cli, const struct seen *seen)
{
	const struct msd_verb *v = cli->verb;
	char hint[256];

	if (cli->wants_help || cli->wants_version)
		return MSD_EXIT_OK;
	if (v == NULL) {
		return msd_report_usage("`modser help` lists the verbs",
					"a verb is missing");
	}
	const int n = snprintf(hint, sizeof(hint), "modser %s%s%s", v->name,
			       v->synopsis[0] != '\0' ? " " : "", v->synopsis);
	if (n >= (int)sizeof(hint)) {
		(void)snprintf(hint, sizeof(hint), "see `modser help %s`", v->name);
	}
	if ((seen->needs & ~v->options) != 0) {
		return msd_report_usage(hint, "%s does not have the option %s", v->name,
					seen->word);
	}
	if (cli->split_names == MSD_SPLIT_AS_TVM && cli->split == NULL) {
		return msd_report_usage(hint, "--tvm-names needs --split-params FILE");
	}
	return check_words(cli, hint);
}

static enum msd_exit take_word(const char *word, struct msd_cli *cli)
{
	if (cli->verb != NULL) {
		cli->words[cli->n_words++] = word;
		return MSD_EXIT_OK;
	}
	cli->verb = msd_verb_find(word);
	return cli->verb != NULL ? MSD_EXIT_OK : msd_report_verb(word);
}

/* @word is not an option: suggest an option of @verb, or of any verb. */
static enum msd_exit refuse_unknown(const struct msd_verb *verb, const char *word)
{
	const size_t dashes = strspn(word, "-");
	const size_t n = strcspn(word + dashes, "=");
	struct msd_spelling near;
	char hint[128];

	msd_spelling_start(&near, (struct msd_span){(const uint8_t *)word + dashes, n});
	for (const struct msd_option_row *o = msd_options; o->name != NULL; o++) {
		if (!o->is_former && (verb == NULL || (o->needs & ~verb->options) == 0))
			msd_spelling_look(&near, msd_span_of(o->name));
	}
	(void)snprintf(hint, sizeof(hint), "`modser %s%s--help` lists the options%s",
		       verb != NULL ? verb->name : "", verb != NULL ? " " : "",
		       verb != NULL && (verb->options & TAKES_ARGUMENTS) != 0
			       ? "; a text argument is written str:TEXT"
			       : "");
	return msd_report_usage(hint, "unknown option %s%s%.*s%s", word,
				near.best.n > 0 ? "; did you mean --" : "",
				(int)near.best.n, (const char *)near.best.p,
				near.best.n > 0 ? "?" : "");
}

/* Apply what msd_argv_next() returned as @val and @value; @word is the word that
 * contains it. */
static enum msd_exit take(struct msd_cli *cli, struct seen *seen,
			  const struct option *rows, int val, const char *value,
			  const char *word)
{
	switch (val) {
	case MSD_ARGV_WORD:
		return take_word(value, cli);
	case MSD_ARGV_UNKNOWN:
		return refuse_unknown(seen->verb, value);
	case MSD_ARGV_NO_VALUE:
		return msd_report_usage(NULL, "option %s needs a value", value);
	default:
		break;
	}
	const struct msd_option_row *o = row_of(rows, val);
	if (o->needs != 0) {
		seen->needs |= o->needs;
		seen->word = word;
	}
	return apply(o, cli, value);
}

enum msd_exit msd_args_parse(int argc, char **argv, struct msd_cli *ret)
{
	struct option rows[MSD_OPTIONS_MAX + 1];
	struct msd_argv line;
	struct seen seen = {0};
	size_t most = (size_t)argc + 1;
	enum msd_exit code = MSD_EXIT_OK;

	*ret = (struct msd_cli){.words = calloc(most, sizeof(char *)),
				.plugins = calloc(most, sizeof(char *)),
				.with = calloc(most, sizeof(char *)),
				.libraries = calloc(most, sizeof(char *)),
				.outputs = calloc(most, sizeof(char *))};
	if (ret->words == NULL || ret->plugins == NULL || ret->with == NULL ||
	    ret->libraries == NULL || ret->outputs == NULL)
		return msd_report_no_memory();
	list_rows(NULL, rows);
	seen.verb = verb_of(argc, argv, rows);
	list_rows(seen.verb, rows);
	msd_argv_start(&line, argc, argv, rows, msd_word_is_number);
	while (code == MSD_EXIT_OK) {
		const char *word = msd_argv_peek(&line);
		const char *value;
		const int val = msd_argv_next(&line, &value);

		if (val == MSD_ARGV_END)
			return check_verb(ret, &seen);
		code = take(ret, &seen, rows, val, value, word);
	}
	return code;
}

void msd_args_finish(struct msd_cli *cli)
{
	free(cli->words);
	free(cli->plugins);
	free(cli->with);
	free(cli->libraries);
	free(cli->outputs);
}

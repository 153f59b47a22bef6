/*
 * The command line of modser, by the table of options below and that of verbs in
 * main.c.
 *
 * Happy path: msd_argv_next() gives words and options in their order; the first word is
 * the verb, an option's value is kept in its field or handed to its function; at the
 * end the verb says whether the words are as many as it takes and the options its own.
 */
#include "client/cli/args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/report.h"
#include "client/cli/word.h"
#include "proto/argv.h"
#include "proto/dtype.h"
#include "proto/duration.h"

/* What an option does beyond keeping its value; @value is NULL for one without. */
typedef enum msd_exit (*apply_fn)(struct msd_cli *cli, const char *value);

static enum msd_exit apply_json(struct msd_cli *cli, const char *value)
{
	(void)value;
	cli->json = true;
	msd_report_as_json();
	return MSD_EXIT_OK;
}

static enum msd_exit apply_workers(struct msd_cli *cli, const char *value)
{
	if (msd_argv_count(value, &cli->workers))
		return MSD_EXIT_OK;
	return msd_report_usage("give the number of worker processes, such as 2",
				"--workers %s: not a number of at least 1", value);
}

static enum msd_exit apply_tail(struct msd_cli *cli, const char *value)
{
	cli->has_tail = true;
	if (strcmp(value, "0") == 0 || msd_argv_count(value, &cli->tail))
		return MSD_EXIT_OK;
	return msd_report_usage("give the number of lines, such as 20",
				"--tail %s: not a number", value);
}

/* The option had this name: an unknown one would not be told the new word. */
static enum msd_exit refuse_instances(struct msd_cli *cli, const char *value)
{
	(void)cli;
	return msd_report_usage("an instance is what `modser instance` runs",
				"--instances %s: say --workers %s", value, value);
}

static enum msd_exit apply_device(struct msd_cli *cli, const char *value)
{
	struct msd_device device;

	if (!msd_device_parse(value, strlen(value), &device)) {
		return msd_report_usage("`modser devices` lists them",
					"--device %s: not a device such as cpu or "
					"opencl:0",
					value);
	}
	cli->device = value;
	return MSD_EXIT_OK;
}

static enum msd_exit apply_era(struct msd_cli *cli, const char *value)
{
	const struct msd_span word = {(const uint8_t *)value, strlen(value)};

	if (!msd_era_word_parse(word, &cli->era)) {
		return msd_report_usage("it is the calling convention of TVM's release",
					"--era %s: expected " MSD_ERA_WORDS, value);
	}
	return MSD_EXIT_OK;
}

static enum msd_exit apply_fill(struct msd_cli *cli, const char *value)
{
	const struct msd_span word = {(const uint8_t *)value, strlen(value)};

	if (!msd_fill_word_parse(word, &cli->fill)) {
		return msd_report_usage("it stands for weights that a file lacks",
					"--fill %s: expected " MSD_FILL_WORDS, value);
	}
	return MSD_EXIT_OK;
}

static enum msd_exit apply_mlf_version(struct msd_cli *cli, const char *value)
{
	if (strcmp(value, "5") != 0 && strcmp(value, "7") != 0) {
		return msd_report_usage("5 is TVM 0.8's, 7 that of 0.9 to 0.18",
					"--mlf-version %s: 5 and 7 can be written",
					value);
	}
	cli->mlf_version = (unsigned)(value[0] - '0');
	return MSD_EXIT_OK;
}

static enum msd_exit apply_tvm_names(struct msd_cli *cli, const char *value)
{
	(void)value;
	cli->split_names = MSD_SPLIT_AS_TVM;
	return MSD_EXIT_OK;
}

static enum msd_exit apply_will_run(struct msd_cli *cli, const char *value)
{
	cli->will_run = true;
	cli->host = value;
	return MSD_EXIT_OK;
}

static enum msd_exit apply_output(struct msd_cli *cli, const char *value)
{
	cli->outputs[cli->n_outputs++] = value;
	return MSD_EXIT_OK;
}

static enum msd_exit apply_plugin(struct msd_cli *cli, const char *value)
{
	cli->plugins[cli->n_plugins++] = value;
	return MSD_EXIT_OK;
}

static enum msd_exit apply_with(struct msd_cli *cli, const char *value)
{
	cli->with[cli->n_with++] = value;
	return MSD_EXIT_OK;
}

static enum msd_exit read_time(const char *option, const char *value, uint32_t *ret_ms)
{
	struct msd_diag d = {0};
	uint64_t ms = 0;
	enum msd_exit code = MSD_EXIT_OK;

	if (msd_duration_parse(value, &ms, &d) != MSD_OK) {
		code = msd_report_usage("give a time with its unit, such as 500ms",
					"%s %s", option, msd_diag_text(&d));
	} else if (ms == 0 || ms > UINT32_MAX) {
		code = msd_report_usage("give a time such as 500ms, 5s, 1m",
					"%s %s: not a time above 0 and below 49 days",
					option, value);
	}
	msd_diag_finish(&d);
	*ret_ms = (uint32_t)ms;
	return code;
}

static enum msd_exit apply_deadline(struct msd_cli *cli, const char *value)
{
	return read_time("--deadline", value, &cli->deadline_ms);
}

static enum msd_exit apply_connect(struct msd_cli *cli, const char *value)
{
	return read_time("--connect-timeout", value, &cli->connect_ms);
}

static enum msd_exit apply_bench_time(struct msd_cli *cli, const char *value)
{
	return read_time("--time", value, &cli->time_ms);
}

static enum msd_exit read_count(const char *option, const char *value, uint32_t *ret)
{
	if (msd_argv_count(value, ret))
		return MSD_EXIT_OK;
	return msd_report_usage("give a number, such as 4",
				"%s %s: not a number of at least 1", option, value);
}

static enum msd_exit apply_connections(struct msd_cli *cli, const char *value)
{
	return read_count("--connections", value, &cli->connections);
}

static enum msd_exit apply_depth(struct msd_cli *cli, const char *value)
{
	return read_count("--depth", value, &cli->depth);
}

#define AT(field) offsetof(struct msd_cli, field)
static const struct row {
	const char *name;
	apply_fn apply; /* or NULL: */
	size_t field;   /* of struct msd_cli, a text with has_value, else a flag */
	unsigned needs; /* enum msd_option; 0: every verb takes it */
	char letter;    /* 0: none */
	bool has_value;
} options[] = {
	{"host", NULL, AT(host), 0, 'H', true},
	{"token-file", NULL, AT(token_file), 0, 0, true},
	{"json", apply_json, 0, 0, 0, false},
	{"deadline", apply_deadline, 0, 0, 0, true},
	{"connect-timeout", apply_connect, 0, 0, 0, true},
	{"help", NULL, AT(wants_help), 0, 'h', false},
	{"version", NULL, AT(wants_version), 0, 'V', false},
	{"plugin", apply_plugin, 0, 0, 0, true},
	{"output", apply_output, 0, MSD_OPT_OUTPUT, 'o', true},
	{"directory", NULL, AT(dir), MSD_OPT_DIR, 'd', true},
	{"dot", NULL, AT(dot), MSD_OPT_INSPECT, 0, false},
	{"dump", NULL, AT(dump), MSD_OPT_INSPECT, 0, false},
	{"vm", NULL, AT(vm), MSD_OPT_INSPECT, 0, false},
	{"will-run-on", apply_will_run, 0, MSD_OPT_INSPECT, 0, true},
	{"cc", NULL, AT(cc), MSD_OPT_BUILD, 0, true},
	{"symbol-prefix", NULL, AT(prefix), MSD_OPT_BUILD, 0, true},
	{"split-params", NULL, AT(split), MSD_OPT_SPLIT, 0, true},
	{"tvm-names", apply_tvm_names, 0, MSD_OPT_SPLIT, 0, false},
	{"system-lib", NULL, AT(system_library), MSD_OPT_BUILD, 0, false},
	{"replace", NULL, AT(replace), MSD_OPT_LOAD, 0, false},
	{"keep", NULL, AT(keep), MSD_OPT_LOAD, 0, false},
	{"tvm-inputs", NULL, AT(tvm_inputs), MSD_OPT_RUN, 0, false},
	{"workers", apply_workers, 0, MSD_OPT_RUN, 0, true},
	{"instances", refuse_instances, 0, MSD_OPT_RUN, 0, true},
	{"device", apply_device, 0, MSD_OPT_DEVICE, 0, true},
	{"header", NULL, AT(header), MSD_OPT_TABLE, 0, false},
	{"long", NULL, AT(is_long), MSD_OPT_LONG, 'l', false},
	{"doc", NULL, AT(doc), MSD_OPT_DOC, 0, false},
	{"follow", NULL, AT(follow), MSD_OPT_LOGS, 'f', false},
	{"tail", apply_tail, 0, MSD_OPT_LOGS, 0, true},
	{"connections", apply_connections, 0, MSD_OPT_BENCH, 'c', true},
	{"depth", apply_depth, 0, MSD_OPT_BENCH, 0, true},
	{"time", apply_bench_time, 0, MSD_OPT_BENCH, 0, true},
	{"era", apply_era, 0, MSD_OPT_ERA, 0, true},
	{"fill", apply_fill, 0, MSD_OPT_RUN, 0, true},
	{"graph", NULL, AT(graph), MSD_OPT_GRAPH, 0, true},
	{"params", NULL, AT(params), MSD_OPT_PARAMS, 0, true},
	{"sha256", NULL, AT(sha256), MSD_OPT_PULL, 0, true},
	{"manifest", NULL, AT(manifest), MSD_OPT_PUSH, 0, true},
	{"sign", NULL, AT(sign), MSD_OPT_PUSH, 0, true},
	{"with", apply_with, 0, MSD_OPT_WITH, 0, true},
	{"name", NULL, AT(model), MSD_OPT_CONVERT, 0, true},
	{"mlf-version", apply_mlf_version, 0, MSD_OPT_CONVERT, 0, true},
};
#undef AT
#define N_OPTIONS (sizeof(options) / sizeof(options[0]))

bool msd_args_option(size_t i, struct msd_option_row *ret)
{
	if (i >= N_OPTIONS)
		return false;
	*ret = (struct msd_option_row){options[i].name, options[i].needs,
				       options[i].letter, options[i].has_value};
	return true;
}

/* getopt's table of the same options. */
static void list_rows(struct option ret[N_OPTIONS + 1])
{
	for (size_t i = 0; i < N_OPTIONS; i++) {
		ret[i] = (struct option){
			.name = options[i].name,
			.has_arg =
				options[i].has_value ? required_argument : no_argument,
			.val = options[i].letter != 0 ? options[i].letter
						      : MSD_ARGV_NO_LETTER + (int)i};
	}
	ret[N_OPTIONS] = (struct option){0};
}

static const struct row *row_of(const struct option *rows, int val)
{
	size_t i = 0;

	while (rows[i].val != val)
		i++;
	return &options[i];
}

static enum msd_exit apply(const struct row *o, struct msd_cli *cli, const char *value)
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

/* What the command line asks for that its verb does not have. */
struct seen {
	unsigned needs;
	const char *word;
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
	(void)snprintf(hint, sizeof(hint), "modser %s%s%s", v->name,
		       v->synopsis[0] != '\0' ? " " : "", v->synopsis);
	if ((seen->needs & ~v->options) != 0) {
		return msd_report_usage(hint, "%s does not take the option %s", v->name,
					seen->word);
	}
	if (cli->split_names == MSD_SPLIT_AS_TVM && cli->split == NULL) {
		return msd_report_usage(hint,
					"--tvm-names names the weights that "
					"--split-params FILE writes: give that, too");
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

/* What msd_argv_next() gave as @val and @value; @word is where it stands. */
static enum msd_exit take(struct msd_cli *cli, struct seen *seen,
			  const struct option *rows, int val, const char *value,
			  const char *word)
{
	switch (val) {
	case MSD_ARGV_WORD:
		return take_word(value, cli);
	case MSD_ARGV_UNKNOWN:
		return msd_report_usage(
			"see `modser help`; a text argument is written str:TEXT",
			"unknown option %s", value);
	case MSD_ARGV_NO_VALUE:
		return msd_report_usage(NULL, "option %s needs a value", value);
	default:
		break;
	}
	const struct row *o = row_of(rows, val);
	if (o->needs != 0) {
		seen->needs |= o->needs;
		seen->word = word;
	}
	return apply(o, cli, value);
}

enum msd_exit msd_args_parse(int argc, char **argv, struct msd_cli *ret)
{
	struct option rows[N_OPTIONS + 1];
	struct msd_argv line;
	struct seen seen = {0};
	size_t most = (size_t)argc + 1;
	enum msd_exit code = MSD_EXIT_OK;

	*ret = (struct msd_cli){.words = calloc(most, sizeof(char *)),
				.plugins = calloc(most, sizeof(char *)),
				.with = calloc(most, sizeof(char *)),
				.outputs = calloc(most, sizeof(char *))};
	if (ret->words == NULL || ret->plugins == NULL || ret->with == NULL ||
	    ret->outputs == NULL)
		return msd_report_no_memory();
	list_rows(rows);
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
	free(cli->outputs);
}

#include "client/cli/args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/report.h"
#include "client/cli/word.h"
#include "proto/dtype.h"

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
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end != '\0' || n < 1 || n > UINT32_MAX)
		return msd_report_usage(
			"give the number of worker processes, such as 2",
			"--workers %s: not a number of at least 1", value);
	cli->workers = (uint32_t)n;
	return MSD_EXIT_OK;
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

	if (!msd_device_parse(value, strlen(value), &device))
		return msd_report_usage("`modser devices` lists them",
					"--device %s: not a device such as cpu or "
					"opencl:0",
					value);
	cli->device = value;
	return MSD_EXIT_OK;
}

static enum msd_exit apply_mlf_version(struct msd_cli *cli, const char *value)
{
	if (strcmp(value, "5") != 0 && strcmp(value, "7") != 0)
		return msd_report_usage("5 is TVM 0.8's, 7 that of 0.9 to 0.18",
					"--mlf-version %s: 5 and 7 can be written",
					value);
	cli->mlf_version = (unsigned)(value[0] - '0');
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

/* "2", "0.5", "2s", "500ms", "1m", "1h" */
static enum msd_exit apply_deadline(struct msd_cli *cli, const char *value)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = {{"", 1e3}, {"s", 1e3}, {"ms", 1}, {"m", 6e4}, {"h", 3.6e6}};
	size_t digits = strspn(value, "0123456789.");
	char *end;
	double number = strtod(value, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double ms = ceil(number * units[i].ms);

		if (digits == 0 || end != value + digits ||
		    strcmp(end, units[i].unit) != 0 || !(ms >= 1) || ms > UINT32_MAX)
			continue;
		cli->deadline_ms = (uint32_t)ms;
		return MSD_EXIT_OK;
	}
	return msd_report_usage("give a time such as 2, 0.5, 500ms, 1m",
				"--deadline %s: not a time above 0 and below 49 days",
				value);
}

#define AT(field) offsetof(struct msd_cli, field)
static const struct option {
	const char *name;
	apply_fn apply; /* or NULL: */
	size_t field;   /* of struct msd_cli, a text with has_value, else a flag */
	unsigned needs; /* enum msd_option; 0: every verb takes it */
	char letter;    /* 0: none */
	bool has_value;
} options[] = {
	{"host", NULL, AT(host), 0, 'H', true},
	{"json", apply_json, 0, 0, 0, false},
	{"deadline", apply_deadline, 0, 0, 0, true},
	{"help", NULL, AT(wants_help), 0, 'h', false},
	{"version", NULL, AT(wants_version), 0, 'V', false},
	{"output", apply_output, 0, MSD_OPT_OUTPUT, 'o', true},
	{"directory", NULL, AT(dir), MSD_OPT_DIR, 'd', true},
	{"dot", NULL, AT(dot), MSD_OPT_INSPECT, 0, false},
	{"vm", NULL, AT(vm), MSD_OPT_INSPECT, 0, false},
	{"will-run-on", apply_will_run, 0, MSD_OPT_INSPECT, 0, true},
	{"cc", NULL, AT(cc), MSD_OPT_BUILD, 0, true},
	{"symbol-prefix", NULL, AT(prefix), MSD_OPT_BUILD, 0, true},
	{"split-params", NULL, AT(split), MSD_OPT_SPLIT, 0, true},
	{"system-lib", NULL, AT(system_library), MSD_OPT_BUILD, 0, false},
	{"replace", NULL, AT(replace), MSD_OPT_LOAD, 0, false},
	{"workers", apply_workers, 0, MSD_OPT_LOAD, 0, true},
	{"instances", refuse_instances, 0, MSD_OPT_LOAD, 0, true},
	{"device", apply_device, 0, MSD_OPT_DEVICE, 0, true},
	{"graph", NULL, AT(graph), MSD_OPT_GRAPH, 0, true},
	{"params", NULL, AT(params), MSD_OPT_GRAPH, 0, true},
	{"name", NULL, AT(model), MSD_OPT_CONVERT, 0, true},
	{"mlf-version", apply_mlf_version, 0, MSD_OPT_CONVERT, 0, true},
};
#undef AT
#define N_OPTIONS (sizeof(options) / sizeof(options[0]))

/* The option that @word is, and the value that stands in the same word, or NULL. */
static const struct option *find_option(const char *word, const char **ret_value)
{
	*ret_value = NULL;
	for (size_t i = 0; i < N_OPTIONS; i++) {
		const struct option *o = &options[i];
		size_t n = strlen(o->name);

		if (word[1] == '-' && strncmp(word + 2, o->name, n) == 0) {
			if (word[2 + n] == '\0')
				return o;
			if (word[2 + n] == '=' && o->has_value) {
				*ret_value = word + 3 + n;
				return o;
			}
		}
		if (o->letter != 0 && word[1] == o->letter) {
			if (word[2] == '\0')
				return o;
			if (o->has_value) {
				*ret_value = word + 2;
				return o;
			}
		}
	}
	return NULL;
}

static enum msd_exit apply(const struct option *o, struct msd_cli *cli,
			   const char *value)
{
	void *field = (char *)cli + o->field;

	if (o->apply != NULL)
		return o->apply(cli, value);
	if (o->has_value)
		*(const char **)field = value;
	else
		*(bool *)field = true;
	return MSD_EXIT_OK;
}

/* What the command line asks for that its verb does not have. */
struct seen {
	unsigned needs;
	const char *word;
};

static enum msd_exit parse_option(int argc, char **argv, int *i, struct msd_cli *cli,
				  struct seen *seen)
{
	const char *word = argv[*i];
	const char *value;
	const struct option *o = find_option(word, &value);

	if (o == NULL)
		return msd_report_usage(
			"see `modser help`; a text argument is written str:TEXT",
			"unknown option %s", word);
	if (o->has_value && value == NULL) {
		if (*i + 1 >= argc)
			return msd_report_usage(NULL, "option %s needs a value", word);
		value = argv[++*i];
	}
	if (o->needs != 0) {
		seen->needs |= o->needs;
		seen->word = word;
	}
	return apply(o, cli, value);
}

static enum msd_exit check_words(const struct msd_cli *cli, const char *hint)
{
	const struct msd_verb *v = cli->verb;
	const bool too_few = cli->n_words < v->min_words;
	const size_t bound = too_few ? v->min_words : v->max_words;

	if (!too_few && cli->n_words <= v->max_words)
		return MSD_EXIT_OK;
	if (bound == 0)
		return msd_report_usage(hint, "%s takes no words, %zu given", v->name,
					cli->n_words);
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
	if (v == NULL)
		return msd_report_usage("`modser help` lists the verbs",
					"a verb is missing");
	(void)snprintf(hint, sizeof(hint), "modser %s%s%s", v->name,
		       v->synopsis[0] != '\0' ? " " : "", v->synopsis);
	if ((seen->needs & ~v->options) != 0)
		return msd_report_usage(hint, "%s does not take the option %s", v->name,
					seen->word);
	return check_words(cli, hint);
}

static enum msd_exit take_word(const char *word, struct msd_cli *cli)
{
	if (cli->verb != NULL) {
		cli->words[cli->n_words++] = word;
		return MSD_EXIT_OK;
	}
	for (const struct msd_verb *v = msd_verbs; v->name != NULL; v++)
		if (strcmp(v->name, word) == 0) {
			cli->verb = v;
			return MSD_EXIT_OK;
		}
	return msd_report_verb(word);
}

enum msd_exit msd_args_parse(int argc, char **argv, struct msd_cli *ret)
{
	struct seen seen = {0};
	bool only_words = false;
	size_t most = (size_t)argc + 1;

	*ret = (struct msd_cli){.words = calloc(most, sizeof(char *)),
				.outputs = calloc(most, sizeof(char *))};
	if (ret->words == NULL || ret->outputs == NULL)
		return msd_report_no_memory();
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		enum msd_exit code;

		if (!only_words && strcmp(word, "--") == 0) {
			only_words = true;
			continue;
		}
		if (only_words || word[0] != '-' || word[1] == '\0' ||
		    msd_word_is_number(word))
			code = take_word(word, ret);
		else
			code = parse_option(argc, argv, &i, ret, &seen);
		if (code != MSD_EXIT_OK)
			return code;
	}
	return check_verb(ret, &seen);
}

void msd_args_finish(struct msd_cli *cli)
{
	free(cli->words);
	free(cli->outputs);
}

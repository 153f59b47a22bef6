/* Applies each option of modser: most store their value in a field of struct msd_cli,
 * some check it first. A wrong value is reported here, with the expected form. */
#include "client/cli/options.h"

#include <string.h>

#include "client/cli/run_option.h"
#include "client/cli/verbs/report.h"
#include "proto/base/argv.h"
#include "proto/base/duration.h"
#include "proto/words/run_options.h"

static enum msd_exit apply_json(struct msd_cli *cli, const char *value)
{
	(void)value;
	cli->json = true;
	msd_report_as_json();
	return MSD_EXIT_OK;
}

#define APPLY_RUN(NAME, ...)                                                           \
	static enum msd_exit apply_##NAME(struct msd_cli *cli, const char *value)      \
	{                                                                              \
		return msd_run_option_apply(cli, MSD_RUN_##NAME##_KEY, value);         \
	}
MSD_RUN_CLIENT_KEY_MAP(APPLY_RUN)
#undef APPLY_RUN

static enum msd_exit apply_tail(struct msd_cli *cli, const char *value)
{
	cli->has_tail = true;
	if (strcmp(value, "0") == 0 || msd_argv_count(value, &cli->tail))
		return MSD_EXIT_OK;
	return msd_report_usage("give the number of lines, such as 20",
				"--tail %s: not a number", value);
}

static enum msd_exit apply_mlf_version(struct msd_cli *cli, const char *value)
{
	if (strcmp(value, "5") != 0 && strcmp(value, "7") != 0) {
		return msd_report_usage("5 is for TVM 0.8, 7 for 0.9 to 0.18",
					"--mlf-version %s: expected 5 or 7", value);
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

/* Accept only a plain name, because a compiler may treat another word as an option. */
static enum msd_exit apply_library(struct msd_cli *cli, const char *value)
{
	const char *all = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			  "0123456789_.+-";

	if (value[0] == '\0' || value[strspn(value, all)] != '\0') {
		return msd_report_usage("give its name alone: -l m links with libm; a "
					"file (libx.a, x.o) is given as a FILE",
					"-l \"%s\" is not a library name", value);
	}
	cli->libraries[cli->n_libraries++] = value;
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

static enum msd_exit apply_priority(struct msd_cli *cli, const char *value)
{
	if (strcmp(value, "low") != 0 && strcmp(value, "normal") != 0) {
		return msd_report_usage("low lets all other calls of the module go "
					"first",
					"--priority %s: expected low or normal", value);
	}
	cli->background = strcmp(value, "low") == 0;
	return MSD_EXIT_OK;
}

static enum msd_exit apply_deadline(struct msd_cli *cli, const char *value)
{
	return read_time("--deadline", value, &cli->deadline_ms);
}

static enum msd_exit apply_connect(struct msd_cli *cli, const char *value)
{
	return read_time("--connect-timeout", value, &cli->connect_ms);
}

static enum msd_exit apply_retry(struct msd_cli *cli, const char *value)
{
	return read_time("--retry", value, &cli->retry_ms);
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

static enum msd_exit apply_every(struct msd_cli *cli, const char *value)
{
	return read_count("--every", value, &cli->every);
}

static enum msd_exit apply_connections(struct msd_cli *cli, const char *value)
{
	return read_count("--connections", value, &cli->connections);
}

static enum msd_exit apply_depth(struct msd_cli *cli, const char *value)
{
	return read_count("--depth", value, &cli->depth);
}

static enum msd_exit apply_rate(struct msd_cli *cli, const char *value)
{
	return read_count("--rate", value, &cli->rate);
}

#define AT(field) offsetof(struct msd_cli, field)
const struct msd_option_row msd_options[] = {
	{"host", NULL, AT(host), 0, 'H', true, false},
	{"token-file", NULL, AT(token_file), 0, 0, true, false},
	{"tls-ca", NULL, AT(tls_ca), 0, 0, true, false},
	{"tls-cert", NULL, AT(tls_cert), 0, 0, true, false},
	{"tls-key", NULL, AT(tls_key), 0, 0, true, false},
	{"json", apply_json, 0, 0, 0, false, false},
	{"deadline", apply_deadline, 0, 0, 0, true, false},
	{"connect-timeout", apply_connect, 0, 0, 0, true, false},
	{"help", NULL, AT(wants_help), 0, 'h', false, false},
	{"version", NULL, AT(wants_version), 0, 'V', false, false},
	{"plugin", apply_plugin, 0, 0, 0, true, false},
	{"output", apply_output, 0, MSD_OPT_OUTPUT, 'o', true, false},
	{"dir", NULL, AT(dir), MSD_OPT_DIR, 'C', true, false},
	{"dot", NULL, AT(dot), MSD_OPT_INSPECT, 0, false, false},
	{"dump", NULL, AT(dump), MSD_OPT_INSPECT, 0, false, false},
	{"plan", NULL, AT(plan), MSD_OPT_INSPECT, 0, false, false},
	{"vm", NULL, AT(vm), MSD_OPT_INSPECT, 0, false, false},
	{"check-daemon", apply_will_run, 0, MSD_OPT_INSPECT, 0, true, false},
	{"cc", NULL, AT(cc), MSD_OPT_BUILD, 0, true, false},
	{"library", apply_library, 0, MSD_OPT_LINK, 'l', true, false},
	{"symbol-prefix", NULL, AT(prefix), MSD_OPT_BUILD, 0, true, false},
	{"split-params", NULL, AT(split), MSD_OPT_SPLIT, 0, true, false},
	{"tvm-names", apply_tvm_names, 0, MSD_OPT_SPLIT, 0, false, false},
	{"system-lib", NULL, AT(system_library), MSD_OPT_BUILD, 0, false, false},
	{"replace", NULL, AT(replace), MSD_OPT_LOAD, 0, false, false},
	{"keep", NULL, AT(keep), MSD_OPT_LOAD, 0, false, false},
#define RUN_ROW(NAME, member, KIND, parameter, fronts, key, former, wire, field,       \
		verbs, placeholder, meaning)                                           \
	{key, apply_##NAME, 0, MSD_OPT_##verbs, 0, sizeof(placeholder) > 1, false},
	MSD_RUN_CLIENT_KEY_MAP(RUN_ROW)
#undef RUN_ROW
		{"kill-on-exit", NULL, AT(kill_on_exit), MSD_OPT_CALL, 0, false, false},
	{"retry", apply_retry, 0, MSD_OPT_RETRY, 0, true, false},
	{"idempotent", NULL, AT(idempotent), MSD_OPT_RETRY, 0, false, false},
	{"trace", NULL, AT(trace), MSD_OPT_TRACE, 0, false, false},
	{"priority", apply_priority, 0, MSD_OPT_TRACE, 0, true, false},
	{"header", NULL, AT(header), MSD_OPT_TABLE, 0, false, false},
	{"long", NULL, AT(is_long), MSD_OPT_LONG, 'l', false, false},
	{"doc", NULL, AT(doc), MSD_OPT_DOC, 0, false, false},
	{"follow", NULL, AT(follow), MSD_OPT_LOGS, 'f', false, false},
	{"tail", apply_tail, 0, MSD_OPT_LOGS, 0, true, false},
	{"once", NULL, AT(once), MSD_OPT_TOP, 0, false, false},
	{"every", apply_every, 0, MSD_OPT_MONITOR, 0, true, false},
	{"connections", apply_connections, 0, MSD_OPT_BENCH, 'c', true, false},
	{"depth", apply_depth, 0, MSD_OPT_BENCH, 0, true, false},
	{"rate", apply_rate, 0, MSD_OPT_BENCH, 0, true, false},
	{"time", apply_bench_time, 0, MSD_OPT_BENCH, 0, true, false},
	{"graph", NULL, AT(graph), MSD_OPT_GRAPH, 0, true, false},
	{"params", NULL, AT(params), MSD_OPT_PARAMS, 0, true, false},
	{"sha256", NULL, AT(sha256), MSD_OPT_PULL, 0, true, false},
	{"file", NULL, AT(file), MSD_OPT_PULL, 0, true, false},
	{"manifest", NULL, AT(manifest), MSD_OPT_PUSH, 0, true, false},
	{"sign", NULL, AT(sign), MSD_OPT_PUSH, 0, true, false},
	{"auth", NULL, AT(auth), MSD_OPT_PUSH, 0, true, false},
	{"realm", NULL, AT(realm), MSD_OPT_PUSH, 0, true, false},
	{"external-data", apply_with, 0, MSD_OPT_WITH, 0, true, false},
	{"name", NULL, AT(model), MSD_OPT_CONVERT, 0, true, false},
	{"mlf-version", apply_mlf_version, 0, MSD_OPT_CONVERT, 0, true, false},
	{"will-run-on", apply_will_run, 0, MSD_OPT_INSPECT, 0, true, true},
	{"tvm-inputs", apply_TVM_INPUTS, 0, MSD_OPT_RUN, 0, false, true},
	{"within", apply_BATCH_DELAY, 0, MSD_OPT_RUN, 0, true, true},
	{"era", apply_ABI, 0, MSD_OPT_ERA, 0, true, true},
	{"fill", apply_FILL, 0, MSD_OPT_RUN, 0, true, true},
	{"with", apply_with, 0, MSD_OPT_WITH, 0, true, true},
	{"background", NULL, AT(background), MSD_OPT_TRACE, 0, false, true},
	{"instances", apply_WORKERS, 0, MSD_OPT_RUN, 0, true, true},
	{"d", NULL, AT(dir), MSD_OPT_DIR, 'd', true, true},
	{"d", apply_depth, 0, MSD_OPT_BENCH, 'd', true, true},
	{NULL, NULL, 0, 0, 0, false, false},
};
#undef AT

_Static_assert(sizeof(msd_options) / sizeof(msd_options[0]) - 1 <= MSD_OPTIONS_MAX,
	       "MSD_OPTIONS_MAX is below the number of options");

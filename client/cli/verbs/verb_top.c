/*
 * top: shows the current activity of the modules.
 *
 * Happy path: the daemon's metrics are read every second. The difference between two
 * readings is shown, one line a module; with --once the totals since the start.
 * Failures: the verb ends if the daemon is gone; unknown samples are skipped.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/session.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"
#include "proto/base/bytes.h"
#include "proto/limits.h"

#define EVERY_MS 1000

enum figure { CALLS, ERRORS, RUN_NS, RUNS, READY, WORKERS, OPEN, QUEUED, SENT, RSS, N };

/* Figures of a module in one reading. */
struct line {
	char name[MSD_MAX_NAME_BYTES + 1];
	int64_t figures[N];
};

/* Samples that are added to a figure of the module in their label. */
static const struct {
	const char *family; /* with the start of the label */
	const char *tail;   /* required rest of the labels; NULL: any */
	enum figure figure;
	double factor;
} families[] = {
	{"modserd_calls_total{module=\"", "\",code=\"OK\"}", CALLS, 1},
	{"modserd_calls_total{module=\"", NULL, ERRORS, 1},
	{"modserd_call_stage_seconds_sum{module=\"", "\",stage=\"run\"}", RUN_NS, 1e9},
	{"modserd_call_stage_seconds_count{module=\"", "\",stage=\"run\"}", RUNS, 1},
	{"modserd_module_ready{module=\"", NULL, READY, 1},
	{"modserd_module_workers{module=\"", NULL, WORKERS, 1},
	{"modserd_module_workers_open{module=\"", NULL, OPEN, 1},
	{"modserd_module_queued_requests{module=\"", NULL, QUEUED, 1},
	{"modserd_module_sent_requests{module=\"", NULL, SENT, 1},
	{"modserd_worker_resident_memory_bytes{module=\"", NULL, RSS, 1},
};

static struct line *lines_of(const struct msd_buf *b)
{
	return (struct line *)(void *)b->p;
}

static size_t count(const struct msd_buf *b)
{
	return b->n / sizeof(struct line);
}

static struct line *find(const struct msd_buf *b, const char *name)
{
	for (size_t i = 0; i < count(b); i++) {
		if (strcmp(lines_of(b)[i].name, name) == 0)
			return &lines_of(b)[i];
	}
	return NULL;
}

/* Modules are sorted by name, so the wanted one is nearly always the last. */
static struct line *find_or_add(struct msd_buf *b, const char *name)
{
	struct line new = {0};
	struct line *found = count(b) > 0 ? &lines_of(b)[count(b) - 1] : NULL;

	if (found == NULL || strcmp(found->name, name) != 0)
		found = find(b, name);
	if (found != NULL)
		return found;
	(void)snprintf(new.name, sizeof(new.name), "%s", name);
	msd_buf_put(b, &new, sizeof(new));
	return b->bad ? NULL : &lines_of(b)[count(b) - 1];
}

/* An error that the caller can avoid is no error of the module. */
static bool is_callers(const char *sample)
{
	static const char key[] = ",code=\"";
	const char *at = strstr(sample, key);
	char name[32] = "";

	return at != NULL && sscanf(at + sizeof(key) - 1, "%31[A-Z_]", name) == 1 &&
	       msd_err_is_callers(msd_err_from_name(name));
}

/* Parse `NAME",...} VALUE`; terminates the name in place. */
static void take(struct msd_buf *lines, char *at, size_t family)
{
	char *end = strchr(at, '"');
	const char *value = strrchr(at, ' ');
	struct line *line;

	if (end == NULL || value == NULL || end == at)
		return;
	*end = '\0';
	line = find_or_add(lines, at);
	if (line != NULL) {
		line->figures[families[family].figure] +=
			(int64_t)(strtod(value, NULL) * families[family].factor);
	}
}

static void take_sample(struct msd_buf *lines, char *sample)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		const size_t n = strlen(families[i].family);
		if (strncmp(sample, families[i].family, n) != 0 ||
		    (families[i].tail != NULL &&
		     strstr(sample, families[i].tail) == NULL))
			continue;
		if (families[i].figure == ERRORS && is_callers(sample))
			return;
		take(lines, sample + n, i);
		return;
	}
}

static enum msd_exit report_no_text(void)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, MSD_PROTOCOL,
			   "server.metrics: the daemon's answer is not a text");
	return msd_report_diag(MSD_EXIT_REMOTE, "is it modserd? see `modser info`", &d);
}

static enum msd_exit read_lines(const struct msd_cli *cli, modser_client *client,
				struct msd_buf *ret)
{
	modser_result *result = NULL;
	const modser_options options = {.deadline_ms = cli->deadline_ms};
	enum msd_exit code = MSD_EXIT_OK;

	if (modser_request(client, "server.metrics", NULL, 0, &options, &result) !=
	    MODSER_OK)
		code = msd_report_result(client, result);
	const modser_value *text =
		code == MSD_EXIT_OK ? modser_result_value(result) : NULL;
	if (text != NULL && text->kind != MODSER_STR) {
		modser_result_free(result);
		return report_no_text();
	}
	char *samples = text != NULL ? strdup(text->as.str.p) : NULL;
	char *rest = samples, *sample;
	while (rest != NULL && (sample = strsep(&rest, "\n")) != NULL)
		take_sample(ret, sample);
	free(samples);
	modser_result_free(result);
	return code == MSD_EXIT_OK && (samples == NULL || ret->bad)
		       ? msd_report_no_memory()
		       : code;
}

/* Keys and figures of a line; the first three are differences to the last reading. */
#define PAIRS 10u
static void fill(modser_value *pairs, const struct line *now, const struct line *before)
{
	int64_t new[RUNS + 1];

	for (unsigned i = 0; i <= RUNS; i++) {
		new[i] = now->figures[i] - (before != NULL ? before->figures[i] : 0);
		if (new[i] < 0) /* the counter was reset */
			new[i] = now->figures[i];
	}
	const modser_value all[2 * PAIRS] = {
		modser_str("module"),
		modser_str(now->name),
		modser_str("ready"),
		modser_int(now->figures[READY]),
		modser_str("workers"),
		modser_int(now->figures[WORKERS]),
		modser_str("open"),
		modser_int(now->figures[OPEN]),
		modser_str("queued"),
		modser_int(now->figures[QUEUED]),
		modser_str("sent"),
		modser_int(now->figures[SENT]),
		modser_str("calls"),
		modser_int(new[CALLS]),
		modser_str("errors"),
		modser_int(new[ERRORS]),
		modser_str("run_ns"),
		modser_int(new[RUNS] > 0 ? new[RUN_NS] / new[RUNS] : 0),
		modser_str("rss_bytes"),
		modser_int(now->figures[RSS])};
	memcpy(pairs, all, sizeof(all));
}

static enum msd_exit show(const struct msd_cli *cli, const struct msd_buf *now,
			  const struct msd_buf *before)
{
	const size_t n = count(now);
	modser_value *pairs = calloc(n + 1, 2 * PAIRS * sizeof(*pairs));
	modser_value *maps = calloc(n + 1, sizeof(*maps));
	size_t shown = 0;

	for (size_t i = 0; pairs != NULL && maps != NULL && i < n; i++) {
		const struct line *line = &lines_of(now)[i];
		modser_value *its = &pairs[shown * 2 * PAIRS];
		if (line->figures[WORKERS] == 0)
			continue; /* calls without a module */
		fill(its, line, find(before, line->name));
		maps[shown++] = (modser_value){.kind = MODSER_MAP,
					       .as.tuple = {.item = its, .n = PAIRS}};
	}
	if (pairs != NULL && maps != NULL) {
		const modser_value list = {.kind = MODSER_TUPLE,
					   .as.tuple = {.item = maps, .n = shown}};
		msd_session_print_value(cli, &list);
	}
	free(maps);
	free(pairs);
	return maps != NULL && pairs != NULL ? MSD_EXIT_OK : msd_report_no_memory();
}

/* Clear the screen for people; in a pipe, readings follow each other. */
static void clear(const struct msd_cli *cli)
{
	if (!cli->json && msd_print_for_people()) {
		(void)printf("\033[H\033[2J%-.64s  figures of one second\n\n",
			     cli->host != NULL ? cli->host : "");
	}
}

enum msd_exit msd_verb_top(const struct msd_cli *cli)
{
	modser_client *client = NULL;
	struct msd_buf before = {0};
	enum msd_exit code = msd_session_open(cli, &client);

	if (code == MSD_EXIT_OK && !cli->once)
		code = read_lines(cli, client, &before);
	while (code == MSD_EXIT_OK && !ferror(stdout)) {
		struct msd_buf now = {0};
		if (!cli->once)
			(void)poll(NULL, 0, EVERY_MS);
		code = read_lines(cli, client, &now);
		if (code == MSD_EXIT_OK && !cli->once)
			clear(cli);
		if (code == MSD_EXIT_OK)
			code = show(cli, &now, &before);
		(void)fflush(stdout); /* errors are reported at the end */
		msd_buf_finish(&before);
		before = now;
		if (cli->once)
			break;
	}
	msd_buf_finish(&before);
	modser_close(client);
	return code;
}

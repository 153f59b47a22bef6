/*
 * stats: shows the daemon's metrics of one module.
 *
 * Happy path: the text of server.metrics is read line by line. Samples of the module
 * become facts, buckets of its stages become quantiles. Failures: if no sample names
 * the module, it does not exist. Lines that cannot be parsed are skipped; they may be
 * from a newer daemon.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/session.h"
#include "client/cli/verbs/report.h"
#include "proto/base/bytes.h"

#define KEY_BYTES 1408u /* an escaped function name and a code */

struct fact {
	char key[KEY_BYTES];
	int64_t value;
};

struct stats {
	struct msd_buf facts; /* array of struct fact */
	/* Buckets of the current stage: number of calls up to each duration. */
	double bound_s[64];
	double n[64];
	size_t n_buckets;
	bool is_there;
};

/* The text behind @prefix if @line begins with it, else NULL. */
static const char *behind(const char *line, const char *prefix)
{
	const size_t n = strlen(prefix);

	return strncmp(line, prefix, n) == 0 ? line + n : NULL;
}

static void add(struct stats *s, int64_t value, const char *a, int n_a, const char *b)
{
	struct fact f = {.value = value};

	(void)snprintf(f.key, sizeof(f.key), "%.*s%s", n_a, a, b);
	msd_buf_put(&s->facts, &f, sizeof(f));
}

/* Interpolate linearly within the bucket, as Prometheus does. */
static int64_t quantile_ns(const struct stats *s, double part)
{
	const double rank = part * s->n[s->n_buckets - 1];
	size_t i = 0;

	while (i + 2 < s->n_buckets && s->n[i] < rank)
		i++;
	const double below = i > 0 ? s->n[i - 1] : 0;
	const double from = i > 0 ? s->bound_s[i - 1] : 0;
	const double share = s->n[i] > below ? (rank - below) / (s->n[i] - below) : 1;
	return (int64_t)((from + (s->bound_s[i] - from) * (share < 1 ? share : 1)) *
			 1e9);
}

/* `STAGE",le="BOUND"} N`; the last bound is +Inf, which strtod() parses. */
static void take_bucket(struct stats *s, const char *at)
{
	const char *bound = strstr(at, "\",le=\"");
	char *end;

	if (bound == NULL || s->n_buckets >= sizeof(s->n) / sizeof(*s->n))
		return;
	const int n_stage = (int)(bound - at);
	const size_t i = s->n_buckets++;
	s->bound_s[i] = strtod(bound + strlen("\",le=\""), &end);
	const char *count = behind(end, "\"} ");
	s->n[i] = count != NULL ? strtod(count, NULL) : 0;
	if (behind(bound, "\",le=\"+Inf") == NULL)
		return;
	if (s->n_buckets > 1 && s->n[i] > 0) {
		add(s, quantile_ns(s, 0.5), at, n_stage, "_p50_ns");
		add(s, quantile_ns(s, 0.9), at, n_stage, "_p90_ns");
		add(s, quantile_ns(s, 0.99), at, n_stage, "_p99_ns");
	}
	s->n_buckets = 0;
}

/* `FUNCTION",code="CODE"} N` */
static void take_calls(struct stats *s, const char *at)
{
	static const char label[] = "\",code=\"";
	const char *code = NULL, *end;

	for (const char *p = at; (p = strstr(p, label)) != NULL; p++)
		code = p; /* the last one: a function name may contain it */
	if (code == NULL)
		return;
	end = strstr(code + sizeof(label) - 1, "\"} ");
	if (end == NULL)
		return;
	char word[64];
	(void)snprintf(word, sizeof(word), " %.*s",
		       (int)(end - code - (int)sizeof(label) + 1),
		       code + sizeof(label) - 1);
	add(s, strtoll(end + strlen("\"} "), NULL, 10), at, (int)(code - at), word);
}

static void take_number(struct stats *s, const char *line, const char *name)
{
	static const struct {
		const char *family, *key;
	} numbers[] = {{"modserd_module_ready", "ready"},
		       {"modserd_module_queued_requests", "queued"},
		       {"modserd_module_sent_requests", "sent"},
		       {"modserd_module_restarts_total", "restarts"},
		       {"modserd_module_workers", "workers"},
		       {"modserd_module_workers_open", "workers_open"}};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		char prefix[256];
		(void)snprintf(prefix, sizeof(prefix), "%s{module=\"%s\"} ",
			       numbers[i].family, name);
		const char *value = behind(line, prefix);
		if (value == NULL)
			continue;
		s->is_there = true;
		add(s, strtoll(value, NULL, 10), numbers[i].key,
		    (int)strlen(numbers[i].key), "");
	}
}

static void take_line(struct stats *s, const char *line, const char *name)
{
	char calls[256], stages[256];

	(void)snprintf(calls, sizeof(calls),
		       "modserd_calls_total{module=\"%s\",function=\"", name);
	(void)snprintf(stages, sizeof(stages),
		       "modserd_call_stage_seconds_bucket{module=\"%s\",stage=\"",
		       name);
	const char *of_calls = behind(line, calls);
	const char *of_stages = behind(line, stages);
	if (of_calls != NULL) {
		take_calls(s, of_calls);
	} else if (of_stages != NULL) {
		take_bucket(s, of_stages);
	} else {
		take_number(s, line, name);
	}
}

static enum msd_exit show(const struct msd_cli *cli, const struct stats *s)
{
	const size_t n = s->facts.n / sizeof(struct fact);
	const struct fact *facts = (const struct fact *)(const void *)s->facts.p;
	modser_value *pairs = calloc(2 * n + 1, sizeof(*pairs));

	if (pairs == NULL || s->facts.bad) {
		free(pairs);
		return msd_report_no_memory();
	}
	for (size_t i = 0; i < n; i++) {
		pairs[2 * i] = modser_str(facts[i].key);
		pairs[2 * i + 1] = modser_int(facts[i].value);
	}
	const modser_value map = {.kind = MODSER_MAP,
				  .as.tuple = {.item = pairs, .n = n}};
	msd_session_print_value(cli, &map);
	free(pairs);
	return MSD_EXIT_OK;
}

/* Report the daemon's own error, which suggests similar names. */
static enum msd_exit not_found(const struct msd_cli *cli, const char *name)
{
	const modser_value param = modser_str(name);
	modser_result *result = NULL;
	const enum msd_exit code =
		msd_session_ask(cli, "module.describe", &param, 1, &result);

	modser_result_free(result);
	return code;
}

static enum msd_exit show_text(const struct msd_cli *cli, const char *text,
			       const char *name)
{
	struct stats s = {0};
	char *lines = strdup(text), *rest = lines, *line;

	if (lines == NULL)
		return msd_report_no_memory();
	while ((line = strsep(&rest, "\n")) != NULL)
		take_line(&s, line, name);
	const enum msd_exit code = s.is_there ? show(cli, &s) : not_found(cli, name);
	msd_buf_finish(&s.facts);
	free(lines);
	return code;
}

enum msd_exit msd_verb_stats(const struct msd_cli *cli)
{
	const char *name = cli->words[0];
	enum msd_exit code = msd_report_name(name);
	modser_result *result = NULL;

	if (code == MSD_EXIT_OK)
		code = msd_session_ask(cli, "server.metrics", NULL, 0, &result);
	if (code == MSD_EXIT_OK) {
		const modser_value *text = modser_result_value(result);
		code = show_text(cli, text->kind == MODSER_STR ? text->as.str.p : "",
				 name);
	}
	modser_result_free(result);
	return code;
}

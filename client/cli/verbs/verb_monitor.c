/*
 * monitor and slowlog: show single calls that the daemon has answered.
 *
 * Happy path: the daemon's call log is requested in chunks, one line a call. With -f,
 * the next request starts at its end, and the daemon answers when there is more.
 * --tail first reads the whole log, because only the daemon knows which calls belong
 * to a module. Failures: calls that arrive faster than they are read are lost; their
 * number is printed on stderr.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/cli/session.h"
#include "client/cli/values/json.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"

#define WAIT_MS 60000 /* of one request; after an empty answer it is repeated */

/* State of the next request. */
struct watch {
	const struct msd_cli *cli;
	modser_client *client;
	int64_t from;
	bool waits;
	bool has_shown;
	struct msd_buf
		*found; /* collects call numbers instead of printing; NULL: print */
	size_t n;       /* number of calls in the last answer */
};

static int64_t number_of(const modser_value *map, const char *key)
{
	const modser_value *v = modser_find(map, key);

	return v != NULL && v->kind == MODSER_INT ? v->as.i : 0;
}

static void put_text(struct msd_buf *out, const modser_value *map, const char *key)
{
	const modser_value *v = modser_find(map, key);

	if (v != NULL && v->kind == MODSER_STR)
		msd_print_line(out, v->as.str.p, v->as.str.n);
}

static void put_for_people(struct msd_buf *out, const modser_value *call)
{
	static const char *const stages[] = {"read", "queue", "worker", "run"};

	put_text(out, call, "at");
	msd_buf_printf(out, "  ");
	put_text(out, call, "module");
	msd_buf_put_u8(out, ':');
	put_text(out, call, "function");
	msd_buf_printf(out, "  ");
	put_text(out, call, "code");
	msd_buf_printf(out, "  ");
	put_text(out, call, "peer");
	msd_buf_printf(out, "  ");
	msd_print_ns(out, (double)number_of(call, "all_ns"));
	for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "%s_ns", stages[i]);
		msd_buf_printf(out, "%s%s ", i > 0 ? ", " : " (", stages[i]);
		msd_print_ns(out, (double)number_of(call, key));
	}
	msd_buf_printf(out, ")\n");
}

static void print_calls(const struct msd_cli *cli, const modser_value *calls)
{
	struct msd_buf out = {0};

	if (cli->json) {
		for (size_t i = 0; i < calls->as.tuple.n; i++) {
			msd_json_put_value(&out, &calls->as.tuple.item[i]);
			msd_buf_put_u8(&out, '\n');
		}
	} else if (msd_print_for_people()) {
		for (size_t i = 0; i < calls->as.tuple.n; i++)
			put_for_people(&out, &calls->as.tuple.item[i]);
	} else {
		msd_print_table(&out, calls, false, false);
	}
	msd_print_flush(&out);
	(void)fflush(stdout); /* errors are reported at the end */
}

static void note_numbers(struct msd_buf *found, const modser_value *calls)
{
	for (size_t i = 0; i < calls->as.tuple.n; i++) {
		const int64_t number = number_of(&calls->as.tuple.item[i], "number");
		msd_buf_put(found, &number, sizeof(number));
	}
}

static void take_calls(struct watch *w, const modser_value *calls)
{
	w->n = calls->as.tuple.n;
	w->has_shown |= w->n > 0;
	if (w->found != NULL) {
		note_numbers(w->found, calls);
	} else {
		print_calls(w->cli, calls);
	}
}

static modser_err ask(struct watch *w, modser_result **ret)
{
	const char *module = w->cli->n_words > 0 ? w->cli->words[0] : "";
	const uint32_t every = w->cli->every > 0 ? w->cli->every : 1;
	const modser_value pairs[8] = {
		modser_str("from"),    modser_int(w->from),
		modser_str("wait_ms"), modser_int(w->waits ? WAIT_MS : 0),
		modser_str("every"),   modser_int(every),
		modser_str("module"),  modser_str(module)};
	const modser_value params = {.kind = MODSER_MAP,
				     .as.tuple = {.item = pairs, .n = 4}};
	modser_err err =
		modser_request(w->client, "server.monitor", &params, 1, NULL, ret);

	if (err != MODSER_OK)
		return err;
	const modser_value *answer = modser_result_value(*ret);
	const modser_value *calls = modser_find(answer, "requests");
	const int64_t from = number_of(answer, "from");
	if (w->from > 0 && from > w->from) {
		(void)fprintf(stderr, "modser: %" PRId64 " calls are not shown\n",
			      from - w->from);
	}
	w->from = number_of(answer, "next");
	w->n = 0;
	if (calls != NULL && calls->kind == MODSER_TUPLE)
		take_calls(w, calls);
	return MODSER_OK;
}

/* Move to the start of the requested last calls. */
static modser_err seek_tail(struct watch *w, modser_result **ret)
{
	struct msd_buf found = {0};
	modser_err err;
	int64_t number;

	w->found = &found;
	do {
		modser_result_free(*ret);
		*ret = NULL;
		err = ask(w, ret);
	} while (err == MODSER_OK && w->n > 0);
	w->found = NULL;
	const size_t n = found.n / sizeof(number);
	const size_t n_wanted = w->cli->tail < n ? w->cli->tail : n;
	if (err == MODSER_OK && n_wanted > 0) {
		memcpy(&number, found.p + (n - n_wanted) * sizeof(number),
		       sizeof(number));
		w->from = number;
	}
	msd_buf_finish(&found);
	return err;
}

/* Start at the end, or the given number of calls before it; without -f at the start
 * of the log. */
static modser_err begin(struct watch *w, modser_result **ret)
{
	modser_err err = MODSER_OK;

	if (w->cli->has_tail) {
		err = seek_tail(w, ret);
	} else if (w->cli->follow) {
		w->from = INT64_MAX;
		err = ask(w, ret);
	}
	w->waits = w->cli->follow;
	return err;
}

enum msd_exit msd_verb_monitor(const struct msd_cli *cli)
{
	struct watch w = {.cli = cli};
	modser_result *result = NULL;
	enum msd_exit code =
		cli->n_words > 0 ? msd_report_name(cli->words[0]) : MSD_EXIT_OK;

	if (code == MSD_EXIT_OK)
		code = msd_session_open(cli, &w.client);
	if (code != MSD_EXIT_OK)
		return code;
	modser_err err = begin(&w, &result);
	do {
		modser_result_free(result);
		result = NULL;
		if (err == MODSER_OK)
			err = ask(&w, &result);
	} while (err == MODSER_OK && !ferror(stdout) && (cli->follow || w.n > 0));
	if (err == MODSER_OK && !w.has_shown && cli->n_words > 0) {
		const modser_value name = modser_str(cli->words[0]);

		/* An unloaded module may still have calls in the log; a name that
		 * never existed is an error. */
		modser_result_free(result);
		result = NULL;
		err = modser_request(w.client, "module.describe", &name, 1, NULL,
				     &result);
	}
	if (err != MODSER_OK)
		code = msd_report_result(w.client, result);
	modser_result_free(result);
	modser_close(w.client);
	return code;
}

enum msd_exit msd_verb_slowlog(const struct msd_cli *cli)
{
	return msd_session_show(cli, "server.slowlog", NULL, 0);
}

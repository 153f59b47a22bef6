/*
 * bench: measures the speed of a function from this client, and where the time is
 * spent.
 *
 * Happy path: the arguments are given, or made from the function's signature. The
 * round trip of a ping is measured, the function is called for the given time, and
 * the ping is measured again; the figures are a map. Failures: a failed call is
 * reported as in `call`. Reasons to doubt the figures are in `doubts`. If no call at
 * a rate returned a result, the exit code reports it.
 */
#include <stdlib.h>
#include <string.h>

#include "client/cli/measure/bench.h"
#include "client/cli/session.h"
#include "client/cli/target.h"
#include "client/cli/values/generator_word.h"
#include "client/cli/verbs/report.h"
#include "proto/base/bytes.h"
#include "proto/base/clock.h"

#define PINGS 200u
#define DEFAULT_MS 3000u
#define MOST_DEPTH 1024u

/* A PrimFunc fills its last parameter. */
static enum msd_exit make_words(struct msd_bench *b)
{
	const modser_value *params = b->parameters.params;
	const char *style = msd_parameters_text(b->parameters.function, "style");
	const bool is_prim = style != NULL && strcmp(style, "prim") == 0;
	const size_t n = msd_parameters_needed(&b->parameters);

	if (b->parameters.function == NULL)
		return MSD_EXIT_OK; /* no such function: the call itself reports it */
	if (params == NULL) {
		return msd_report_usage("give the arguments, as to `modser call`",
					"the signature of %s is unknown", b->function);
	}
	b->made = calloc(n + 1, sizeof(*b->made));
	b->words = calloc(n + 1, sizeof(const char *));
	if (b->made == NULL || b->words == NULL)
		return msd_report_no_memory();
	for (size_t i = 0; i < n; i++) {
		if (!msd_generator_word(&params->as.tuple.item[i],
					is_prim && i + 1 == n, b->made[i])) {
			return msd_report_usage("give the arguments, as to "
						"`modser call`",
						"argument %zu of %s cannot be "
						"generated from its signature",
						i + 1, b->function);
		}
		b->words[i] = b->made[i];
	}
	b->n_words = n;
	return MSD_EXIT_OK;
}

static enum msd_exit prepare(struct msd_bench *b)
{
	const struct msd_cli *cli = b->cli;
	enum msd_exit code = MSD_EXIT_OK;

	if (cli->n_words > 1) {
		code = msd_arguments_parse(cli, cli->words + 1, cli->n_words - 1,
					   &b->args);
	} else if (msd_parameters_ask(b->clients[0], b->function, cli->deadline_ms,
				      &b->parameters) != MODSER_OK) {
		code = msd_report_result(b->clients[0], b->parameters.list);
	} else {
		code = make_words(b);
		if (code == MSD_EXIT_OK)
			code = msd_arguments_parse(cli, b->words, b->n_words, &b->args);
	}
	return code == MSD_EXIT_OK
		       ? msd_arguments_set_types(&b->args, b->clients[0], b->function,
						 cli->deadline_ms)
		       : code;
}

/* Measure the median of some round trips without work. */
static enum msd_exit ping(struct msd_bench *b, uint64_t *ret_ns)
{
	struct msd_samples took = {0};
	enum msd_exit code = MSD_EXIT_OK;

	for (size_t i = 0; i < PINGS && code == MSD_EXIT_OK; i++) {
		modser_result *r = NULL;
		const uint64_t start = msd_now_ns();

		if (modser_request(b->clients[0], "ping", NULL, 0, NULL, &r) !=
		    MODSER_OK) {
			code = msd_report_result(b->clients[0], r);
		} else if (!msd_samples_add(&took, msd_now_ns() - start)) {
			code = msd_report_no_memory();
		}
		modser_result_free(r);
	}
	msd_samples_sort(&took);
	*ret_ns = msd_samples_at(&took, 500);
	msd_samples_finish(&took);
	return code;
}

/* Number of calls of the module so far; -1: unknown. */
static int64_t calls_of(struct msd_bench *b)
{
	const char *target = b->function;
	modser_value name = modser_str(target);
	modser_result *r = NULL;
	const modser_value *calls = NULL;

	name.as.str.n = strcspn(target, ":");
	if (modser_request(b->clients[0], "module.describe", &name, 1, NULL, &r) ==
	    MODSER_OK)
		calls = modser_find(modser_result_value(r), "calls");
	const int64_t n = calls != NULL && calls->kind == MODSER_INT ? calls->as.i : -1;
	modser_result_free(r);
	return n;
}

/* Report why a run did not finish. */
static enum msd_exit report(const struct msd_bench *b, modser_result *failure,
			    modser_client *failed, modser_client *lost)
{
	if (failure != NULL) {
		return msd_arguments_report(&b->args, failed, b->function,
					    b->cli->deadline_ms, failure);
	}
	return lost != NULL ? msd_report_error(modser_why(lost))
			    : msd_report_no_memory();
}

static enum msd_exit run_at_rate(struct msd_bench *b, struct msd_rate_run *run,
				 uint64_t ms, struct msd_stages *stages)
{
	const struct msd_cli *cli = b->cli;

	*run = (struct msd_rate_run){
		.args = &b->args,
		.function = b->function,
		.device = cli->device,
		.clients = b->clients,
		.n_clients = cli->connections,
		.per_second = cli->rate,
		.deadline_ms = b->deadline_ms,
		.warm_ns = stages != NULL ? 0 : ms * 1000000u / 10u,
		.time_ns = ms * 1000000u,
		.stages = stages,
	};
	return msd_rate_run(run) ? MSD_EXIT_OK
				 : report(b, run->failure, run->failed, run->lost);
}

static enum msd_exit run_in_turn(struct msd_bench *b, struct msd_load_run *run,
				 uint64_t ms, struct msd_stages *stages)
{
	const struct msd_cli *cli = b->cli;

	*run = (struct msd_load_run){
		.args = &b->args,
		.function = b->function,
		.device = cli->device,
		.clients = b->clients,
		.n_clients = cli->connections,
		.depth = cli->depth,
		.warm_ns = stages != NULL ? 0 : ms * 1000000u / 10u,
		.time_ns = ms * 1000000u,
		.stages = stages,
	};
	return msd_load_run(run) ? MSD_EXIT_OK
				 : report(b, run->failure, run->failed, run->lost);
}

/* Run again with traced calls for a tenth of the time. These calls are only used for
 * the trace, because tracing takes time, too. */
static enum msd_exit run_traced(struct msd_bench *b, uint64_t ms)
{
	struct msd_load_run in_turn = {.n_sent = 0};
	struct msd_rate_run at_rate = {.n_due = 0};
	const enum msd_exit code = b->cli->rate != 0
					   ? run_at_rate(b, &at_rate, ms, &b->stages)
					   : run_in_turn(b, &in_turn, ms, &b->stages);

	msd_load_run_finish(&in_turn);
	msd_rate_run_finish(&at_rate);
	return code;
}

/* Without calls there are no figures. */
static enum msd_exit check_any(const struct msd_bench *b, uint64_t ms)
{
	if (b->cli->rate == 0 || b->at_rate.n_due > 0)
		return MSD_EXIT_OK;
	return msd_report_usage("give a longer --time, or a higher --rate",
				"at %u calls a second no call was due in %llu ms, so "
				"there is no result",
				b->cli->rate, (unsigned long long)ms);
}

static enum msd_exit measure(struct msd_bench *b)
{
	const struct msd_cli *cli = b->cli;
	const uint64_t ms = cli->time_ms != 0 ? cli->time_ms : DEFAULT_MS;
	enum msd_exit code = ping(b, &b->ping_ns[0]);

	if (code != MSD_EXIT_OK)
		return code;
	b->calls_before = calls_of(b);
	code = cli->rate != 0 ? run_at_rate(b, &b->at_rate, ms, NULL)
			      : run_in_turn(b, &b->run, ms, NULL);
	if (code != MSD_EXIT_OK)
		return code;
	code = check_any(b, ms);
	if (code != MSD_EXIT_OK)
		return code;
	b->calls_behind = calls_of(b);
	code = run_traced(b, ms / 10);
	if (code != MSD_EXIT_OK)
		return code;
	return ping(b, &b->ping_ns[1]);
}

static enum msd_exit connect_all(struct msd_bench *b)
{
	enum msd_exit code = MSD_EXIT_OK;

	for (uint32_t i = 0; i < b->cli->connections && code == MSD_EXIT_OK; i++)
		code = msd_session_open(b->cli, &b->clients[i]);
	return code;
}

enum msd_exit msd_verb_bench(const struct msd_cli *said)
{
	struct msd_cli cli = *said;
	struct msd_bench b = {.cli = &cli};
	struct msd_buf function = {0};
	modser_result *refusal = NULL;
	enum msd_exit code = msd_target_check("bench", cli.words[0]);

	if (cli.rate != 0 && cli.depth != 0) {
		return msd_report_usage(
			"omit one of them",
			"--rate sends calls at their time; --depth keeps a number of "
			"calls in flight: they exclude each other");
	}
	if (cli.rate != 0) { /* applies to the calls, not to earlier requests */
		b.deadline_ms = cli.deadline_ms;
		cli.deadline_ms = 0;
	}
	cli.connections = cli.connections != 0 ? cli.connections : 1;
	cli.depth = cli.depth != 0 ? cli.depth : 1;
	if (code != MSD_EXIT_OK)
		return code;
	if (cli.connections > MSD_BENCH_CLIENTS || cli.depth > MOST_DEPTH) {
		return msd_report_usage("give fewer",
					"at most %u connections and %u calls in flight "
					"on each",
					MSD_BENCH_CLIENTS, MOST_DEPTH);
	}
	code = connect_all(&b);
	if (code == MSD_EXIT_OK) {
		code = msd_target_find(b.clients[0], cli.words[0], cli.deadline_ms,
				       &function, &refusal);
	}
	b.function = (const char *)function.p;
	if (code == MSD_EXIT_OK)
		code = prepare(&b);
	if (code == MSD_EXIT_OK)
		code = measure(&b);
	if (code == MSD_EXIT_OK) {
		msd_bench_tell(&b);
		if (cli.rate != 0 && b.at_rate.took.n == 0)
			code = MSD_EXIT_NOT_READY;
	}
	for (uint32_t i = 0; i < cli.connections; i++)
		modser_close(b.clients[i]);
	msd_load_run_finish(&b.run);
	msd_rate_run_finish(&b.at_rate);
	msd_arguments_finish(&b.args);
	msd_parameters_finish(&b.parameters);
	modser_result_free(refusal);
	msd_buf_finish(&function);
	free(b.made);
	free(b.words);
	return code;
}

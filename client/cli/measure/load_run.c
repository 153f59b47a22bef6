/*
 * Happy path: every connection starts its calls. Each answer is recorded and its call
 * is sent again, until the time is over; then the calls in flight finish. Failures:
 * the first error stops the sending, and the run ends when all calls have finished.
 */
#include "client/cli/measure/load_run.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/measure/stages.h"
#include "client/cli/values/arguments.h"
#include "proto/base/clock.h"

#define MOST_WAIT_MS 1000

/* Slot for a call in flight. */
struct slot {
	struct msd_load_run *run;
	modser_client *client;
	modser_value *params;
	uint64_t sent_ns;
	bool is_idle; /* no call in flight */
};

/* Shared by all slots. */
struct clock {
	uint64_t begun_ns, counted_ns, end_ns;
};

static void note(struct msd_load_run *run, uint64_t took_ns, uint64_t ran_ns)
{
	run->no_memory |= !msd_samples_add(&run->took, took_ns) ||
			  !msd_samples_add(&run->ran, ran_ns);
}

static void on_done(void *ctx, modser_result *result)
{
	struct slot *s = ctx;

	s->is_idle = true;
	s->run->n_back++;
	if (modser_result_error(result)->code != MODSER_OK) {
		if (s->run->failure == NULL) {
			s->run->failure = result;
			s->run->failed = s->client;
			return;
		}
	} else if (s->sent_ns != 0) {
		note(s->run, msd_now_ns() - s->sent_ns, modser_result_exec_ns(result));
		if (s->run->stages != NULL)
			msd_stages_note(s->run->stages, result);
	}
	modser_result_free(result);
}

static void send_one(struct slot *s, const struct clock *c, uint64_t now)
{
	struct msd_load_run *run = s->run;
	const modser_options options = {.names = run->args->has_names ? run->args->names
								      : NULL,
					.device = run->device,
					.trace = run->stages != NULL,
					.done = on_done,
					.ctx = s};

	s->is_idle = false;
	s->sent_ns = now >= c->counted_ns ? now : 0;
	if (modser_start(s->client, "call", s->params, run->args->n + 1, &options,
			 NULL) == MODSER_OK) {
		run->n_sent++;
		if (run->first_ns == 0)
			run->first_ns = s->sent_ns;
		return;
	}
	s->is_idle = true;
	if (run->lost == NULL)
		run->lost = s->client;
}

/* If one warm-up call took longer than the whole time, send more calls anyway, so
 * that there is a result. */
static bool may_send(const struct msd_load_run *run, const struct clock *c,
		     uint64_t now)
{
	return run->failure == NULL && run->lost == NULL && !run->no_memory &&
	       (now < c->end_ns || run->first_ns == 0);
}

/* Send the calls that are due. False: nothing is in flight and nothing will be sent,
 * so that no answer refers to a freed slot. */
static bool refill(struct slot *slots, size_t n, const struct clock *c)
{
	const uint64_t now = msd_now_ns();
	bool is_busy = false;

	for (size_t i = 0; i < n; i++) {
		if (slots[i].is_idle && may_send(slots[i].run, c, now))
			send_one(&slots[i], c, now);
		is_busy |= !slots[i].is_idle;
	}
	return is_busy;
}

static void turn(struct msd_load_run *run, struct pollfd *fds)
{
	for (uint32_t i = 0; i < run->n_clients; i++) {
		fds[i].fd = modser_fd(run->clients[i]);
		fds[i].events = POLLIN;
		if ((modser_events(run->clients[i]) & MODSER_WRITABLE) != 0)
			fds[i].events |= POLLOUT;
	}
	(void)poll(fds, run->n_clients, MOST_WAIT_MS);
	for (uint32_t i = 0; i < run->n_clients; i++)
		(void)modser_process(run->clients[i]);
}

static bool run_all(struct msd_load_run *run, struct slot *slots, struct pollfd *fds)
{
	const size_t n = (size_t)run->n_clients * run->depth;
	struct clock c = {.begun_ns = msd_now_ns()};

	c.counted_ns = c.begun_ns + run->warm_ns;
	c.end_ns = c.counted_ns + run->time_ns;
	while (refill(slots, n, &c)) {
		const uint64_t n_back = run->n_back;

		/* Send all calls before waiting. */
		for (uint32_t i = 0; i < run->n_clients; i++)
			(void)modser_process(run->clients[i]);
		if (run->n_back == n_back)
			turn(run, fds);
	}
	run->spent_ns = msd_now_ns() - run->first_ns;
	return run->failure == NULL && run->lost == NULL && !run->no_memory;
}

bool msd_load_run(struct msd_load_run *run)
{
	const size_t n = (size_t)run->n_clients * run->depth;
	modser_value *params = calloc(run->args->n + 1, sizeof(*params));
	struct slot *slots = calloc(n, sizeof(*slots));
	struct pollfd *fds = calloc(run->n_clients, sizeof(*fds));
	bool is_good = false;

	if (params == NULL || slots == NULL || fds == NULL) {
		run->no_memory = true;
	} else {
		params[0] = modser_str(run->function);
		memcpy(params + 1, run->args->values, run->args->n * sizeof(*params));
		for (size_t i = 0; i < n; i++) {
			slots[i] = (struct slot){
				.run = run,
				.client = run->clients[i % run->n_clients],
				.params = params,
				.is_idle = true};
		}
		is_good = run_all(run, slots, fds);
	}
	free(params);
	free(slots);
	free(fds);
	return is_good;
}

void msd_load_run_finish(struct msd_load_run *run)
{
	msd_samples_finish(&run->took);
	msd_samples_finish(&run->ran);
	modser_result_free(run->failure);
}

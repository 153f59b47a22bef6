/*
 * Happy path: each call is sent when it is due; answers are recorded as they arrive;
 * then the calls in flight finish. Failures: an error that is not a sign of overload
 * stops the sending, and the run ends when all calls have finished.
 */
#include "client/cli/measure/rate_run.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/cli/measure/stages.h"
#include "client/cli/values/arguments.h"
#include "proto/base/clock.h"
#include "proto/base/xorshift.h"

#define MOST_WAIT_NS 1000000000u
#define MOST_IN_FLIGHT 1024u /* per connection; the daemon stops reading */
#define SEED 88172645463325252u

/* Slot for a call in flight. */
struct slot {
	struct rate *rate;
	struct slot *next; /* next free slot */
	modser_client *client;
	uint64_t due_ns;
	bool is_counted;
};

struct rate {
	struct msd_rate_run *run;
	modser_value *params;
	struct slot *slots, *free;
	struct pollfd *fds;
	uint64_t random, next_ns, n_in_flight;
	uint32_t turn; /* connection of the next call */
};

/* The same times in each run. */
static double uniform(uint64_t *state)
{
	return (double)((msd_xorshift(state) >> 11) + 1) / 9007199254740993.0;
}

static void fall_due(struct rate *r)
{
	r->next_ns += (uint64_t)(-log(uniform(&r->random)) * 1e9 / r->run->per_second);
}

static bool is_refusal(modser_err code)
{
	return code == MODSER_BUSY || code == MODSER_DRAINING ||
	       code == MODSER_NO_SPACE;
}

static void count(struct msd_rate_run *run, const struct slot *s, modser_err code)
{
	const uint64_t took_ns = msd_now_ns() - s->due_ns;

	if (code == MODSER_DEADLINE) {
		run->n_expired++;
	} else if (code != MODSER_OK) {
		run->n_refused++;
	} else {
		run->n_late += run->deadline_ms > 0 &&
			       took_ns > run->deadline_ms * (uint64_t)MSD_NS_PER_MS;
		run->no_memory |= !msd_samples_add(&run->took, took_ns);
	}
}

static void on_done(void *ctx, modser_result *result)
{
	struct slot *s = ctx;
	struct msd_rate_run *run = s->rate->run;
	const modser_err code = modser_result_error(result)->code;

	s->next = s->rate->free;
	s->rate->free = s;
	s->rate->n_in_flight--;
	if (code != MODSER_OK && code != MODSER_DEADLINE && !is_refusal(code)) {
		if (run->failure == NULL) {
			run->failure = result;
			run->failed = s->client;
			return;
		}
	} else if (s->is_counted) {
		count(run, s, code);
		if (run->stages != NULL)
			msd_stages_note(run->stages, result);
	}
	modser_result_free(result);
}

static void send_one(struct rate *r, bool is_counted)
{
	struct msd_rate_run *run = r->run;
	struct slot *s = r->free;
	const modser_options options = {.names = run->args->has_names ? run->args->names
								      : NULL,
					.device = run->device,
					.trace = run->stages != NULL,
					.deadline_ms = run->deadline_ms,
					.done = on_done,
					.ctx = s};

	run->n_due += is_counted;
	if (s == NULL) {
		run->n_unsent += is_counted;
		return;
	}
	s->client = run->clients[r->turn];
	r->turn = r->turn + 1 < run->n_clients ? r->turn + 1 : 0;
	s->due_ns = r->next_ns;
	s->is_counted = is_counted;
	if (modser_start(s->client, "call", r->params, run->args->n + 1, &options,
			 NULL) == MODSER_OK) {
		r->free = s->next;
		r->n_in_flight++;
	} else if (run->lost == NULL) {
		run->lost = s->client;
	}
}

static bool has_failed(const struct msd_rate_run *run)
{
	return run->failure != NULL || run->lost != NULL || run->no_memory;
}

/* Wait until there is data to read, or the next call is due. */
static void wait_until(struct rate *r, uint64_t now)
{
	const uint64_t left = r->next_ns > now ? r->next_ns - now : 0;
	const uint64_t ns = left < MOST_WAIT_NS ? left : MOST_WAIT_NS;
	const struct timespec wait = {.tv_sec = (time_t)(ns / 1000000000u),
				      .tv_nsec = (long)(ns % 1000000000u)};

	for (uint32_t i = 0; i < r->run->n_clients; i++) {
		r->fds[i].fd = modser_fd(r->run->clients[i]);
		r->fds[i].events = POLLIN;
		if ((modser_events(r->run->clients[i]) & MODSER_WRITABLE) != 0)
			r->fds[i].events |= POLLOUT;
	}
	(void)ppoll(r->fds, r->run->n_clients, &wait, NULL);
}

static void run_all(struct rate *r)
{
	struct msd_rate_run *run = r->run;
	const uint64_t begun_ns = msd_now_ns();
	const uint64_t counted_ns = begun_ns + run->warm_ns;
	const uint64_t end_ns = counted_ns + run->time_ns;

	r->next_ns = begun_ns;
	fall_due(r);
	for (;;) {
		uint64_t now = msd_now_ns();

		while (r->next_ns <= now && r->next_ns < end_ns && !has_failed(run)) {
			send_one(r, r->next_ns >= counted_ns);
			fall_due(r);
		}
		for (uint32_t i = 0; i < run->n_clients; i++)
			(void)modser_process(run->clients[i]);
		if (has_failed(run) || r->next_ns >= end_ns) {
			if (r->n_in_flight == 0)
				return;
			r->next_ns = UINT64_MAX;
		}
		now = msd_now_ns();
		wait_until(r, now);
	}
}

bool msd_rate_run(struct msd_rate_run *run)
{
	const size_t n = (size_t)run->n_clients * MOST_IN_FLIGHT;
	struct rate r = {
		.run = run,
		.params = calloc(run->args->n + 1, sizeof(*r.params)),
		.slots = calloc(n, sizeof(*r.slots)),
		.fds = calloc(run->n_clients, sizeof(*r.fds)),
		.random = SEED,
	};

	if (r.params == NULL || r.slots == NULL || r.fds == NULL) {
		run->no_memory = true;
	} else {
		r.params[0] = modser_str(run->function);
		memcpy(r.params + 1, run->args->values,
		       run->args->n * sizeof(*r.params));
		for (size_t i = n; i-- > 0;) {
			r.slots[i] = (struct slot){.rate = &r, .next = r.free};
			r.free = &r.slots[i];
		}
		run_all(&r);
	}
	free(r.params);
	free(r.slots);
	free(r.fds);
	return !has_failed(run);
}

void msd_rate_run_finish(struct msd_rate_run *run)
{
	msd_samples_finish(&run->took);
	modser_result_free(run->failure);
}

#include "daemon/supervisor/module/queue/deadline_cause.h"

#include <stdio.h>

#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/queue/client_queue.h"
#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/module/workers/busy.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "proto/base/clock.h"

#define TEXT_BYTES 80u /* for a part of the sentence */
#define LONGEST_TIMES 10u
#define HINT_WAITED                                                                    \
	"`modser ls` shows how long the module is busy: load it with more --workers, " \
	"or with --max-run if it hangs"
#define HINT_HANGS                                                                     \
	"such calls usually take far less: `modser logs NAME` may say where it hangs"

/* The cause of a wait: a call of a direct channel, or a request. */
struct ahead {
	bool is_direct;
	const struct msd_req *request; /* or NULL */
};

/* The worker answers requests in the order in which they were sent. */
static struct ahead at(const struct msd_replica *rep)
{
	if (rep->process != NULL && msd_direct_is_ahead(rep->process))
		return (struct ahead){.is_direct = true};
	if (msd_list_is_empty(&rep->sent))
		return (struct ahead){0};
	return (struct ahead){
		.request = MSD_CONTAINER_OF(rep->sent.next, struct msd_req, link)};
}

/* If several workers exist, all are busy while @r is queued: report the first busy
 * one. */
static struct ahead ahead_of(const struct msd_req *r)
{
	const struct msd_worker_group *group = &r->module->group;
	struct ahead ahead = {0};

	if (r->at.replica != NULL)
		return at(r->at.replica);
	if (r->at.client_queue->home != NULL)
		return at(r->at.client_queue->home);
	for (uint32_t i = 0; i < group->n_replicas; i++) {
		ahead = at(&group->replicas[i]);
		if (ahead.is_direct || ahead.request != NULL)
			break;
	}
	return ahead;
}

static const char *whose(struct ahead ahead, const struct msd_req *r)
{
	if (ahead.is_direct)
		return "behind a call of a direct channel";
	if (ahead.request == NULL)
		return "for the module";
	if (ahead.request->client.who == NULL)
		return "behind a call whose client is gone";
	return ahead.request->client.who == r->client.who
		       ? "behind a call of its own client"
		       : "behind a call of another client";
}

/*
 * Time until the bytes of its arguments had arrived, and from then until now or until
 * its start; @all_ms together. For a request that is not a call, the first is
 * unknown, and 0.
 */
struct spent {
	unsigned long long read_ms, wait_ms;
};

static struct spent spent_of(const struct msd_req *r, uint64_t all_ms)
{
	const uint64_t read_ms = r->at.spent_ns[MSD_STAGE_READ] / MSD_NS_PER_MS;
	const uint64_t known_ms = read_ms < all_ms ? read_ms : all_ms;

	return (struct spent){.read_ms = known_ms, .wait_ms = all_ms - known_ms};
}

/* Format "its arguments took 20 ms to arrive, then ", or "". */
static const char *tell_read(struct spent s, char text[static TEXT_BYTES])
{
	text[0] = '\0';
	if (s.read_ms > 0) {
		(void)snprintf(text, TEXT_BYTES,
			       "its arguments took %llu ms to arrive, then it ",
			       s.read_ms);
	}
	return text;
}

static void explain_run(const struct msd_req *r, struct spent s, uint64_t ran_ms,
			struct msd_diag *d)
{
	char read[TEXT_BYTES], waited[TEXT_BYTES] = "";

	if (s.wait_ms > 0) {
		(void)snprintf(waited, sizeof(waited),
			       "waited %llu ms in the queue, then ", s.wait_ms);
	}
	(void)msd_diag_set(
		d, MSD_DEADLINE,
		"module %s: %s%sran %llu ms and did not finish by the deadline",
		r->module->group.name, tell_read(s, read), waited,
		(unsigned long long)ran_ms);
}

/* A longer deadline helps a slow call, not a hanging one: this one has run for many
 * times the usual time. */
static bool may_hang(const struct msd_req *r, uint64_t ran_ms)
{
	const uint64_t us =
		msd_worker_group_expect_us(&r->module->group, r->client.who, r);

	return us > 0 && ran_ms > LONGEST_TIMES * (us / 1000 + 1);
}

void msd_deadline_cause_explain(const struct msd_req *r, uint64_t now_ms,
				struct msd_diag *d)
{
	const struct ahead ahead = ahead_of(r);
	const uint64_t all_ms = now_ms - (r->due.node.at_ms - r->due.in_ms);
	char read[TEXT_BYTES];

	if (ahead.request == r) {
		const uint64_t since_ms = msd_busy_ran_ms(r->at.replica, now_ms);
		const uint64_t ran_ms = since_ms < all_ms ? since_ms : all_ms;

		explain_run(r, spent_of(r, all_ms - ran_ms), ran_ms, d);
		if (may_hang(r, ran_ms))
			d->hint = HINT_HANGS;
		return;
	}
	const struct spent s = spent_of(r, all_ms);
	(void)msd_diag_set(
		d, MSD_DEADLINE,
		"module %s: %swaited %llu ms %s and did not start by the deadline",
		r->module->group.name, tell_read(s, read), s.wait_ms, whose(ahead, r));
	d->hint = HINT_WAITED;
}

/*
 * Watch the calls that a worker reports. Happy path: the worker shares a ledger from
 * its first channel on. The supervisor reads it periodically while a channel exists.
 * If too many clients wait through the supervisor, the channels of the module are
 * taken back. Failures: a call that exceeds its deadline terminates its worker, like
 * a call through the supervisor.
 */
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/segments/ledger.h"
#include "daemon/segments/reserve.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "daemon/supervisor/module/workers/segment_pass.h"
#include "daemon/supervisor/module/workers/worker_group.h"
#include "proto/base/clock.h"

#define LOOK_MS 100u /* interval of ledger reads */
#define SOON_MS 2u   /* interval while a request waits */
#define LONG_MS 10u
/* A worker that reports no running call for longer, although it has requests of the
 * supervisor, runs one of those. */
#define BETWEEN_NS UINT64_C(1000000000)

bool msd_direct_is_ahead(const struct msd_process *p)
{
	if (msd_list_is_empty(&p->directs))
		return false;
	const uint64_t who = msd_ledger_get(&p->ledger->who);
	const uint64_t since_ns = msd_ledger_get(&p->ledger->since_ns);

	if (who != 0)
		return msd_direct_find(p, who) != NULL;
	return since_ns != 0 && msd_now_ns() < since_ns + BETWEEN_NS;
}

uint64_t msd_direct_since_ms(const struct msd_process *p)
{
	return msd_list_is_empty(&p->directs)
		       ? 0
		       : msd_ledger_get(&p->ledger->since_ns) / MSD_NS_PER_MS;
}

static uint64_t since_ms(uint64_t then_ns)
{
	const uint64_t now_ns = msd_now_ns();

	return now_ns > then_ns ? (now_ns - then_ns) / MSD_NS_PER_MS : 0;
}

bool msd_direct_find_run(const struct msd_process *p, struct msd_direct_run *ret)
{
	if (msd_list_is_empty(&p->directs))
		return false;
	const uint64_t who = msd_ledger_get(&p->ledger->who);
	const uint64_t since_ns = msd_ledger_get(&p->ledger->since_ns);
	const uint64_t deadline_ns = msd_ledger_get(&p->ledger->deadline_ns);
	const struct msd_direct *x = who != 0 ? msd_direct_find(p, who) : NULL;

	if (x == NULL || since_ns == 0)
		return false;
	*ret = (struct msd_direct_run){
		.of = x,
		.blame = {.who = x->who,
			  .connection = x->client != NULL ? x->client->number : 0},
		.ran_ms = since_ms(since_ns),
		.late_ms = deadline_ns != 0 ? since_ms(deadline_ns) : 0,
		.is_late = deadline_ns != 0 && msd_now_ns() >= deadline_ns};
	return true;
}

bool msd_direct_is_stuck(struct msd_process *p)
{
	struct msd_direct_run run;

	if (!msd_direct_find_run(p, &run) || (run.ran_ms < LONG_MS && !run.is_late))
		return false;
	/* The worker does not report the end of that call. */
	msd_deadline_set(p->registry->deadlines, &p->ledger_timer, SOON_MS);
	return true;
}

void msd_direct_note_use(struct msd_process *p)
{
	MSD_LIST_EACH (it, &p->directs) {
		struct msd_direct *x = msd_direct_of(it);
		const uint64_t n = msd_ledger_get(&p->ledger->n_calls[x->number]);

		if (n != x->n_calls || msd_ledger_get(&p->ledger->who) == x->number) {
			x->used_ms = uv_now(p->registry->loop);
			if (x->client != NULL)
				x->client->direct_used_ms = x->used_ms;
		}
		x->n_calls = n;
	}
}

/* True if the worker has unread data. */
static bool is_unread(const struct msd_direct *x)
{
	int n = 0;

	return ioctl(x->fd, SIOCINQ, &n) == 0 && n > 0;
}

static bool is_awaited(const struct msd_direct *x)
{
	const struct msd_ledger *l = x->process->ledger;

	return msd_ledger_get(&l->n_came[x->number]) !=
		       msd_ledger_get(&l->n_calls[x->number]) ||
	       is_unread(x);
}

bool msd_direct_is_awaited(const struct msd_client *c)
{
	MSD_LIST_EACH (it, &c->directs) {
		if (is_awaited(MSD_CONTAINER_OF(it, struct msd_direct, client_link)))
			return true;
	}
	return false;
}

bool msd_direct_has_others(const struct msd_process *p, const struct msd_direct *of)
{
	MSD_LIST_EACH (it, &p->directs) {
		const struct msd_direct *x = msd_direct_of(it);
		if (x != of && x->client != NULL && is_awaited(x))
			return true;
	}
	return false;
}

static void look_again(struct msd_process *p)
{
	msd_deadline_set(p->registry->deadlines, &p->ledger_timer, LOOK_MS);
}

static void on_look(struct msd_deadline *node)
{
	struct msd_process *p =
		MSD_CONTAINER_OF(node, struct msd_process, ledger_timer);
	msd_direct_count(p);
	msd_direct_note_use(p);
	if (p->replica != NULL && msd_direct_is_crowded(p->replica->group))
		msd_direct_end_group(p->replica->group);
	if (p->replica != NULL)
		p->replica->group->ops->on_ledger(p->replica);
	if (!msd_list_is_empty(&p->directs))
		look_again(p);
	/*
	 * The worker may be free again; and the canary check needs the counted calls.
	 */
	if (p->replica != NULL && p->replica->ended_for == MSD_RUN_GOES_ON)
		p->replica->group->ops->on_answered(p->replica->group);
}

void msd_direct_watch(struct msd_process *p)
{
	if (!msd_deadline_is_set(&p->ledger_timer))
		look_again(p);
}

msd_err msd_direct_share_ledger(struct msd_process *p, struct msd_diag *d)
{
	if (p->ledger != NULL)
		return MSD_OK;
	const int fd = msd_reserve_now("modserd-ledger", sizeof(struct msd_ledger));
	void *map = fd >= 0 && fcntl(fd, F_ADD_SEALS,
				     F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0
			    ? mmap(NULL, sizeof(struct msd_ledger),
				   PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
			    : MAP_FAILED;
	struct msd_ledger *seen = calloc(1, sizeof(*seen));
	const uint64_t now_ns = msd_now_ns();
	msd_err err = MSD_NO_SPACE;

	if (map != MAP_FAILED && seen != NULL) {
		err = msd_segment_pass_segment(p, "ledger", 0, fd,
					       sizeof(struct msd_ledger));
	}
	if (fd >= 0)
		(void)close(fd);
	if (err == MSD_OK) {
		p->ledger = map;
		p->ledger_seen = seen;
		p->ledger_left =
			(struct msd_ledger_left){.from_ns = now_ns, .at_ns = now_ns};
		p->ledger_timer.on_due = on_look;
		return MSD_OK;
	}
	if (map != MAP_FAILED)
		(void)munmap(map, sizeof(struct msd_ledger));
	free(seen);
	return msd_diag_set(d, err, "channel.open: no memory to share with the worker");
}

/*
 * Happy path: no peer is banned, and a request passes after one comparison. Failures:
 * the calls of a peer cost too many workers. Its queued requests are refused, its
 * direct channels are taken back, and its new requests are refused until the ban
 * ends.
 */
#include "daemon/supervisor/module/queue/bans.h"

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/queue/bulk_reject.h"

#define HINT_DEADLY                                                                    \
	"correct the input, or the function that hangs or dies on it; see `modser "    \
	"logs NAME`"

static struct msd_peer_id connection_id(uint64_t number)
{
	return (struct msd_peer_id){.kind = number != 0 ? MSD_PEER_CONNECTION
							: MSD_PEER_UNKNOWN,
				    .value = number};
}

static msd_err explain_late(const struct msd_module *m, struct msd_peer_id who,
			    uint64_t left_ms, struct msd_diag *d)
{
	char name[MSD_PEER_TEXT_BYTES];

	return msd_diag_set(
		d, MSD_BUSY,
		"module %s: %u calls of %s overran their deadlines within a minute, or "
		"lost their client, and each cost a worker; calls with a deadline are "
		"accepted again in %llu s, calls without a deadline now",
		m->group.name, MSD_BANS_MOST, msd_peer_id_text(who, name),
		(unsigned long long)(left_ms + 999) / 1000);
}

static msd_err explain_deadly(const struct msd_module *m, struct msd_peer_id who,
			      uint64_t left_ms, struct msd_diag *d)
{
	char name[MSD_PEER_TEXT_BYTES];

	(void)msd_diag_set(
		d, MSD_BUSY,
		"module %s: calls of %s killed workers repeatedly, by their input or "
		"because they hung; calls of %s are accepted again in %llu s",
		m->group.name, msd_peer_id_text(who, name),
		who.kind == MSD_PEER_CONNECTION ? "this connection" : "this peer",
		(unsigned long long)(left_ms + 999) / 1000);
	d->hint = HINT_DEADLY;
	return MSD_BUSY;
}

/* Its queued requests would terminate the next workers, too. */
static void bar(struct msd_module *m, struct msd_peer_id who, bool is_deadly)
{
	char name[MSD_PEER_TEXT_BYTES];
	struct msd_diag d = {0};

	msd_log(MSD_LOG_WARN, "client_banned",
		"name=%s peer=\"%s\" for_ms=%u why=\"its calls killed workers\"",
		m->group.name, msd_peer_id_text(who, name), MSD_CULPRITS_BAR_MS);
	m->bars.until_ms = uv_now(m->group.registry->loop) + MSD_CULPRITS_BAR_MS;
	msd_direct_end_group(
		&m->group); /* the peer may have channels to other workers */
	if (is_deadly) {
		(void)explain_deadly(m, who, MSD_CULPRITS_BAR_MS, &d);
	} else {
		(void)explain_late(m, who, MSD_CULPRITS_BAR_MS, &d);
	}
	msd_refusal_begin_of(&m->group, who,
			     is_deadly ? MSD_REFUSED_ASKED : MSD_REFUSED_DEADLY, &d);
	msd_diag_finish(&d);
}

static uint32_t most_of_peer(const struct msd_module *m)
{
	const uint64_t most = m->group.registry->limits->max_deaths;

	return most < 1                   ? 1u
	       : most > MSD_CULPRITS_KEPT ? MSD_CULPRITS_KEPT
					  : (uint32_t)most;
}

/* Calls that hang for long arrive rarely: the time that they run is not part of the
 * minute. */
static uint64_t within_ms(uint32_t most, uint64_t ran_ms)
{
	return MSD_CULPRITS_WITHIN_MS +
	       (ran_ms < UINT32_MAX ? ran_ms : UINT32_MAX) * (most - 1);
}

bool msd_bans_note(struct msd_module *m, const struct msd_blame *blame,
		   enum msd_run_end why, uint64_t ran_ms)
{
	const uint64_t now_ms = uv_now(m->group.registry->loop);
	const struct msd_peer_id one = connection_id(blame->connection);
	const uint32_t most = most_of_peer(m);

	if (why == MSD_RUN_OVERDUE) {
		if (msd_culprits_note(&m->bars.late, blame->who, MSD_BANS_MOST,
				      MSD_CULPRITS_WITHIN_MS, now_ms))
			bar(m, blame->who, false);
		return false;
	}
	if (msd_culprits_note(&m->bars.connections, one, MSD_BANS_MOST,
			      within_ms(MSD_BANS_MOST, ran_ms), now_ms))
		bar(m, one, true);
	if (!msd_culprits_note(&m->bars.deadly, blame->who, most,
			       within_ms(most, ran_ms), now_ms)) {
		m->bars.n_died += why == MSD_RUN_GOES_ON;
		return false;
	}
	bar(m, blame->who, true);
	return true;
}

msd_err msd_bans_check(const struct msd_module *m, const struct msd_client *c,
		       bool may_kill, struct msd_diag *d)
{
	const uint64_t now_ms = uv_now(m->group.registry->loop);
	const struct msd_peer_id one = connection_id(c->number);
	uint64_t left_ms;

	if (m->bars.until_ms <= now_ms)
		return MSD_OK;
	left_ms = msd_culprits_left_ms(&m->bars.deadly, c->peer, now_ms);
	if (left_ms > 0)
		return explain_deadly(m, c->peer, left_ms, d);
	left_ms = msd_culprits_left_ms(&m->bars.connections, one, now_ms);
	if (left_ms > 0)
		return explain_deadly(m, one, left_ms, d);
	left_ms = may_kill ? msd_culprits_left_ms(&m->bars.late, c->peer, now_ms) : 0;
	return left_ms > 0 ? explain_late(m, c->peer, left_ms, d) : MSD_OK;
}

bool msd_bans_refuse(const struct msd_module *m, struct msd_req *r)
{
	struct msd_diag d = {0};

	if (r->client.who == NULL ||
	    msd_bans_check(m, r->client.who, msd_req_may_kill(r), &d) == MSD_OK)
		return false;
	msd_req_refuse_for(r, &d);
	msd_diag_finish(&d);
	return true;
}

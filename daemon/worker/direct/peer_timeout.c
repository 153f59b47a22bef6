#include "daemon/worker/direct/peer_timeout.h"

#include "daemon/worker/direct/direct_peer.h"

/*
 * Happy path: while a reply is not completely written, or a frame not completely
 * received, a timer checks for progress (daemon/stream/conn_timeout.h). Failure: a
 * peer makes no progress. The time of a call does not count, because the worker
 * neither writes nor reads meanwhile.
 */

static bool waits(const struct msd_peer *peer)
{
	return peer->guest != NULL && !msd_conn_is_closing(&peer->conn) &&
	       (peer->conn.queued_bytes > 0 || msd_conn_is_owed(&peer->conn));
}

/* Interval of checks for the waiting peers. 0: no peer waits. */
static uint64_t look_ms(const struct msd_worker *w)
{
	uint64_t least_ms = 0;

	MSD_LIST_EACH (it, &w->peers) {
		const struct msd_peer *peer =
			MSD_CONTAINER_OF(it, struct msd_peer, link);
		const uint64_t ms =
			waits(peer) ? msd_conn_timeout_every_ms(&peer->guest->stall)
				    : 0;
		if (ms > 0 && (least_ms == 0 || ms < least_ms))
			least_ms = ms;
	}
	return least_ms;
}

/* A leaving peer must read enough, not just anything. */
static uint64_t read_at(struct msd_peer *peer)
{
	struct msd_direct_peer *g = peer->guest;

	if (!peer->conn.reads_on)
		return peer->conn.last_progress_ms;
	if (g->read_ms == 0 || peer->conn.queued_bytes == 0 ||
	    peer->conn.bytes_out - g->read_bytes >= MSD_CONN_TIMEOUT_PROGRESS_BYTES) {
		g->read_bytes = peer->conn.bytes_out;
		g->read_ms = uv_now(peer->worker->wire.loop);
	}
	return g->read_ms;
}

static void look_at(struct msd_peer *peer, uint64_t away_ms)
{
	struct msd_conn *c = &peer->conn;
	const struct msd_conn_timeout_view view = {.frames = c->n_frames,
						   .bytes_in = c->bytes_in,
						   .queued_bytes = c->queued_bytes,
						   .last_progress_ms = read_at(peer),
						   .now_ms = uv_now(c->wire->loop),
						   .away_ms = away_ms,
						   .is_owed = msd_conn_is_owed(c)};
	const char *why =
		msd_conn_timeout_look(&peer->guest->watch, &view, &peer->guest->stall);

	if (why != NULL)
		msd_conn_close(c, MSD_BUSY, why);
}

static void on_look(uv_timer_t *timer)
{
	struct msd_worker *w = timer->data;
	const uint64_t now_ms = uv_now(timer->loop);
	const uint64_t due_ms = w->looked_ms + uv_timer_get_repeat(timer);

	MSD_LIST_EACH_SAFE (it, &w->peers) {
		struct msd_peer *peer = MSD_CONTAINER_OF(it, struct msd_peer, link);
		if (peer->guest != NULL && !msd_conn_is_closing(&peer->conn))
			look_at(peer, now_ms > due_ms ? now_ms - due_ms : 0);
	}
	w->looked_ms = now_ms;
	if (look_ms(w) == 0)
		(void)uv_timer_stop(timer);
}

void msd_peer_timeout_init(struct msd_worker *w, uv_loop_t *loop)
{
	(void)uv_timer_init(loop, &w->stall);
	w->stall.data = w;
}

void msd_peer_timeout_watch(struct msd_worker *w)
{
	const uint64_t ms = look_ms(w);

	if (ms == 0 || uv_is_active((uv_handle_t *)&w->stall))
		return;
	w->looked_ms = uv_now(w->wire.loop);
	MSD_LIST_EACH (it, &w->peers) {
		struct msd_peer *peer = MSD_CONTAINER_OF(it, struct msd_peer, link);
		if (peer->guest == NULL)
			continue;
		msd_conn_timeout_init(&peer->guest->watch, w->looked_ms);
		peer->guest->read_ms = 0;
	}
	(void)uv_timer_start(&w->stall, on_look, ms, ms);
}

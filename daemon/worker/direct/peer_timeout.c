#include "daemon/worker/direct/peer_timeout.h"

#include "daemon/worker/direct/direct_peer.h"

/*
 * Happy path: while a reply is not completely written, or a frame not completely
 * received, a timer checks for progress. Failure: a peer makes no progress in several
 * checks. Checks are counted instead of time, because during a call the worker
 * neither writes nor reads.
 */
#define LOOKS 4u
/* Minimum progress within the stall limit: bytes that a leaving peer reads, or that
 * any peer sends of a frame. Completion counts, too. */
#define LEAST_BYTES UINT64_C(65536)

static bool is_unread(const struct msd_peer *peer)
{
	return peer->guest != NULL && peer->conn.queued_bytes > 0 &&
	       !msd_conn_is_closing(&peer->conn);
}

static bool is_owed(const struct msd_peer *peer)
{
	return peer->guest != NULL && !msd_conn_is_closing(&peer->conn) &&
	       msd_conn_is_owed(&peer->conn);
}

static void take_least(uint64_t *least_ms, uint64_t ms)
{
	if (*least_ms == 0 || ms < *least_ms)
		*least_ms = ms;
}

/* Interval of checks for the waiting peers. They usually have the same limits, unless
 * the configuration has changed. 0: no peer waits. */
static uint64_t look_ms(const struct msd_worker *w)
{
	uint64_t least_ms = 0;

	MSD_LIST_EACH (it, &w->peers) {
		const struct msd_peer *peer =
			MSD_CONTAINER_OF(it, struct msd_peer, link);
		if (is_unread(peer))
			take_least(&least_ms, peer->guest->unread.most_ms / LOOKS + 1);
		if (is_owed(peer))
			take_least(&least_ms, peer->guest->owed.most_ms / LOOKS + 1);
	}
	return least_ms;
}

/* True if it has made no progress for too long; @bytes is its current position. */
static bool rests(struct msd_direct_peer_rest *rest, bool goes_on, uint64_t bytes,
		  uint64_t passed_ms)
{
	if (goes_on) {
		rest->bytes = bytes;
		rest->ms = 0;
		return false;
	}
	rest->ms += passed_ms;
	return rest->ms > rest->most_ms;
}

static bool stops_reading(struct msd_peer *peer, uint64_t passed_ms)
{
	struct msd_direct_peer *g = peer->guest;
	const uint64_t bytes = peer->conn.bytes_out;
	const uint64_t least = peer->conn.reads_on ? LEAST_BYTES : 1;
	const bool goes_on = !is_unread(peer) || bytes - g->unread.bytes >= least;

	return rests(&g->unread, goes_on, bytes, passed_ms);
}

static bool stops_writing(struct msd_peer *peer, uint64_t passed_ms)
{
	struct msd_direct_peer *g = peer->guest;
	const uint64_t bytes = peer->conn.bytes_in, n_frames = peer->conn.n_frames;
	const bool goes_on = !is_owed(peer) || n_frames != g->n_frames ||
			     bytes - g->owed.bytes >= LEAST_BYTES;

	g->n_frames = n_frames;
	return rests(&g->owed, goes_on, bytes, passed_ms);
}

static void look_at(struct msd_peer *peer, uint64_t passed_ms)
{
	if (stops_reading(peer, passed_ms)) {
		msd_conn_close(&peer->conn, MSD_BUSY,
			       "does not read its replies (--write-stall)");
	} else if (stops_writing(peer, passed_ms)) {
		msd_conn_close(&peer->conn, MSD_BUSY,
			       "started a frame and makes no progress (--read-stall)");
	}
}

static void on_look(uv_timer_t *timer)
{
	struct msd_worker *w = timer->data;
	const uint64_t passed_ms = uv_timer_get_repeat(timer);
	uint64_t next_ms;

	MSD_LIST_EACH_SAFE (it, &w->peers) {
		struct msd_peer *peer = MSD_CONTAINER_OF(it, struct msd_peer, link);
		if (peer->guest != NULL)
			look_at(peer, passed_ms);
	}
	next_ms = look_ms(w);
	if (next_ms == 0) {
		(void)uv_timer_stop(timer);
	} else if (next_ms != passed_ms) {
		(void)uv_timer_start(timer, on_look, next_ms, next_ms);
	}
}

void msd_peer_timeout_init(struct msd_worker *w, uv_loop_t *loop)
{
	(void)uv_timer_init(loop, &w->stall);
	w->stall.data = w;
}

void msd_peer_timeout_watch(struct msd_worker *w)
{
	const uint64_t ms = look_ms(w);
	const bool looks_soon = uv_is_active((uv_handle_t *)&w->stall) &&
				uv_timer_get_repeat(&w->stall) <= ms;

	if (ms > 0 && !looks_soon)
		(void)uv_timer_start(&w->stall, on_look, ms, ms);
}

#include "daemon/worker/stall.h"

#include "daemon/worker/guest.h"

/* Happy path: while an answer is not written whole a timer looks at who reads. Failure:
 * so many looks have found somebody where it was before. They are counted, not the
 * time: during a call of the worker's nothing is written to anybody. */
#define LOOKS 4u
/* What one that leaves reads in that time, or all that there is. */
#define LEAST_BYTES UINT64_C(65536)

static bool waits(const struct msd_peer *peer)
{
	return peer->guest != NULL && peer->conn.queued_bytes > 0 &&
	       !msd_conn_is_closing(&peer->conn);
}

/* How often those that there are now are looked at; they were given the same time, but
 * for those before another configuration. 0: nobody waits. */
static uint64_t look_ms(const struct msd_worker *w)
{
	uint64_t least_ms = 0;

	MSD_LIST_EACH (it, &w->peers) {
		const struct msd_peer *peer =
			MSD_CONTAINER_OF(it, struct msd_peer, link);
		const uint64_t ms = waits(peer) ? peer->guest->stall_ms / LOOKS + 1 : 0;
		if (ms > 0 && (least_ms == 0 || ms < least_ms))
			least_ms = ms;
	}
	return least_ms;
}

/* Of @peer, which has not read all. */
static bool has_read(const struct msd_peer *peer)
{
	const uint64_t n = peer->conn.bytes_out - peer->guest->read_bytes;

	return n >= (peer->guest->is_leaving ? LEAST_BYTES : 1);
}

static void look_at(struct msd_peer *peer, uint64_t passed_ms)
{
	struct msd_guest *g = peer->guest;

	if (!waits(peer) || has_read(peer)) {
		g->read_bytes = peer->conn.bytes_out;
		g->still_ms = 0;
		return;
	}
	g->still_ms += passed_ms;
	if (g->still_ms > g->stall_ms) {
		msd_conn_close(&peer->conn, MSD_BUSY,
			       "does not read its replies (--write-stall)");
	}
}

static void on_look(uv_timer_t *timer)
{
	struct msd_worker *w = timer->data;
	const uint64_t passed_ms = uv_timer_get_repeat(timer);

	MSD_LIST_EACH_SAFE (it, &w->peers) {
		struct msd_peer *peer = MSD_CONTAINER_OF(it, struct msd_peer, link);
		if (peer->guest != NULL)
			look_at(peer, passed_ms);
	}
	if (look_ms(w) == 0)
		(void)uv_timer_stop(timer);
}

void msd_stall_init(struct msd_worker *w, uv_loop_t *loop)
{
	(void)uv_timer_init(loop, &w->stall);
	w->stall.data = w;
}

void msd_stall_watch(struct msd_worker *w)
{
	const uint64_t ms = uv_is_active((uv_handle_t *)&w->stall) ? 0 : look_ms(w);

	if (ms > 0)
		(void)uv_timer_start(&w->stall, on_look, ms, ms);
}

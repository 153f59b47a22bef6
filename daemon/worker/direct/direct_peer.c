/* Happy path: a direct peer requests a call of a function that it may call. Failures:
 * any other request is refused, with advice how to do it. */
#include "daemon/worker/direct/direct_peer.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/segments/segment.h"
#include "proto/value.h"

void msd_direct_peer_free(struct msd_peer *peer)
{
	struct msd_direct_peer *g = peer->guest;

	if (g == NULL)
		return;
	msd_direct_peer_drop_results(peer);
	msd_segpool_finish(&g->payloads);
	free(g->functions);
	free(g);
	peer->guest = NULL;
}

bool msd_direct_peer_is_laden(const struct msd_peer *peer)
{
	const struct msd_direct_peer *g = peer->guest;

	return peer->n_queued >= g->max_requests || g->held_bytes >= g->max_bytes ||
	       g->body_bytes >= MSD_DIRECT_PEER_BODIES_BYTES ||
	       msd_direct_peer_is_full(peer);
}

bool msd_direct_peer_is_light(const struct msd_peer *peer)
{
	const struct msd_direct_peer *g = peer->guest;

	return peer->n_queued <= g->max_requests / 2 &&
	       g->held_bytes <= g->max_bytes / 2 &&
	       g->body_bytes <= MSD_DIRECT_PEER_BODIES_BYTES / 2 &&
	       !msd_direct_peer_is_full(peer);
}

static void release_slot(struct msd_direct_peer *g, struct msd_slot *slot)
{
	if (slot->p != NULL)
		(void)!msd_segpool_free(&g->payloads, slot->segment, slot->offset);
	*slot = (struct msd_slot){0};
}

/*
 * The bytes begin at a page boundary. The read buffer has them at another page
 * offset. A copy to an address slightly behind the source's page offset takes twice
 * as long.
 */
bool msd_direct_peer_payload_get(struct msd_direct_peer *g, uint64_t bytes)
{
	bytes = msd_round_up(bytes, MSD_PAGE_BYTES);
	if (g->coming.p != NULL && g->coming.bytes == bytes)
		return true;
	release_slot(g, &g->coming);
	return msd_segpool_alloc(&g->payloads, bytes, &g->coming, NULL) == MSD_OK;
}

/* A pool has no smaller segments. */
static uint64_t most_kept(const struct msd_direct_peer *g)
{
	if (g->max_bytes < MSD_MIN_SEGMENT_BYTES)
		return MSD_MIN_SEGMENT_BYTES;
	return g->max_bytes < MSD_DIRECT_PEER_KEPT_BYTES ? g->max_bytes
							 : MSD_DIRECT_PEER_KEPT_BYTES;
}

/* The next frame may have a payload of that size. Otherwise it is free before the pool
 * grows, so that what is kept stays within its limit. */
void msd_direct_peer_payload_free(struct msd_direct_peer *g, struct msd_slot *slot)
{
	struct msd_segpool *pool = &g->payloads;
	const uint64_t most = most_kept(g);

	if (slot->p != NULL && g->coming.p == NULL && pool->warm_bytes <= most) {
		g->coming = *slot;
		*slot = (struct msd_slot){0};
		return;
	}
	release_slot(g, slot);
	if (pool->warm_bytes - pool->used_bytes > most)
		msd_segpool_trim(pool, 0);
}

/* Bytes that other direct peers use above their fair shares. */
static uint64_t taken_by_others(const struct msd_peer *peer)
{
	uint64_t taken = 0;

	MSD_LIST_EACH (it, &peer->worker->peers) {
		const struct msd_peer *other =
			MSD_CONTAINER_OF(it, struct msd_peer, link);
		const struct msd_segpool *pool = &other->out.pool;

		if (other != peer && other->guest != NULL &&
		    pool->warm_bytes > pool->max_bytes)
			taken += pool->warm_bytes - pool->max_bytes;
	}
	return taken;
}

msd_err msd_direct_peer_alloc(struct msd_peer *peer, uint64_t bytes,
			      enum msd_outpool_as as, struct msd_slot *ret,
			      struct msd_diag *d)
{
	const uint64_t all = peer->worker->max_out;
	uint64_t *most = &peer->out.pool.max_bytes;
	msd_err err = msd_outpool_alloc(&peer->out, bytes, as, ret, d);

	if (err != MSD_NO_SPACE)
		return err;
	const uint64_t part = *most, taken = taken_by_others(peer);
	*most = part + (taken < all ? all - taken : 0);
	err = msd_outpool_alloc(&peer->out, bytes, as, ret, d);
	*most = part;
	return err;
}

static bool is_among(const struct msd_direct_peer *g, struct msd_span function)
{
	struct msd_cur c = {.p = g->functions, .left = g->n_functions};
	struct msd_wire_value v;

	while (c.left > 0 && msd_value_read(&c, &v, NULL) == MSD_OK) {
		if (v.kind == MSD_K_STR && v.as.str.n == function.n &&
		    memcmp(v.as.str.p, function.p, function.n) == 0)
			return true;
	}
	return false;
}

msd_err msd_direct_peer_check(const struct msd_request *r,
			      const struct msd_span *function, struct msd_diag *d)
{
	const struct msd_direct_peer *g = r->peer->guest;

	if (r->method != MSD_M_CALL) {
		return msd_diag_set(d, MSD_REFUSED,
				    "a direct channel supports only call and cancel; "
				    "ask the daemon");
	}
	if (g->functions == NULL || function == NULL || is_among(g, *function))
		return MSD_OK;
	return msd_diag_set(d, MSD_REFUSED,
			    "this direct channel was not opened for function %.*s",
			    (int)(function->n < 200 ? function->n : 200),
			    (const char *)function->p);
}

/*
 * A call's results are in slots of the peer's own pool, which no other process maps.
 * They become pieces of the frame and are written from there; the last byte, or the end
 * of the connection, frees the slots.
 */
struct msd_direct_peer_results {
	struct msd_peer *peer;
	uint32_t n;
	struct msd_slot slots[];
};

msd_err msd_direct_peer_keep(struct msd_peer *peer, const struct msd_slot *slots,
			     uint32_t n, struct msd_diag *d)
{
	struct msd_direct_peer_results *r =
		malloc(sizeof(*r) + n * sizeof(r->slots[0]));

	if (r == NULL)
		return msd_diag_no_memory(d);
	r->peer = peer;
	r->n = n;
	memcpy(r->slots, slots, n * sizeof(r->slots[0]));
	peer->guest->results = r;
	return MSD_OK;
}

static void release(void *ctx, bool sent)
{
	struct msd_direct_peer_results *r = ctx;

	(void)sent;
	for (uint32_t i = 0; i < r->n; i++) {
		(void)!msd_outpool_free(&r->peer->out, r->slots[i].segment,
					r->slots[i].offset);
	}
	free(r);
}

void msd_direct_peer_drop_results(struct msd_peer *peer)
{
	if (peer->guest->results != NULL)
		release(peer->guest->results, false);
	peer->guest->results = NULL;
}

void msd_direct_peer_reply(struct msd_peer *peer, const struct msd_buf *body)
{
	struct msd_direct_peer_results *r = peer->guest->results;
	struct msd_out *o = body->bad ? NULL : msd_out_new();
	bool is_whole = o != NULL;

	for (uint32_t i = 0; is_whole && i < r->n; i++) {
		is_whole = msd_out_add_piece(o, r->slots[i].p, r->slots[i].bytes) !=
			   UINT64_MAX;
	}
	if (!is_whole) {
		msd_out_destroy(o);
		msd_direct_peer_drop_results(peer);
		msd_conn_close(&peer->conn, MSD_NOMEM, "out of memory for a reply");
		return;
	}
	msd_buf_put(&o->body, body->p, body->n);
	o->on_done = release;
	o->ctx = r;
	peer->guest->results = NULL;
	msd_conn_send(&peer->conn, o);
}

/*
 * Replies to direct peers. Happy path: a call's results are in slots of the peer's
 * own pool, which no other process maps. They become pieces of the frame and are
 * written from there; the last byte frees the slots. Failures: the connection ends
 * first, and the slots are freed, too.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/worker/direct/direct_peer.h"

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

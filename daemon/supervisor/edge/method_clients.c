/*
 * client.list: the connections, what each does and holds, and why it is not read;
 * client.kill ends one.
 */
#include "daemon/log.h"
#include "daemon/supervisor/edge/client_peer.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/framed.h"
#include "daemon/supervisor/edge/method.h"
#include "daemon/supervisor/edge/standing.h"
#include "proto/unpack.h"

#define N_KEYS 13u

/* One reason is enough: each that is left stops it again. */
static const char *state_of(const struct msd_framed *f)
{
	if (f->conn.waits_for_place || (f->conn.paused & MSD_PAUSE_ROOM) != 0)
		return "waits for tensor memory";
	if ((f->conn.paused & MSD_PAUSE_MEMORY) != 0)
		return "holds too much";
	if ((f->conn.paused & MSD_PAUSE_REQUESTS) != 0)
		return "waits for answers";
	return "reading";
}

static void put_session(struct msd_buf *b, struct msd_framed *f)
{
	struct msd_session *s = &f->session;
	char peer[MSD_PEER_TEXT_BYTES], room[MSD_PEER_TEXT_BYTES];

	msd_pack_map(b, N_KEYS);
	msd_pack_pair_uint(b, "connection", s->number);
	msd_pack_pair_str(b, "peer", msd_peer_id_text(s->peer->who, peer));
	msd_pack_pair_str(b, "user", msd_standing_name(s, room));
	msd_pack_pair_str(b, "state", state_of(f));
	msd_pack_pair_uint(b, "age_ms", uv_now(s->edge->loop) - s->opened_ms);
	msd_pack_pair_uint(b, "in_flight", s->client.n_in_flight);
	msd_pack_pair_uint(b, "in_bytes", f->conn.bytes_in);
	msd_pack_pair_uint(b, "out_bytes", f->conn.bytes_out);
	msd_pack_pair_uint(b, "held_bytes", s->client.account.used_bytes);
	msd_pack_pair_uint(b, "most_bytes", msd_account_limit(&s->client.account));
	msd_pack_pair_uint(b, "unread_bytes", f->conn.queued_bytes);
	msd_pack_pair_uint(b, "handles", s->handles.n_live);
	msd_pack_pair_uint(b, "uploads", s->n_uploads);
}

/* Who is connected from where is not for everybody: who may not administer learns of
 * its own peer's connections alone. */
static bool may_see(struct msd_session *asker, const struct msd_framed *f)
{
	return !f->is_refused && (asker->peer == f->session.peer ||
				  msd_standing_has(asker, MSD_RIGHT_ADMIN));
}

msd_err msd_method_clients(struct msd_method_call *c, struct msd_diag *d)
{
	const struct msd_edge *e = c->session->edge;
	uint32_t n = 0;

	(void)d;
	MSD_LIST_EACH (it, &e->sessions) {
		n += may_see(c->session, MSD_CONTAINER_OF(it, struct msd_framed, link));
	}
	msd_pack_array(&c->result, n);
	MSD_LIST_EACH (it, &e->sessions) {
		struct msd_framed *f = MSD_CONTAINER_OF(it, struct msd_framed, link);
		if (may_see(c->session, f))
			put_session(&c->result, f);
	}
	return MSD_OK;
}

msd_err msd_method_kill(struct msd_method_call *c, struct msd_diag *d)
{
	uint64_t number;
	char room[MSD_PEER_TEXT_BYTES], who[MSD_PEER_TEXT_BYTES];
	struct msd_framed *found = NULL;
	msd_err err = msd_object_uint(&c->params->via.array.ptr[0], "connection",
				      UINT64_MAX, &number, d);

	if (err != MSD_OK)
		return err;
	MSD_LIST_EACH (it, &c->session->edge->sessions) {
		struct msd_framed *f = MSD_CONTAINER_OF(it, struct msd_framed, link);
		found = f->session.number == number && !f->conn.is_closing ? f : found;
	}
	if (found == NULL) {
		return msd_diag_set(d, MSD_NOT_FOUND,
				    "no connection has the number %llu",
				    (unsigned long long)number);
	}
	if (&found->session == c->session) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "client.kill: connection %llu is the one that asks",
				    (unsigned long long)number);
	}
	msd_log(MSD_LOG_INFO, "kill", "conn=%llu peer=\"%s\" by=%llu user=\"%s\"",
		(unsigned long long)number,
		msd_peer_id_text(found->session.peer->who, who),
		(unsigned long long)c->session->number,
		msd_standing_name(c->session, room));
	msd_conn_close(&found->conn, MSD_REFUSED, "an operator has ended it");
	msd_pack_nil(&c->result);
	return MSD_OK;
}

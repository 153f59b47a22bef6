/* client.list: the connections, their activity, their memory and why they are not
 * read. client.kill closes one. */
#include "daemon/supervisor/edge/access/audit.h"
#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/edge/session/session.h"
#include "proto/unpack.h"

#define N_KEYS 13u

static void put_session(struct msd_buf *b, struct msd_session *s)
{
	char peer[MSD_PEER_TEXT_BYTES], room[MSD_PEER_TEXT_BYTES];

	msd_pack_map(b, N_KEYS);
	msd_pack_pair_uint(b, "connection", s->number);
	msd_pack_pair_str(b, "peer", msd_peer_id_text(s->peer->who, peer));
	msd_pack_pair_str(b, "user", msd_authorization_name(s, room));
	msd_pack_pair_str(b, "state", s->front->state(s));
	msd_pack_pair_uint(b, "age_ms", uv_now(s->edge->loop) - s->opened_ms);
	msd_pack_pair_uint(b, "in_flight", s->client.n_in_flight);
	msd_pack_pair_uint(b, "in_bytes", s->conn->bytes_in);
	msd_pack_pair_uint(b, "out_bytes", s->conn->bytes_out);
	msd_pack_pair_uint(b, "held_bytes", s->client.account.used_bytes);
	msd_pack_pair_uint(b, "most_bytes", msd_account_limit(&s->client.account));
	msd_pack_pair_uint(b, "unread_bytes", s->conn->queued_bytes);
	msd_pack_pair_uint(b, "handles", s->handles.n_live);
	msd_pack_pair_uint(b, "uploads", s->n_uploads);
}

/* A rejected or closing connection does not count as a client. */
static bool is_client(const struct msd_session *s)
{
	return !s->is_refused && !s->conn->is_closing;
}

/* The list of peers is confidential: without the admin right a client sees only the
 * connections of its own peer. */
static bool may_see(struct msd_session *asker, struct msd_session *s)
{
	return is_client(s) && (asker->peer == s->peer ||
				msd_authorization_has(asker, MSD_RIGHT_ADMIN));
}

static struct msd_session *session_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_session, link);
}

msd_err msd_method_clients(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_edge *e = c->session->edge;
	uint32_t n = 0;

	(void)d;
	MSD_LIST_EACH (it, &e->everybody) {
		n += may_see(c->session, session_of(it));
	}
	msd_pack_array(&c->result, n);
	MSD_LIST_EACH (it, &e->everybody) {
		if (may_see(c->session, session_of(it)))
			put_session(&c->result, session_of(it));
	}
	return MSD_OK;
}

msd_err msd_method_kill(struct msd_method_call *c, struct msd_diag *d)
{
	uint64_t number;
	struct msd_session *found = NULL;
	msd_err err = msd_object_uint(&c->params->via.array.ptr[0], "connection",
				      UINT64_MAX, &number, d);

	if (err != MSD_OK)
		return err;
	MSD_LIST_EACH (it, &c->session->edge->everybody) {
		struct msd_session *s = session_of(it);
		found = s->number == number && is_client(s) ? s : found;
	}
	if (found == NULL) {
		return msd_diag_set(d, MSD_NOT_FOUND,
				    "no connection has the number %llu",
				    (unsigned long long)number);
	}
	if (found == c->session) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "client.kill: connection %llu is your own",
				    (unsigned long long)number);
	}
	msd_audit_killed(c->session, found);
	msd_session_close(found, MSD_REFUSED, "an operator ended it");
	msd_pack_nil(&c->result);
	return MSD_OK;
}

/* Limited to the range of the counter. */
#include "daemon/supervisor/edge/session/session.h"

#include <stdlib.h>
#include <unistd.h>

#include "daemon/limits.h"
#include "daemon/stream/conn.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/objects/session_segments.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/queue/queue.h"

static uint32_t most_handles(const struct msd_limits *limits)
{
	return limits->max_handles < UINT32_MAX ? (uint32_t)limits->max_handles
						: UINT32_MAX;
}

void msd_session_init(struct msd_session *s, struct msd_edge *e,
		      const struct msd_client_ops *ops, struct msd_client_peer *peer,
		      struct msd_conn *conn)
{
	s->edge = e;
	s->conn = conn;
	s->calls.weigh = msd_account_weigh;
	s->calls.ctx = &s->client.account;
	s->number = msd_counts_connection(&e->counts);
	s->opened_ms = uv_now(e->loop);
	msd_client_init(&s->client, ops);
	s->client.peer = peer->who;
	s->client.number = s->number;
	s->came_from = peer->who;
	s->peer = peer;
	msd_list_init(&s->space_link);
	msd_list_append(&e->everybody, &s->link);
	msd_list_append(&e->sessions, &s->watch_link);
	msd_conn_timeout_init(&s->watch, s->opened_ms);
	msd_handles_init(&s->handles, most_handles(e->limits));
	msd_account_open(&s->client.account, &peer->account,
			 e->limits->max_connection_memory);
	msd_handles_charge_to(&s->handles, &s->client.account);
}

void msd_session_close(struct msd_session *s, msd_err err, const char *why)
{
	if (s->front->close != NULL) {
		s->front->close(s, err, why);
	} else {
		msd_conn_close(s->conn, err, why);
	}
}

void msd_session_leave(struct msd_session *s)
{
	msd_list_remove(&s->link);
	msd_list_remove(&s->watch_link);
	msd_list_remove(&s->space_link);
	msd_direct_end_client(&s->client);
	msd_client_leave(&s->client);
	msd_queue_leave(&s->client);
	msd_session_segments_leave(s);
	msd_buf_finish(&s->inlines);
	msd_buf_finish(&s->places);
	msd_memory_finish(&s->calls);
}

struct msd_req *msd_session_find(struct msd_session *s, uint64_t id)
{
	MSD_LIST_EACH (it, &s->client.requests) {
		struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, client.link);
		if (r->client.id == id)
			return r;
	}
	return NULL;
}

bool msd_client_peer_is_operator(const struct msd_client_peer *p)
{
	return p->who.kind == MSD_PEER_USER &&
	       (p->who.value == 0 || p->who.value == geteuid());
}

void msd_client_peers_init(struct msd_client_peers *ps, uint64_t max_bytes)
{
	msd_list_init(&ps->all);
	msd_account_open(&ps->account, NULL, max_bytes);
}

struct msd_client_peer *msd_client_peer_get(struct msd_client_peers *ps,
					    struct msd_peer_id who, uint64_t max_bytes)
{
	MSD_LIST_EACH (it, &ps->all) {
		struct msd_client_peer *p =
			MSD_CONTAINER_OF(it, struct msd_client_peer, link);
		if (msd_peer_id_is(p->who, who))
			return msd_client_peer_ref(p);
	}
	struct msd_client_peer *p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->who = who;
	msd_account_open(&p->account, &ps->account, max_bytes);
	msd_list_append(&ps->all, &p->link);
	return msd_client_peer_ref(p);
}

struct msd_client_peer *msd_client_peer_ref(struct msd_client_peer *p)
{
	p->n_refs++;
	return p;
}

void msd_client_peer_unref(struct msd_client_peer *p)
{
	if (--p->n_refs > 0)
		return;
	msd_list_remove(&p->link);
	msd_account_close(&p->account);
	free(p);
}

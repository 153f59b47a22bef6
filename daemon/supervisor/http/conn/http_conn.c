#include "daemon/supervisor/http/conn/http_conn.h"

#include <stdlib.h>

#include "daemon/supervisor/edge/access/audit.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/listen/accept.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/http/conn/http_conn_end.h"
#include "daemon/supervisor/http/conn/http_conn_turn.h"
#include "daemon/supervisor/http/conn/http_conn_write.h"
#include "daemon/supervisor/http/infer/infer.h"
#include "daemon/supervisor/http/infer/infer_inputs.h"

/* If the client is gone, no reply is sent; the thread has finished with its data. */
static void on_answer(struct msd_http_session *c)
{
	struct msd_http_conn *v = MSD_CONTAINER_OF(c, struct msd_http_conn, caller);

	if (v->is_closed) {
		msd_http_conn_destroy(v);
	} else if (!v->is_closing) {
		msd_http_conn_answered(c);
	}
}

static void on_room(struct msd_http_session *c)
{
	struct msd_http_conn *v = MSD_CONTAINER_OF(c, struct msd_http_conn, caller);

	if (!v->is_closing)
		msd_http_conn_placed(v);
}

static void on_grown(struct msd_http_session *c)
{
	msd_http_conn_charge(MSD_CONTAINER_OF(c, struct msd_http_conn, caller));
}

static void close_for(struct msd_session *s, msd_err err, const char *why)
{
	struct msd_http_session *c =
		MSD_CONTAINER_OF(s, struct msd_http_session, session);

	(void)err;
	msd_http_conn_close(MSD_CONTAINER_OF(c, struct msd_http_conn, caller), why);
}

static const struct msd_frontend_ops front_ops = {
	.look = msd_http_conn_look,
	.fill = msd_infer_fill,
	.on_resumed = msd_infer_on_resumed,
	.came = msd_infer_came,
	.close = close_for,
};

void msd_http_conn_open(struct msd_http *h, struct msd_transport transport,
			struct msd_principal who, struct msd_client_peer *peer)
{
	struct msd_edge *e = h->edge;
	struct msd_http_conn *v = calloc(1, sizeof(*v));

	if (v == NULL || uv_poll_init(e->loop, &v->poll, transport.fd) != 0) {
		free(v);
		transport.ops->close(&transport);
		msd_accept_release_slot(e, peer);
		msd_client_peer_unref(peer);
		return;
	}
	v->transport = transport;
	msd_session_init(&v->caller.session, e, &msd_infer_client_ops, peer);
	v->caller.session.front = &front_ops;
	v->caller.session.transport = &v->transport;
	v->caller.session.principal = who;
	v->caller.json = &h->json;
	v->caller.history = &h->history;
	v->caller.on_answer = on_answer;
	v->caller.on_room = on_room;
	v->caller.on_grown = on_grown;
	v->poll.data = v;
	msd_http_conn_schedule(v);
	v->last_progress_ms = uv_now(e->loop);
	msd_http_reader_init(&v->reader);
	msd_conn_timeout_init(&v->watch, uv_now(e->loop));
	msd_list_append(&h->visits, &v->link);
	msd_http_watch(h);
	msd_counts_http_connection(&e->counts);
	msd_audit_connected(&v->caller.session, true);
	msd_http_conn_settle(v);
}

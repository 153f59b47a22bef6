#include "daemon/supervisor/http/conn/http_conn.h"

#include <stdlib.h>

#include "daemon/log.h"
#include "daemon/supervisor/edge/access/audit.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/listen/accept.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/edge/session/sessions.h"
#include "daemon/supervisor/http/conn/http_conn_serve.h"
#include "daemon/supervisor/http/conn/http_conn_state.h"
#include "daemon/supervisor/http/infer/infer.h"
#include "daemon/supervisor/http/infer/infer_inputs.h"
#include "daemon/supervisor/http/page/chunked_answer.h"

/* It is closed, and no thread uses its data. */
static void destroy(struct msd_http_conn *v)
{
	struct msd_session *s = &v->caller.session;
	struct msd_edge *e = s->edge;

	msd_counts_http_end(&e->counts);
	msd_http_reader_finish(&v->reader);
	msd_buf_finish(&v->out);
	msd_session_leave(s);
	msd_chunked_answer_end(&v->caller);
	msd_infer_end(&v->caller, false);
	msd_buf_finish(&v->caller.asking.body);
	msd_http_conn_charge(v);
	msd_account_close(&s->client.account);
	msd_accept_release_slot(e, s->peer);
	msd_client_peer_unref(s->peer);
	free(v);
	e->on_session_gone(e);
}

static void on_closed(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_http_conn *v = c->user;

	msd_log(MSD_LOG_DEBUG, "connection_close", "conn=%llu why=\"%s\"",
		(unsigned long long)v->caller.session.number,
		err == MSD_IO ? "the connection is broken" : why);
	v->is_closed = true;
	if (!msd_infer_is_busy(&v->caller))
		destroy(v);
}

/* If the client is gone, no reply is sent; the thread has finished with its data. */
static void on_answer(struct msd_http_session *c)
{
	struct msd_http_conn *v = msd_http_conn_of(c);

	if (v->is_closed) {
		destroy(v);
	} else if (!v->conn.is_closing) {
		msd_http_conn_answer_later(v);
		msd_http_conn_settle(v);
	}
}

static void on_room(struct msd_http_session *c)
{
	struct msd_http_conn *v = msd_http_conn_of(c);

	if (!v->conn.is_closing) {
		msd_http_conn_settle_body(v);
		msd_http_conn_settle(v);
	}
}

static void on_grown(struct msd_http_session *c)
{
	msd_http_conn_charge(msd_http_conn_of(c));
}

static const char *state_of(const struct msd_session *s)
{
	if (s->receiving != NULL && (s->conn->paused & MSD_PAUSE_REQUESTS) != 0)
		return "waits for tensor memory";
	return s->conn->paused != 0 ? "waits for answers" : "reading";
}

static const struct msd_frontend_ops front_ops = {
	.state = state_of,
	.fill = msd_infer_fill,
	.on_resumed = msd_infer_on_resumed,
	.came = msd_infer_came,
};

static const struct msd_conn_ops conn_ops = {.codec = &msd_http_codec,
					     .on_closed = on_closed};

void msd_http_conn_open(struct msd_http *h, struct msd_transport transport,
			struct msd_principal who, struct msd_client_peer *peer)
{
	struct msd_edge *e = h->edge;
	struct msd_http_conn *v = calloc(1, sizeof(*v));

	if (v == NULL) {
		transport.ops->close(&transport);
		goto drop;
	}
	const struct msd_conn_limits limits = {
		.max_queued_bytes = UINT64_MAX,
		.account = &v->caller.session.client.account,
		.takes_turns = true,
	};
	if (msd_conn_open(&v->conn, e->wire, transport, &conn_ops, &limits, v, NULL) !=
	    MSD_OK)
		goto drop;
	v->caller.json = &h->json;
	v->caller.history = &h->history;
	v->caller.on_answer = on_answer;
	v->caller.on_room = on_room;
	v->caller.on_grown = on_grown;
	v->caller.session.front = &front_ops;
	v->caller.session.principal = who;
	msd_http_reader_init(&v->reader);
	msd_session_init(&v->caller.session, e, &msd_infer_client_ops, peer, &v->conn);
	msd_sessions_watch(e);
	msd_counts_http_connection(&e->counts);
	msd_audit_connected(&v->caller.session, true);
	return;
drop:
	free(v);
	msd_accept_release_slot(e, peer);
	msd_client_peer_unref(peer);
}

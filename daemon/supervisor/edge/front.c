/*
 * Happy path of a call with tensors:
 *  - on_body: admitted, prepared, room reserved, the payload is read straight into the
 *    in segment
 *  - on_frame: queued with the module; the reply is sent from the out segment
 *
 * Failures:
 *  - a wrong request is answered on its body, its payload is skipped
 *  - no room now, for arguments or declared outputs: reading stops until other requests
 *    are done
 *  - an id that is in flight already, a response, an unknown notification: disconnected
 */
#include "daemon/supervisor/edge/front.h"

#include <stdlib.h>
#include <unistd.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/edge/audit.h"
#include "daemon/supervisor/edge/call.h"
#include "daemon/supervisor/edge/client_peer.h"
#include "daemon/supervisor/edge/framed.h"
#include "daemon/supervisor/edge/leavings.h"
#include "daemon/supervisor/edge/method.h"
#include "daemon/supervisor/edge/methods.h"
#include "daemon/supervisor/edge/pressure.h"
#include "daemon/supervisor/edge/remember.h"
#include "daemon/supervisor/edge/sessions.h"
#include "daemon/supervisor/edge/share.h"
#include "daemon/supervisor/edge/standing.h"
#include "daemon/supervisor/edge/upload.h"
#include "daemon/wire/without.h"

/* in->user of a frame whose payload is being read: admitted, or answered already. A
 * request that a worker answers is there itself. */
static char admitted, answered;

static struct msd_framed *framed_of(struct msd_client *c)
{
	return msd_framed_of(MSD_CONTAINER_OF(c, struct msd_session, client));
}

static void reply(struct msd_client *c, uint64_t id, const struct msd_buf *result)
{
	msd_framed_reply(framed_of(c), id, result);
}

static void reply_error(struct msd_client *c, uint64_t id, const struct msd_diag *why)
{
	msd_framed_reply_failure(framed_of(c), id, why);
}

static void forward(struct msd_client *c, struct msd_out *o)
{
	msd_conn_send(&framed_of(c)->conn, o);
}

static uint8_t *put(struct msd_client *c, size_t n, struct msd_written *w)
{
	return msd_conn_put(&framed_of(c)->conn, n, w);
}

/* It is answered before its payload has come: the rest is read and dropped. */
static void stop_receiving(struct msd_framed *f)
{
	f->session.receiving = NULL;
	msd_list_remove(&f->session.space_link);
	f->conn.in.user = &answered;
	msd_conn_skip_payload(&f->conn);
	msd_conn_pause(&f->conn, MSD_PAUSE_ROOM, false);
}

/* Reading may go on. */
static void on_request_done(struct msd_client *c, const struct msd_req *r)
{
	struct msd_framed *f = framed_of(c);

	if (r == f->session.receiving)
		stop_receiving(f);
	if (c->n_in_flight < f->session.edge->limits->max_in_flight)
		msd_conn_pause(&f->conn, MSD_PAUSE_REQUESTS, false);
}

static enum msd_place place_later(struct msd_framed *f)
{
	msd_list_append(&f->session.edge->space_waiters, &f->session.space_link);
	return MSD_PLACE_LATER;
}

/* Answer now; what is left of the frame is read and dropped. */
static enum msd_place refuse(struct msd_framed *f, struct msd_in *in,
			     struct msd_diag *d)
{
	if (in->body.kind == MSD_REQUEST)
		msd_framed_reply_failure(f, in->body.id, d);
	msd_diag_finish(d);
	in->user = &answered;
	return MSD_PLACE_SKIP;
}

/* Clients count their ids upwards: an id above all that came cannot be in flight. */
static bool is_in_flight(struct msd_framed *f, uint64_t id)
{
	if (id > f->highest_id) {
		f->highest_id = id;
		return false;
	}
	return msd_session_find(&f->session, id) != NULL;
}

/*
 * The one place where is asked who may do what: once for each frame, before anything is
 * done for it. False: it was answered, or the connection is closing.
 */
static bool admit(struct msd_framed *f, struct msd_in *in, enum msd_method method)
{
	struct msd_session *s = &f->session;
	struct msd_diag d = {0};

	if (in->body.kind == MSD_RESPONSE) {
		msd_conn_close(&f->conn, MSD_PROTOCOL, "clients send no responses");
	} else if (in->body.kind == MSD_NOTIFICATION && method != MSD_M_CANCEL) {
		msd_conn_close(&f->conn, MSD_PROTOCOL,
			       "the only notification of a client is cancel");
	} else if (in->body.kind == MSD_REQUEST && is_in_flight(f, in->body.id)) {
		msd_conn_close(&f->conn, MSD_PROTOCOL,
			       "a request id is in flight twice");
	}
	if (f->conn.is_closing)
		return false;
	if (msd_standing_ask(s, in, method, &d) == MSD_OK &&
	    msd_standing_spend(s, in, method, &d) == MSD_OK)
		return !f->conn.is_closing;
	if (method == MSD_M_CALL && in->body.kind == MSD_REQUEST)
		msd_counts_lost_call(&s->edge->counts, d.code);
	(void)refuse(f, in, &d);
	return false;
}

static enum msd_place place_call(struct msd_framed *f, struct msd_in *in,
				 enum msd_method method)
{
	struct msd_session *s = &f->session;
	struct msd_diag d = {0};
	struct msd_req *r;
	msd_err err = msd_call_prepare(s, in, method, &r, &d);

	if (err != MSD_OK)
		return refuse(f, in, &d);
	err = msd_share_place(s, r, in->payload_bytes, &d);
	if (err != MSD_OK && err != MSD_WAIT) {
		msd_call_drop(r, err);
		return refuse(f, in, &d);
	}
	s->receiving = r;
	in->user = r;
	if (err == MSD_WAIT)
		return place_later(f);
	in->payload = r->placement.slot.p;
	return MSD_PLACE_HERE;
}

static enum msd_place on_body(struct msd_conn *c, struct msd_in *in)
{
	struct msd_framed *f = c->user;
	enum msd_method method = msd_remember_method(in);
	struct msd_diag d = {0};
	uint8_t *at;

	if (!admit(f, in, method))
		return MSD_PLACE_SKIP;
	if (msd_method_is_forwarded(method))
		return place_call(f, in, method);
	in->user = &admitted;
	if (method == MSD_M_MODULE_UPLOAD) {
		if (msd_method_place_upload(&f->session, in, &at, &d) != MSD_OK)
			return refuse(f, in, &d);
		in->payload = at;
		return MSD_PLACE_HERE;
	}
	return MSD_PLACE_SKIP;
}

/* All of it has come, and there is room for what it declares as outputs. */
static void submit(struct msd_framed *f, struct msd_req *r)
{
	f->session.receiving = NULL;
	msd_call_submit(r);
}

/* A whole request without payload; what it declares as outputs may have to wait. */
static void call_at_once(struct msd_framed *f, struct msd_in *in,
			 enum msd_method method)
{
	struct msd_session *s = &f->session;
	struct msd_diag d = {0};
	struct msd_req *r = NULL;
	msd_err err = msd_call_prepare(s, in, method, &r, &d);

	if (err == MSD_OK)
		err = msd_share_place(s, r, 0, &d);
	if (err == MSD_OK) {
		submit(f, r);
	} else if (err == MSD_WAIT) {
		s->receiving = r;
		msd_conn_pause(&f->conn, MSD_PAUSE_ROOM, true);
		(void)place_later(f);
	} else {
		if (r != NULL)
			msd_call_drop(r, err);
		(void)refuse(f, in, &d);
	}
}

static void on_frame(struct msd_conn *c, struct msd_in *in)
{
	struct msd_framed *f = c->user;
	enum msd_method method = msd_remember_method(in);

	if (in->user == &answered)
		return;
	msd_counts_request(&f->session.edge->counts);
	if (in->user == NULL && !admit(f, in, method))
		return;
	if (msd_method_is_forwarded(method)) {
		if (in->user != NULL) { /* prepared when its payload began */
			submit(f, in->user);
		} else {
			call_at_once(f, in, method);
		}
	} else {
		msd_method_run(&f->session, in, method);
	}
	if (f->session.client.n_in_flight >= f->session.edge->limits->max_in_flight)
		msd_conn_pause(&f->conn, MSD_PAUSE_REQUESTS, true);
	msd_pressure_check(f);
}

static void on_short(struct msd_conn *c)
{
	msd_pressure_stop(c->user);
}

static void on_room(struct msd_session *s)
{
	struct msd_framed *f = msd_framed_of(s);
	struct msd_req *r = s->receiving;
	struct msd_diag d = {0};

	msd_err err = msd_share_place(s, r, f->conn.in.payload_bytes, &d);
	if (err == MSD_WAIT)
		return;
	if (err != MSD_OK) {
		msd_req_refuse(r, err, msd_diag_text(&d));
	} else if (f->conn.waits_for_place) {
		msd_list_remove(&s->space_link);
		msd_conn_place(&f->conn, r->placement.slot.p);
	} else {
		msd_list_remove(&s->space_link);
		submit(f, r);
		msd_conn_pause(&f->conn, MSD_PAUSE_ROOM, false);
	}
	msd_diag_finish(&d);
}

/* They know their session. */
static void drop_uploads(struct msd_session *s)
{
	const struct msd_handle_entry *e;
	uint32_t at = 0;

	while (s->n_uploads > 0 && (e = msd_handles_next(&s->handles, &at)) != NULL) {
		if (e->kind == MSD_K_UPLOAD)
			msd_upload_drop(e->object);
	}
}

static void on_closed(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_framed *f = c->user;
	struct msd_session *s = &f->session;
	struct msd_edge *e = s->edge;

	msd_framed_log_end(f, err, why);
	msd_list_remove(&f->pressure.link);
	msd_session_leave(s);
	drop_uploads(s);
	msd_leavings_take(e, &s->handles, s->peer);
	msd_list_remove(&f->link);
	if (!f->is_refused) {
		e->n_sessions--;
		s->peer->n_connections--;
	}
	msd_account_close(&s->client.account);
	msd_client_peer_unref(s->peer);
	free(f);
	e->on_session_gone(e);
}

static void close_for(struct msd_session *s, msd_err err, const char *why)
{
	msd_conn_close(&msd_framed_of(s)->conn, err, why);
}

static const struct msd_client_ops client_ops = {
	.reply = reply,
	.reply_error = reply_error,
	.forward = forward,
	.put = put,
	.on_done = on_request_done,
};

static const struct msd_front_ops front_ops = {
	.look = msd_framed_look, .on_room = on_room, .close = close_for};

static const struct msd_conn_ops conn_ops = {
	.farewell = msd_framed_farewell,
	.on_body = on_body,
	.on_frame = on_frame,
	.on_short = on_short,
	.on_closed = on_closed,
};

static struct msd_framed *framed_new(struct msd_edge *e, struct msd_transport transport,
				     struct msd_principal who,
				     struct msd_client_peer *peer)
{
	struct msd_framed *f = calloc(1, sizeof(*f));
	struct msd_diag d = {0};

	if (f == NULL) {
		transport.ops->close(&transport);
		return NULL;
	}
	struct msd_conn_limits limits = {
		.max_body_bytes = MSD_MAX_BODY_BYTES,
		.max_payload_bytes = e->limits->max_payload,
		.max_queued_bytes = e->limits->max_queued,
		.account = &f->session.client.account,
		.takes_fds = transport.may_pass_fds,
		.takes_turns = true,
		.gathers = !msd_without("gather"),
	};
	msd_list_init(&f->pressure.link);
	f->session.has_plans = !msd_without("plans");
	if (f->session.has_plans)
		limits.memory = &f->session.calls;
	if (msd_conn_open(&f->conn, e->wire, transport, &conn_ops, &limits, f, &d) !=
	    MSD_OK) {
		msd_log(MSD_LOG_WARN, "connect", "why=\"%s\"", msd_diag_text(&d));
		msd_diag_finish(&d);
		free(f);
		return NULL;
	}
	msd_session_init(&f->session, e, &client_ops, msd_client_peer_ref(peer));
	f->session.front = &front_ops;
	f->session.transport = &f->conn.transport;
	f->session.principal = who;
	msd_list_append(&e->sessions, &f->link);
	msd_watch_init(&f->watch, uv_now(e->loop));
	msd_sessions_watch(e);
	msd_audit_connected(&f->session, false);
	return f;
}

void msd_front_init(struct msd_edge *e)
{
	msd_list_init(&e->listeners);
	msd_list_init(&e->comers);
	msd_list_init(&e->everybody);
	msd_list_init(&e->sessions);
	msd_list_init(&e->space_waiters);
	msd_list_init(&e->info_waiters);
	msd_list_init(&e->pulls);
	msd_list_init(&e->uploads);
	msd_client_peers_init(&e->peers, e->limits->max_total_memory);
	msd_pressure_init(e);
	msd_leavings_init(e);
}

void msd_front_open(struct msd_edge *e, struct msd_transport transport,
		    struct msd_principal who, struct msd_client_peer *peer)
{
	struct msd_framed *f = framed_new(e, transport, who, peer);

	if (f == NULL)
		return;
	e->n_sessions++;
	peer->n_connections++;
}

void msd_front_refuse(struct msd_edge *e, struct msd_transport transport,
		      struct msd_principal who, struct msd_client_peer *peer,
		      const char *why)
{
	struct msd_framed *f = framed_new(e, transport, who, peer);

	if (f == NULL)
		return;
	f->is_refused = true;
	msd_conn_close(&f->conn, MSD_BUSY, why);
}

#include "daemon/supervisor/edge/session/dispatch.h"

#include "daemon/limits.h"
#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/edge/methods/methods.h"
#include "daemon/supervisor/edge/objects/dependents.h"
#include "daemon/supervisor/edge/objects/object.h"
#include "daemon/supervisor/edge/session/call.h"
#include "daemon/supervisor/edge/session/call_cache.h"
#include "daemon/supervisor/edge/session/frame_session.h"
#include "daemon/supervisor/edge/session/memory_pressure.h"
#include "daemon/supervisor/edge/session/receiving.h"

/*
 * Happy path of a call with tensors:
 *   - on_body: authorize, prepare and reserve memory; the payload is read straight into
 *     the input segment
 *   - on_frame: queue with the module; the reply is sent from the output segment
 *
 * Failures:
 *   - a wrong request: reply to its body, skip its payload
 *   - no room now for arguments or declared outputs: stop reading until other requests
 *     are done
 *   - an id that is in flight, a response, an unknown notification: disconnect
 */
/* in->user of a frame while its payload is read: authorized, or answered already. For
 * a request to a worker, in->user is the request. */
static char admitted, answered;

static struct msd_frame_session *framed_of(struct msd_client *c)
{
	return msd_frame_session_of(MSD_CONTAINER_OF(c, struct msd_session, client));
}

static void reply(struct msd_client *c, uint64_t id, const struct msd_buf *result)
{
	msd_frame_session_reply(framed_of(c), id, result);
}

static void reply_error(struct msd_client *c, uint64_t id, const struct msd_diag *why)
{
	msd_frame_session_reply_failure(framed_of(c), id, why);
}

static void forward(struct msd_client *c, struct msd_req *r, struct msd_out *o)
{
	struct msd_frame_session *f = framed_of(c);

	(void)r; /* the frame contains everything */
	if (msd_dependents_expects(f->session.awaiting))
		msd_dependents_keep_frame(f->session.awaiting, o);
	msd_conn_send(&f->conn, o);
}

/* If a result must be kept, forward() needs the reply as a whole. */
static uint8_t *put(struct msd_client *c, size_t n, struct msd_written *w)
{
	struct msd_frame_session *f = framed_of(c);

	return msd_dependents_expects(f->session.awaiting)
		       ? NULL
		       : msd_conn_put(&f->conn, n, w);
}

/* The request was answered before its payload arrived: read and drop the rest. */
static void skip_payload(struct msd_frame_session *f)
{
	f->conn.framing.in.user = &answered;
	msd_conn_skip_payload(&f->conn);
}

static void stop_receiving(struct msd_frame_session *f, const struct msd_req *r)
{
	msd_receiving_ended(&f->session);
	if (f->conn.framing.in.user == r)
		skip_payload(f);
	msd_conn_pause(&f->conn, MSD_PAUSE_ROOM, false);
}

static bool is_held(const struct msd_frame_session *f, const struct msd_req *r)
{
	return f->session.awaiting != NULL && r == f->session.awaiting->held;
}

/* Reading may continue. */
static void on_request_done(struct msd_client *c, const struct msd_req *r)
{
	struct msd_frame_session *f = framed_of(c);

	if (r == f->session.receiving)
		stop_receiving(f, r);
	if (is_held(f, r)) {
		f->session.awaiting->held = NULL;
		skip_payload(f);
	}
	if (c->n_in_flight < f->session.edge->limits->max_in_flight)
		msd_conn_pause(&f->conn, MSD_PAUSE_REQUESTS, false);
}

/* Reply now. The rest of the frame is read and dropped. */
static enum msd_place refuse(struct msd_frame_session *f, struct msd_in *in,
			     struct msd_diag *d)
{
	if (in->body.kind == MSD_REQUEST)
		msd_frame_session_reply_failure(f, in->body.id, d);
	msd_diag_finish(d);
	in->user = &answered;
	return MSD_PLACE_SKIP;
}

/* Clients count their ids upwards, so an id above all earlier ones cannot be in
 * flight. */
static bool is_in_flight(struct msd_frame_session *f, uint64_t id)
{
	if (id > f->highest_id) {
		f->highest_id = id;
		return false;
	}
	return msd_session_find(&f->session, id) != NULL;
}

/* True if a client may send such a frame. False: the connection is closing. */
static inline bool is_sound(struct msd_frame_session *f, const struct msd_in *in,
			    enum msd_method method)
{
	if (in->body.kind == MSD_RESPONSE) {
		msd_conn_close(&f->conn, MSD_PROTOCOL, "clients send no responses");
	} else if (in->body.kind == MSD_NOTIFICATION && method != MSD_M_CANCEL) {
		msd_conn_close(&f->conn, MSD_PROTOCOL,
			       "the only notification of a client is cancel");
	} else if (in->body.kind == MSD_REQUEST && is_in_flight(f, in->body.id)) {
		msd_conn_close(&f->conn, MSD_PROTOCOL,
			       "a request id is in flight twice");
	}
	return !f->conn.is_closing;
}

static void refuse_call(struct msd_frame_session *f, struct msd_in *in,
			enum msd_method method, struct msd_diag *d)
{
	if (method == MSD_M_CALL && in->body.kind == MSD_REQUEST)
		msd_counts_lost_call(&f->session.edge->counts, d->code);
	(void)refuse(f, in, d);
}

/* Authorize @in. The only place that checks rights: once for each frame, before any
 * other work. False: it was answered, or the connection is closing. */
static bool admit(struct msd_frame_session *f, struct msd_in *in,
		  enum msd_method method)
{
	struct msd_session *s = &f->session;
	struct msd_diag d = {0};

	if (!is_sound(f, in, method))
		return false;
	if (msd_authorization_ask(s, in, method, &d) == MSD_OK &&
	    msd_authorization_spend(s, in->payload_bytes, method, &d) == MSD_OK)
		return !f->conn.is_closing;
	refuse_call(f, in, method, &d);
	return false;
}

static void resume(struct msd_session *s, struct msd_in *in);

/* Handle a request that names results, or whose result will be named. False: it was
 * answered, or it waits and is resumed later together with its payload. */
static bool settle_results(struct msd_frame_session *f, struct msd_in *in,
			   enum msd_method method, enum msd_dependence *ret)
{
	struct msd_diag d = {0};

	if (!is_sound(f, in, method))
		return false;
	struct msd_dependents *a = msd_dependents_of(&f->session, resume);
	const msd_err err = a != NULL ? msd_dependents_take(a, in, method, ret, &d)
				      : msd_diag_no_memory(&d);
	if (err == MSD_OK)
		return *ret == MSD_DEPENDENCE_NOTHING;
	*ret = MSD_DEPENDENCE_NOTHING;
	refuse_call(f, in, method, &d);
	return false;
}

/* Like settle_results(), for any request. */
static inline bool has_results(struct msd_frame_session *f, struct msd_in *in,
			       enum msd_method method, enum msd_dependence *ret)
{
	*ret = MSD_DEPENDENCE_NOTHING;
	return in->known != NULL || !msd_dependents_concerns(in) ||
	       settle_results(f, in, method, ret);
}

static enum msd_place place_call(struct msd_frame_session *f, struct msd_in *in,
				 enum msd_method method)
{
	struct msd_session *s = &f->session;
	struct msd_diag d = {0};
	struct msd_req *r;
	msd_err err = msd_call_prepare(s, in, method, &r, &d);

	if (err == MSD_OK)
		err = msd_receiving_begin(s, r, in->payload_bytes, &d);
	if (err != MSD_OK)
		return refuse(f, in, &d);
	in->user = r;
	if (s->call == MSD_CALL_WAITING)
		return MSD_PLACE_LATER;
	msd_receiving_part(s);
	in->payload = r->placement.slot.p;
	return MSD_PLACE_HERE;
}

bool msd_dispatch_fill(struct msd_session *s, const uint8_t *was)
{
	struct msd_frame_session *f = msd_frame_session_of(s);

	(void)was; /* the connection counts bytes */
	if (!f->conn.waits_for_place || f->conn.framing.in.user != s->receiving)
		return true;
	msd_conn_place(&f->conn, s->receiving->placement.slot.p);
	return false;
}

void msd_dispatch_on_resumed(struct msd_session *s)
{
	if (s->receiving == NULL)
		msd_conn_pause(&msd_frame_session_of(s)->conn, MSD_PAUSE_ROOM, false);
}

uint64_t msd_dispatch_came(struct msd_session *s)
{
	return msd_frame_session_of(s)->conn.framing.have;
}

void msd_dispatch_on_reduced(struct msd_session *s)
{
	msd_conn_narrow(&msd_frame_session_of(s)->conn,
			s->receiving->placement.slot.bytes);
}

enum msd_place msd_dispatch_on_full(struct msd_conn *c, struct msd_in *in)
{
	struct msd_frame_session *f = c->user;

	(void)in; /* continues in msd_dispatch_fill() */
	msd_receiving_full(&f->session);
	return MSD_PLACE_LATER;
}

/* Find the destination for the payload of an authorized request. */
static enum msd_place place(struct msd_frame_session *f, struct msd_in *in,
			    enum msd_method method)
{
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

enum msd_place msd_dispatch_on_body(struct msd_conn *c, struct msd_in *in)
{
	struct msd_frame_session *f = c->user;
	const enum msd_method method = msd_call_cache_method(in);
	enum msd_dependence awaits;

	if (has_results(f, in, method, &awaits))
		return place(f, in, method);
	return awaits == MSD_DEPENDENCE_RESULTS ? MSD_PLACE_LATER : MSD_PLACE_SKIP;
}

/* Start a complete request without payload. It may have to wait for its declared
 * outputs. */
static inline void call_at_once(struct msd_frame_session *f, struct msd_in *in,
				enum msd_method method)
{
	struct msd_session *s = &f->session;
	struct msd_diag d = {0};
	struct msd_req *r = NULL;
	msd_err err = msd_call_prepare(s, in, method, &r, &d);

	if (err == MSD_OK)
		err = msd_receiving_begin(s, r, 0, &d);
	if (err != MSD_OK) {
		(void)refuse(f, in, &d);
	} else if (s->receiving != NULL) {
		msd_conn_pause(&f->conn, MSD_PAUSE_ROOM, true);
	}
}

/* @in had to wait and is complete: continue as if its body had just arrived. */
static void resume(struct msd_session *s, struct msd_in *in)
{
	struct msd_frame_session *f = msd_frame_session_of(s);
	const enum msd_method method = msd_method_find(in->body.method);
	struct msd_in *front = &f->conn.framing.in;

	if (f->conn.is_closing)
		return;
	if (in->payload_bytes > 0) { /* nothing behind it was read while it waited */
		front->body = in->body;
		front->bytes = in->bytes;
		front->n_bytes = in->n_bytes;
		const enum msd_place at = place(f, front, method);
		if (at != MSD_PLACE_LATER) {
			msd_conn_place(&f->conn,
				       at == MSD_PLACE_HERE ? front->payload : NULL);
		}
	} else if (!admit(f, in, method)) {
		return;
	} else if (msd_method_is_forwarded(method)) {
		call_at_once(f, in, method);
	} else {
		msd_method_run(s, in, method);
	}
	msd_memory_pressure_check(f);
}

/* For a frame without payload, which on_body() has not checked. */
static inline bool may_begin(struct msd_frame_session *f, struct msd_in *in,
			     enum msd_method method)
{
	enum msd_dependence awaits;

	return has_results(f, in, method, &awaits) && admit(f, in, method);
}

void msd_dispatch_on_frame(struct msd_conn *c, struct msd_in *in)
{
	struct msd_frame_session *f = c->user;
	const enum msd_method method = msd_call_cache_method(in);

	if (in->user == &answered)
		return;
	msd_counts_request(&f->session.edge->counts);
	if (in->user == NULL && !may_begin(f, in, method)) {
		/* it was answered or waits, or the connection is closing */
	} else if (!msd_method_is_forwarded(method)) {
		msd_method_run(&f->session, in, method);
	} else if (in->user != NULL) { /* prepared when its payload began */
		if (!msd_receiving_whole(&f->session))
			msd_conn_pause(&f->conn, MSD_PAUSE_ROOM, true);
	} else {
		call_at_once(f, in, method);
	}
	if (f->session.awaiting != NULL)
		msd_dependents_pass(f->session.awaiting);
	if (f->session.client.n_in_flight >= f->session.edge->limits->max_in_flight)
		msd_conn_pause(&f->conn, MSD_PAUSE_REQUESTS, true);
	msd_memory_pressure_check(f);
}

static void on_direct_lost(struct msd_client *c, uint64_t pid,
			   const struct msd_diag *why)
{
	struct msd_frame_session *f =
		msd_frame_session_of(MSD_CONTAINER_OF(c, struct msd_session, client));
	struct msd_out *o = msd_out_new();

	if (o == NULL) /* the client also sees the closed channel */
		return;
	msd_body_begin_notification(&o->body, "channel.lost");
	msd_pack_array(&o->body, 2);
	msd_pack_uint(&o->body, pid);
	msd_pack_error(&o->body, why->code, msd_diag_text(why));
	msd_conn_send(&f->conn, o);
}

const struct msd_client_ops msd_dispatch_client_ops = {
	.may_still = msd_authorization_may_still,
	.take_objects = msd_object_take,
	.reply = reply,
	.reply_error = reply_error,
	.forward = forward,
	.put = put,
	.on_direct_lost = on_direct_lost,
	.on_done = on_request_done,
};

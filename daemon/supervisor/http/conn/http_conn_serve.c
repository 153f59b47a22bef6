/*
 * Happy path: requests are parsed from the input and answered one after the other,
 * until its share of the loop iteration is used. A request with a deferred reply, or
 * with inputs still to arrive, is the last for now. Failures: an invalid request gets
 * an error, and the connection closes after it. If memory is short, the connection
 * closes at once.
 */
#include "daemon/supervisor/http/conn/http_conn_serve.h"

#include "daemon/http/reply.h"
#include "daemon/supervisor/edge/counts.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/conn/http_conn_body.h"
#include "daemon/supervisor/http/infer/infer.h"
#include "daemon/supervisor/http/route.h"
#include "daemon/supervisor/module/life/registry.h"

#define STOP_OUT_BYTES 65536u /* of replies; then no more requests are served */

static struct msd_http_exchange *ask(struct msd_http_conn *v)
{
	v->caller.asking = (struct msd_http_exchange){.edge = v->caller.session.edge,
						      .request = &v->reader.request,
						      .caller = &v->caller};
	v->caller.bearer.is_found = false;
	return &v->caller.asking;
}

static bool is_last(const struct msd_http_conn *v)
{
	return !v->reader.request.keeps_alive ||
	       v->caller.session.edge->registry->is_leaving;
}

/* The reply is in `out`; its tensors follow without being copied. If the connection
 * closes after it, the rest of its request is read first. */
static void follow_up(struct msd_http_conn *v, bool closes)
{
	msd_http_conn_await(v, false);
	if (v->caller.n_tail == 0)
		msd_infer_end(&v->caller, true);
	if (closes && msd_http_reader_is_owed(&v->reader)) {
		v->ends_behind = true;
	} else if (closes) {
		v->is_ending = true;
	}
}

void msd_http_conn_settle_body(struct msd_http_conn *v)
{
	msd_http_conn_await(v, !msd_infer_is_taking(&v->caller));
	if (!msd_infer_needs_body(&v->caller))
		msd_http_reader_drop_body(&v->reader);
}

/* A request is complete, or the part of it that identifies it. */
static void answer(struct msd_http_conn *v)
{
	struct msd_http_exchange *a = ask(v);
	const bool closes = is_last(v);

	msd_counts_http_request(&v->caller.session.edge->counts);
	msd_route_answer(a, closes, &v->out);
	if (a->is_later) {
		msd_http_conn_settle_body(v);
	} else {
		follow_up(v, closes);
	}
}

/* The rest of a request has arrived: its call's inputs, or dropped bytes. */
static void complete(struct msd_http_conn *v)
{
	const bool closes = is_last(v);

	if (!msd_infer_is_taking(&v->caller)) {
		v->is_ending = v->is_ending || v->ends_behind;
		return;
	}
	msd_infer_accept(&v->caller);
	if (v->caller.asking.is_later) {
		msd_http_conn_await(v, true);
	} else {
		msd_route_write(&v->caller.asking, closes, &v->out);
		follow_up(v, closes);
	}
}

void msd_http_conn_answer_later(struct msd_http_conn *v)
{
	const bool closes = is_last(v);

	msd_route_write(&v->caller.asking, closes, &v->out);
	follow_up(v, closes);
}

static void refuse(struct msd_http_conn *v)
{
	char most[384];
	const char *why = v->reader.why;

	if (v->reader.status == 413 && v->reader.max_body > 0) {
		msd_http_conn_say_bound(v, most, sizeof(most));
		why = most;
	}
	msd_counts_http_unreadable(&v->caller.session.edge->counts);
	msd_route_refuse(ask(v), v->reader.status, why, &v->out);
	v->is_ending = true;
}

/* Parse the next item in @in; returns false if there is none. */
static bool take(struct msd_http_conn *v, struct msd_span *in)
{
	switch (msd_http_read(&v->reader, in)) {
	case MSD_HTTP_HEAD:
		msd_http_conn_bound_body(v);
		if (v->reader.request.wants_continue &&
		    v->reader.request.body_bytes <= v->reader.max_body)
			msd_http_reply_continue(&v->out);
		return true;
	case MSD_HTTP_PART:
		answer(v);
		return true;
	case MSD_HTTP_WHOLE:
		v->conn.n_frames++;
		v->conn.frames_left--;
		if (v->reader.request.has_part) {
			complete(v);
		} else {
			answer(v);
		}
		return true;
	case MSD_HTTP_BAD:
		refuse(v);
		return false;
	case MSD_HTTP_MORE:
	default:
		return false;
	}
}

/* True if its share of the iteration is used, as for frames by number or by time. The
 * time is read only after the first request. */
static bool is_over(struct msd_http_conn *v)
{
	struct msd_conn *c = &v->conn;

	if (v->is_ending || v->caller.n_tail > 0 || v->out.n >= STOP_OUT_BYTES) {
		c->frames_left = 0;
	} else if (c->frames_left < MSD_CONN_TURN_FRAMES - 1) {
		msd_conn_spend_time(c);
	}
	return c->frames_left == 0;
}

/* Stop only between requests: if only a head has arrived, no further event would
 * continue it. */
void msd_http_conn_serve(struct msd_http_conn *v, struct msd_span *in)
{
	while (take(v, in)) {
		if (msd_http_conn_is_awaiting(v) ||
		    (!msd_http_reader_is_owed(&v->reader) && is_over(v)))
			break;
	}
}

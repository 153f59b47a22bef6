/*
 * Happy path: what has come is read into the loop's buffer and served from there,
 * request by request; the answers are gathered and leave in one write. What is not
 * served in this turn is kept, and its next turn is when the socket takes more: so who
 * does not read is not served.
 *
 * Failures: a request that cannot be read is answered, and the connection ends; so it
 * does when memory is short.
 */
#include "daemon/supervisor/http/visit_turn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/http/reply.h"
#include "daemon/supervisor/edge/counts.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/infer.h"
#include "daemon/supervisor/http/route.h"
#include "daemon/supervisor/http/visit_end.h"
#include "daemon/supervisor/http/visit_write.h"
#include "daemon/supervisor/module/house.h"
#include "daemon/wire/conn.h"

#define MAX_BODY (1u << 20)          /* bytes of a request's */
#define MAX_TENSORS_BODY (64u << 20) /* of one with tensors as bytes */
#define READ_BYTES 16384u            /* a turn */
#define STOP_OUT_BYTES 65536u        /* of answers, then no more are made */

static void on_poll(uv_poll_t *handle, int status, int events);

/* There is something to serve, of which no event tells. */
static bool has_more(const struct msd_visit *v)
{
	const struct msd_transport *t = &v->transport;

	return v->state == MSD_VISIT_OPEN &&
	       (msd_visit_has_ahead(v) || (t->ops->holds != NULL && t->ops->holds(t)));
}

static void wait_for(struct msd_visit *v, int events)
{
	events = v->transport.ops->wants(&v->transport, events);
	if (events == v->events)
		return;
	v->events = events;
	(void)uv_poll_start(&v->poll, events, on_poll);
}

/* While an answer is awaited nothing is read, and who goes takes his call along; that
 * is waited for only when something has come that is not read now. */
static void update_poll(struct msd_visit *v)
{
	const bool has_out = msd_visit_unwritten(v) > 0;

	if (v->is_closing)
		return;
	if (!v->is_awaiting) {
		wait_for(v, has_out || has_more(v) ? UV_WRITABLE : UV_READABLE);
	} else if (has_out || (v->events & UV_READABLE) == 0) {
		wait_for(v, UV_DISCONNECT | (has_out ? UV_WRITABLE : 0));
	}
}

void msd_visit_settle(struct msd_visit *v)
{
	msd_visit_charge(v);
	update_poll(v);
}

/* Nothing more is read; what is answered is still written. */
static void end(struct msd_visit *v)
{
	v->state = MSD_VISIT_ENDING;
	msd_buf_finish(&v->ahead);
	v->ahead_at = 0;
}

static struct msd_asking *ask(struct msd_visit *v)
{
	v->caller.asking = (struct msd_asking){.edge = v->caller.session.edge,
					       .request = &v->reader.request,
					       .caller = &v->caller};
	return &v->caller.asking;
}

static bool is_last(const struct msd_visit *v)
{
	return !v->reader.request.keeps_alive ||
	       v->caller.session.edge->house->is_leaving;
}

/* The answer is in `out`; tensors that belong behind it are not copied. */
static void follow_up(struct msd_visit *v, bool closes)
{
	v->is_awaiting = false;
	for (uint32_t i = 0; i < v->caller.n_tail; i++)
		v->tail_left += v->caller.tail[i].iov_len;
	if (v->tail_left == 0)
		msd_infer_end(&v->caller, true);
	if (closes)
		end(v);
}

/* Who has read all so far has all its time for what comes. */
static void begin_answer(struct msd_visit *v)
{
	if (msd_visit_unwritten(v) == 0)
		v->last_progress_ms = uv_now(v->caller.session.edge->loop);
}

/* What was read where others read, too, is the call's until it has room. */
static void keep_body(struct msd_visit *v)
{
	const struct msd_span *body = &v->reader.request.body;
	const uint8_t *from = body->p;

	if (!msd_http_reader_keep_body(&v->reader)) {
		msd_visit_close(v, "out of memory for the body");
	} else if (body->p != from) {
		msd_infer_move_body(&v->caller, from, body->p);
	}
}

static void answer(struct msd_visit *v)
{
	struct msd_asking *a = ask(v);
	const bool closes = is_last(v);

	begin_answer(v);
	v->n_requests++;
	msd_counts_http_request(&v->caller.session.edge->counts);
	msd_route_answer(a, closes, &v->out);
	v->is_awaiting = a->is_later;
	if (!v->is_awaiting) {
		follow_up(v, closes);
	} else if (!msd_infer_needs_body(&v->caller)) {
		msd_http_reader_drop_body(&v->reader);
	} else {
		keep_body(v);
	}
}

/* All that could be done now is done. Its end waits for the peer's, for unread bytes
 * would turn it into a reset that may overtake the answer. */
static void rest(struct msd_visit *v)
{
	if (!v->is_closing && v->state == MSD_VISIT_ENDING &&
	    msd_visit_unwritten(v) == 0)
		msd_visit_linger(v);
	msd_visit_settle(v);
}

/* What follows on the connection is served in a turn of its own: who brings the answer
 * is in the midst of something. */
void msd_visit_answered(struct msd_caller *c)
{
	struct msd_visit *v = MSD_CONTAINER_OF(c, struct msd_visit, caller);
	const bool closes = is_last(v);

	begin_answer(v);
	msd_route_write(&c->asking, closes, &v->out);
	follow_up(v, closes);
	if (v->out.bad) {
		msd_visit_close(v, "out of memory for an answer");
		return;
	}
	msd_visit_flush(v);
	rest(v);
}

/* Tensors may be as many as the connection may hold while their buffer grows, which
 * doubles. */
static uint64_t most_tensors(const struct msd_visit *v)
{
	const uint64_t room = msd_account_limit(&v->caller.session.client.account) / 2;

	if (room < MAX_BODY)
		return MAX_BODY;
	return room < MAX_TENSORS_BODY ? room : MAX_TENSORS_BODY;
}

static bool has_tensors(const struct msd_http_request *q)
{
	return q->method == MSD_HTTP_POST &&
	       q->fields[MSD_HTTP_F_INFERENCE_HEADER].p != NULL;
}

static uint64_t most_body(const struct msd_visit *v)
{
	return has_tensors(&v->reader.request) ? most_tensors(v) : MAX_BODY;
}

static bool is_infer(const struct msd_http_request *q)
{
	static const char tail[] = "/infer";
	const size_t n = strlen(tail);

	return q->target.n > n && memcmp(q->target.p + q->target.n - n, tail, n) == 0;
}

/* What is refused for its size names the limit, and how more can be sent. */
static void say_most(const struct msd_visit *v, char *ret, size_t n)
{
	const struct msd_http_reader *r = &v->reader;
	const unsigned long long limit = r->max_body;
	int used =
		r->request.body_bytes > limit
			? snprintf(ret, n, "the body has %llu bytes, the limit is %llu",
				   (unsigned long long)r->request.body_bytes, limit)
			: snprintf(ret, n, "the body is over the limit of %llu bytes",
				   limit);

	if (is_infer(&r->request) && !has_tensors(&r->request)) {
		(void)snprintf(ret + used, n - (size_t)used,
			       "; with tensors as bytes behind its JSON "
			       "(Inference-Header-Content-Length) it is %llu",
			       (unsigned long long)most_tensors(v));
	}
}

static void refuse(struct msd_visit *v)
{
	char most[256];
	const char *why = v->reader.why;

	if (v->reader.status == 413 && v->reader.max_body > 0) {
		say_most(v, most, sizeof(most));
		why = most;
	}
	msd_counts_http_unreadable(&v->caller.session.edge->counts);
	msd_route_refuse(ask(v), v->reader.status, why, &v->out);
	end(v);
}

/* The next thing in @in; false: there is none. */
static bool take(struct msd_visit *v, struct msd_span *in)
{
	switch (msd_http_read(&v->reader, in)) {
	case MSD_HTTP_HEAD:
		v->reader.max_body = most_body(v);
		if (v->reader.request.wants_continue &&
		    v->reader.request.body_bytes <= v->reader.max_body)
			msd_http_reply_continue(&v->out);
		return true;
	case MSD_HTTP_WHOLE:
		answer(v);
		return true;
	case MSD_HTTP_BAD:
		refuse(v);
		return false;
	case MSD_HTTP_MORE:
	default:
		return false;
	}
}

/* Its turn is over: as with frames, by their number or by time, which is looked at only
 * when there is more than one. */
static bool is_over(struct msd_visit *v, uint64_t n_before, uint64_t *ends_ns)
{
	const uint64_t n = v->n_requests - n_before;

	if (v->state != MSD_VISIT_OPEN || v->is_awaiting || v->tail_left > 0 ||
	    msd_visit_unwritten(v) >= STOP_OUT_BYTES || n >= MSD_CONN_TURN_FRAMES)
		return true;
	if (n < 2)
		return false;
	const uint64_t now = v->caller.session.edge->wire->clock_ns();
	if (*ends_ns == 0)
		*ends_ns = now + MSD_CONN_TURN_US * 1000u;
	return now >= *ends_ns;
}

/* Serve @in as far as the turn goes; what is left of it stays where it is. A turn ends
 * between requests alone: of one whose head was the last to come nothing else comes
 * that would begin another turn. */
static void serve(struct msd_visit *v, struct msd_span *in)
{
	const uint64_t n_before = v->n_requests;
	uint64_t ends_ns = 0;

	while (take(v, in)) {
		if (!msd_http_reader_is_owed(&v->reader) &&
		    is_over(v, n_before, &ends_ns))
			break;
	}
	if (v->out.bad)
		msd_visit_close(v, "out of memory for an answer");
}

static void keep(struct msd_visit *v, struct msd_span rest)
{
	if (rest.n == 0 || v->state != MSD_VISIT_OPEN)
		return;
	msd_buf_put(&v->ahead, rest.p, rest.n);
	if (v->ahead.bad)
		msd_visit_close(v, "out of memory for what was read");
}

static void serve_ahead(struct msd_visit *v)
{
	struct msd_span in = {v->ahead.p + v->ahead_at, v->ahead.n - v->ahead_at};

	serve(v, &in);
	if (v->state != MSD_VISIT_OPEN)
		return;
	v->ahead_at = v->ahead.n - in.n;
	if (!msd_visit_has_ahead(v)) {
		msd_buf_finish(&v->ahead);
		v->ahead_at = 0;
	}
}

static void read_some(struct msd_visit *v)
{
	struct msd_wire *w = v->caller.session.edge->wire;
	struct iovec piece = {w->rbuf, READ_BYTES};
	const ssize_t n = v->transport.ops->read(&v->transport, &piece, 1, NULL);

	if (n == -EAGAIN)
		return;
	if (n < 0) {
		msd_visit_close(v, "the connection is broken");
	} else if (n == 0) {
		v->peer_has_ended = true;
		end(v);
	} else {
		struct msd_span in = {w->rbuf, (size_t)n};
		v->bytes_in += (uint64_t)n;
		serve(v, &in);
		keep(v, in);
	}
}

static void have_turn(struct msd_visit *v)
{
	if (v->state == MSD_VISIT_LINGERING) {
		msd_visit_read_nothing(v);
		return;
	}
	msd_visit_flush(v);
	if (!v->is_closing && v->state == MSD_VISIT_OPEN && !v->is_awaiting &&
	    msd_visit_unwritten(v) == 0) {
		if (msd_visit_has_ahead(v)) {
			serve_ahead(v);
		} else {
			read_some(v);
		}
	}
	if (!v->is_closing)
		msd_visit_flush(v);
	rest(v);
	/* An answer goes, or --write-stall ends it; only what is still to be read can
	 * be refused. */
	if (!v->is_awaiting && msd_visit_unwritten(v) == 0 &&
	    msd_account_is_over(&v->caller.session.client.account))
		msd_visit_close(v, "it holds more memory than it may");
}

static void on_poll(uv_poll_t *handle, int status, int events)
{
	struct msd_visit *v = handle->data;

	if (status < 0 || (v->is_awaiting && (events & UV_DISCONNECT) != 0)) {
		msd_visit_close(v, "the connection is broken");
	} else if (v->is_awaiting && (events & UV_READABLE) != 0) {
		wait_for(v, UV_DISCONNECT);
	} else {
		have_turn(v);
	}
}

/*
 * Happy path: what has come is read into the loop's buffer and served from there,
 * request by request, but for inputs of calls, which are read into their place; the
 * answers are gathered and leave in one write. What is not
 * served in this turn is kept, and its next turn is when the socket takes more: so who
 * does not read is not served.
 *
 * Failures: a request that cannot be read is answered, and the connection ends; so it
 * does when memory is short.
 */
#include "daemon/supervisor/http/visit_turn.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/http/reply.h"
#include "daemon/supervisor/edge/counts.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/infer.h"
#include "daemon/supervisor/http/route.h"
#include "daemon/supervisor/http/visit_body.h"
#include "daemon/supervisor/http/visit_end.h"
#include "daemon/supervisor/http/visit_write.h"
#include "daemon/supervisor/module/house.h"
#include "daemon/wire/conn.h"

#define READ_BYTES 16384u            /* a turn, */
#define READ_IN_PLACE (512u * 1024u) /* beside those of inputs, */
#define READ_PIECES 16u              /* of which so many at a time are read */
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

/* The answer is in `out`; tensors that belong behind it are not copied. What is left of
 * its request is read first when the connection ends with it. */
static void follow_up(struct msd_visit *v, bool closes)
{
	v->is_awaiting = false;
	for (uint32_t i = 0; i < v->caller.n_tail; i++)
		v->tail_left += v->caller.tail[i].iov_len;
	if (v->tail_left == 0)
		msd_infer_end(&v->caller, true);
	if (!closes)
		return;
	if (msd_http_reader_is_owed(&v->reader)) {
		v->ends_behind = true;
	} else {
		end(v);
	}
}

/* Who has read all so far has all its time for what comes. */
static void begin_answer(struct msd_visit *v)
{
	if (msd_visit_unwritten(v) == 0)
		v->last_progress_ms = uv_now(v->caller.session.edge->loop);
}

/* The call has what it wants of the body that is there. */
static void settle_body(struct msd_visit *v)
{
	v->is_awaiting = !msd_infer_is_taking(&v->caller);
	if (!msd_infer_needs_body(&v->caller))
		msd_http_reader_drop_body(&v->reader);
}

/* A request is there, or that part of it that says what it is. */
static void answer(struct msd_visit *v)
{
	struct msd_asking *a = ask(v);
	const bool closes = is_last(v);

	begin_answer(v);
	msd_counts_http_request(&v->caller.session.edge->counts);
	msd_route_answer(a, closes, &v->out);
	if (a->is_later) {
		settle_body(v);
	} else {
		follow_up(v, closes);
	}
}

/* The rest of one is there: its call's inputs, or what was dropped. */
static void complete(struct msd_visit *v)
{
	const bool closes = is_last(v);

	if (!msd_infer_is_taking(&v->caller)) {
		if (v->ends_behind)
			end(v);
		return;
	}
	msd_infer_take(&v->caller);
	v->is_awaiting = v->caller.asking.is_later;
	if (!v->is_awaiting) {
		msd_route_write(&v->caller.asking, closes, &v->out);
		follow_up(v, closes);
	}
}

void msd_visit_placed(struct msd_visit *v)
{
	settle_body(v);
	msd_visit_settle(v);
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

static void refuse(struct msd_visit *v)
{
	char most[256];
	const char *why = v->reader.why;

	if (v->reader.status == 413 && v->reader.max_body > 0) {
		msd_visit_say_bound(v, most, sizeof(most));
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
		msd_visit_bound_body(v);
		if (v->reader.request.wants_continue &&
		    v->reader.request.body_bytes <= v->reader.max_body)
			msd_http_reply_continue(&v->out);
		return true;
	case MSD_HTTP_PART:
		answer(v);
		return true;
	case MSD_HTTP_WHOLE:
		v->n_requests++;
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

/* Its turn is over: as with frames, by their number or by time, which is looked at only
 * when there is more than one. */
static bool is_over(struct msd_visit *v, uint64_t n_before, uint64_t *ends_ns)
{
	const uint64_t n = v->n_requests - n_before;

	if (v->state != MSD_VISIT_OPEN || v->tail_left > 0 ||
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
		if (v->is_awaiting || (!msd_http_reader_is_owed(&v->reader) &&
				       is_over(v, n_before, &ends_ns)))
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

/* Inputs of a call are read to where they belong; what is more comes to the buffer.
 * Returns how many bytes fit into the former. */
static size_t gather_room(const struct msd_visit *v, struct iovec *pieces,
			  size_t *ret_n)
{
	const struct msd_scatter *rest = msd_http_reader_rest(&v->reader);
	size_t room = 0, n = 0;

	for (; rest != NULL && n < rest->n && n < READ_PIECES && room < READ_IN_PLACE;
	     n++) {
		pieces[n] = rest->pieces[n];
		if (pieces[n].iov_len > READ_IN_PLACE - room)
			pieces[n].iov_len = READ_IN_PLACE - room;
		room += pieces[n].iov_len;
	}
	pieces[n] = (struct iovec){v->caller.session.edge->wire->rbuf, READ_BYTES};
	*ret_n = n + 1;
	return room;
}

static void read_some(struct msd_visit *v)
{
	struct iovec pieces[READ_PIECES + 1];
	size_t n_pieces;
	const size_t room = gather_room(v, pieces, &n_pieces);
	const ssize_t n = v->transport.ops->read(&v->transport, pieces, n_pieces, NULL);

	if (n == -EAGAIN)
		return;
	if (n < 0) {
		msd_visit_close(v, "the connection is broken");
	} else if (n == 0) {
		v->peer_has_ended = true;
		end(v);
	} else {
		const size_t placed = (size_t)n < room ? (size_t)n : room;
		struct msd_span in = {v->caller.session.edge->wire->rbuf,
				      (size_t)n - placed};
		v->bytes_in += (uint64_t)n;
		if (placed > 0)
			msd_http_reader_came(&v->reader, placed);
		serve(v, &in);
		keep(v, in);
	}
}

/* Of what was read before, or comes now. Not when it was served in this turn of the
 * loop already: then it is told again. */
static void serve_turn(struct msd_visit *v)
{
	struct msd_wire *w = v->caller.session.edge->wire;

	if (v->taker.turn == w->count.turns || msd_taker_is_passed_over(&v->taker, w))
		return;
	const uint64_t began_ns = msd_taker_begins(&v->taker, w);
	v->taker.turn = w->count.turns;
	if (msd_visit_has_ahead(v)) {
		serve_ahead(v);
	} else {
		read_some(v);
	}
	if (began_ns != 0)
		msd_account_spend(v->taker.account, msd_wire_look_ns(w) - began_ns);
}

static void go_on(struct msd_visit *v)
{
	if (v->state == MSD_VISIT_LINGERING) {
		msd_visit_read_nothing(v);
		return;
	}
	if (msd_visit_unwritten(v) > 0)
		msd_visit_flush(v);
	if (!v->is_closing && v->state == MSD_VISIT_OPEN && !v->is_awaiting &&
	    msd_visit_unwritten(v) == 0)
		serve_turn(v);
	if (!v->is_closing && msd_visit_unwritten(v) > 0)
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
		go_on(v);
	}
}

static void have_turn(struct msd_taker *t)
{
	msd_list_remove(&t->link); /* it may have nothing to be served any more */
	go_on(MSD_CONTAINER_OF(t, struct msd_visit, taker));
}

void msd_visit_take_turns(struct msd_visit *v)
{
	msd_list_init(&v->taker.link);
	v->taker.account = &v->caller.session.client.account;
	v->taker.have_turn = have_turn;
}

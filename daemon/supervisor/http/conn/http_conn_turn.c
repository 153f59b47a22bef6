/*
 * Happy path: input is read into the loop's buffer and served from there
 * (http_conn_serve.c), except inputs of calls, which are read into their slot. Replies
 * are collected and sent in one write. Input that is not served in this iteration is
 * kept until the socket is writable, so a client that does not read is not served.
 *
 * Failures: if the connection is broken or memory is short, it is closed.
 */
#include "daemon/supervisor/http/conn/http_conn_turn.h"

#include <errno.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/conn/http_conn_end.h"
#include "daemon/supervisor/http/conn/http_conn_serve.h"
#include "daemon/supervisor/http/conn/http_conn_write.h"
#include "daemon/supervisor/http/infer/infer.h"
#include "daemon/supervisor/http/infer/infer_inputs.h"

#define READ_BYTES 16384u            /* per iteration, */
#define READ_IN_PLACE (512u * 1024u) /* in addition, of inputs, */
#define READ_PIECES 16u              /* with at most this many pieces per read */

static void on_poll(uv_poll_t *handle, int status, int events);

/* True if there is input to serve for which no event will fire. */
static bool has_more(const struct msd_http_conn *v)
{
	const struct msd_transport *t = &v->transport;

	return v->state == MSD_HTTP_CONN_OPEN &&
	       (msd_http_conn_has_ahead(v) ||
		(t->ops->holds != NULL && t->ops->holds(t)));
}

static void wait_for(struct msd_http_conn *v, int events)
{
	events = v->transport.ops->wants(&v->transport, events);
	if (events == v->events)
		return;
	v->events = events;
	(void)uv_poll_start(&v->poll, events, on_poll);
}

/* While a reply is pending, nothing is read, and a disconnect cancels the call. The
 * connection polls for a disconnect only if unread data has arrived. */
static void update_poll(struct msd_http_conn *v)
{
	const bool has_out = msd_http_conn_unwritten(v) > 0;

	if (v->is_closing)
		return;
	if (!v->is_awaiting) {
		wait_for(v, has_out || has_more(v) ? UV_WRITABLE : UV_READABLE);
	} else if (has_out || (v->events & UV_READABLE) == 0) {
		wait_for(v, UV_DISCONNECT | (has_out ? UV_WRITABLE : 0));
	}
}

void msd_http_conn_settle(struct msd_http_conn *v)
{
	msd_http_conn_charge(v);
	update_poll(v);
}

void msd_http_conn_placed(struct msd_http_conn *v)
{
	msd_http_conn_settle_body(v);
	msd_http_conn_settle(v);
}

/*
 * All work of this iteration is done. At the end the connection waits for the peer to
 * close, because closing with unread bytes would send a reset, which may overtake the
 * reply.
 */
static void rest(struct msd_http_conn *v)
{
	if (!v->is_closing && v->state == MSD_HTTP_CONN_ENDING &&
	    msd_http_conn_unwritten(v) == 0)
		msd_http_conn_linger(v);
	msd_http_conn_settle(v);
}

/* Write as far as the other connections of its peer leave a share of this iteration;
 * otherwise it is first in the next one. */
static void write_some(struct msd_http_conn *v)
{
	struct msd_wire *w = v->caller.session.edge->wire;

	if (msd_http_conn_unwritten(v) == 0)
		return;
	if (msd_wire_may_write(w, v->taker.account)) {
		msd_http_conn_flush(v);
	} else if (msd_list_is_empty(&v->taker.link)) {
		msd_list_append(&w->passed_over, &v->taker.link);
	}
}

/* Later requests of the connection are served in another iteration: the caller is in
 * the middle of other work. */
void msd_http_conn_answered(struct msd_http_session *c)
{
	struct msd_http_conn *v = MSD_CONTAINER_OF(c, struct msd_http_conn, caller);

	msd_http_conn_answer_later(v);
	if (v->out.bad) {
		msd_http_conn_close(v, "out of memory for an answer");
		return;
	}
	write_some(v);
	rest(v);
}

static void keep(struct msd_http_conn *v, struct msd_span rest)
{
	if (rest.n == 0 || v->state != MSD_HTTP_CONN_OPEN)
		return;
	msd_buf_put(&v->ahead, rest.p, rest.n);
	if (v->ahead.bad)
		msd_http_conn_close(v, "out of memory for what was read");
}

static void serve_ahead(struct msd_http_conn *v)
{
	struct msd_span in = {v->ahead.p + v->ahead_at, v->ahead.n - v->ahead_at};

	msd_http_conn_serve(v, &in);
	if (v->state != MSD_HTTP_CONN_OPEN)
		return;
	v->ahead_at = v->ahead.n - in.n;
	if (!msd_http_conn_has_ahead(v)) {
		msd_buf_finish(&v->ahead);
		v->ahead_at = 0;
	}
}

/* Limit @piece to @most bytes, and to the bytes before @end; NULL: no end. */
static void cut(struct iovec *piece, size_t most, const uint8_t *end)
{
	const uint8_t *at = piece->iov_base;

	if (piece->iov_len > most)
		piece->iov_len = most;
	if (end != NULL && at >= end) {
		piece->iov_len = 0;
	} else if (end != NULL && piece->iov_len > (size_t)(end - at)) {
		piece->iov_len = (size_t)(end - at);
	}
}

/* Inputs of a call are read into their slot. Further bytes are read into the buffer,
 * but not while some inputs have no room. Returns how many bytes fit into the slot. */
static size_t gather_room(const struct msd_http_conn *v, struct iovec *pieces,
			  size_t *ret_n)
{
	const struct msd_scatter *rest = msd_http_reader_rest(&v->reader);
	const uint8_t *end = msd_infer_room_end(&v->caller);
	size_t room = 0, n = 0;

	for (; rest != NULL && n < rest->n && n < READ_PIECES && room < READ_IN_PLACE;
	     n++) {
		pieces[n] = rest->pieces[n];
		cut(&pieces[n], READ_IN_PLACE - room, end);
		room += pieces[n].iov_len;
	}
	*ret_n = n;
	if (end != NULL)
		return room;
	pieces[n] = (struct iovec){v->caller.session.edge->wire->rbuf, READ_BYTES};
	*ret_n = n + 1;
	return room;
}

static void read_some(struct msd_http_conn *v)
{
	struct iovec pieces[READ_PIECES + 1];
	size_t n_pieces;
	const size_t room = gather_room(v, pieces, &n_pieces);

	if (room == 0 && msd_infer_room_end(&v->caller) != NULL) {
		v->is_awaiting = true;
		msd_infer_wait(&v->caller);
		return;
	}
	const ssize_t n = v->transport.ops->read(&v->transport, pieces, n_pieces, NULL);

	if (n == -EAGAIN)
		return;
	if (n < 0) {
		msd_http_conn_close(v, "the connection is broken");
	} else if (n == 0) {
		v->peer_has_ended = true;
		msd_http_conn_end_requests(v);
	} else {
		const size_t placed = (size_t)n < room ? (size_t)n : room;
		struct msd_span in = {v->caller.session.edge->wire->rbuf,
				      (size_t)n - placed};
		v->bytes_in += (uint64_t)n;
		if (placed > 0)
			msd_http_reader_came(&v->reader, placed);
		msd_http_conn_serve(v, &in);
		keep(v, in);
	}
}

/* Serve input that was read before or arrives now, or discard input while it lingers.
 * If it was served in this loop iteration already, the event fires again. */
static void serve_turn(struct msd_http_conn *v)
{
	struct msd_wire *w = v->caller.session.edge->wire;

	if (v->taker.turn == w->count.turns ||
	    msd_schedulable_is_passed_over(&v->taker, w))
		return;
	const uint64_t began_ns = msd_schedulable_begins(&v->taker, w);
	v->taker.turn = w->count.turns;
	if (v->state == MSD_HTTP_CONN_LINGERING) {
		msd_http_conn_read_nothing(v);
	} else if (msd_http_conn_has_ahead(v)) {
		serve_ahead(v);
	} else {
		read_some(v);
	}
	if (began_ns != 0)
		msd_account_spend(v->taker.account, msd_wire_look_ns(w) - began_ns);
}

static void go_on(struct msd_http_conn *v)
{
	if (v->state == MSD_HTTP_CONN_LINGERING) {
		serve_turn(v);
		return;
	}
	write_some(v);
	if (!v->is_closing && v->state == MSD_HTTP_CONN_OPEN && !v->is_awaiting &&
	    msd_http_conn_unwritten(v) == 0)
		serve_turn(v);
	if (!v->is_closing)
		write_some(v);
	rest(v);
	/* A reply is written, or --write-stall closes the connection; only unserved
	 * input can be rejected. */
	if (!v->is_awaiting && msd_http_conn_unwritten(v) == 0 &&
	    msd_account_is_over(&v->caller.session.client.account)) {
		msd_http_conn_close(
			v, "it holds more memory than it may (--max-connection-memory, "
			   "--max-peer-memory, --max-total-memory)");
	}
}

void msd_http_conn_serve_now(struct msd_http_conn *v)
{
	go_on(v);
}

static void on_poll(uv_poll_t *handle, int status, int events)
{
	struct msd_http_conn *v = handle->data;

	if (status < 0 || (v->is_awaiting && (events & UV_DISCONNECT) != 0)) {
		msd_http_conn_close(v, "the connection is broken");
	} else if (v->is_awaiting && (events & UV_READABLE) != 0) {
		wait_for(v, UV_DISCONNECT);
	} else {
		go_on(v);
	}
}

static void have_turn(struct msd_schedulable *t)
{
	msd_list_remove(&t->link); /* it may have nothing left to serve */
	go_on(MSD_CONTAINER_OF(t, struct msd_http_conn, taker));
}

void msd_http_conn_schedule(struct msd_http_conn *v)
{
	msd_list_init(&v->taker.link);
	v->taker.account = &v->caller.session.client.account;
	v->taker.have_turn = have_turn;
}

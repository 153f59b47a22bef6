/*
 * Happy path: what has come is read into the loop's buffer and served from there,
 * request by request; the answers are gathered and leave in one write. What is not
 * served in this turn is kept, and its next turn is when the socket takes more: so who
 * does not read is not served.
 *
 * Failures: a request that cannot be read is answered, and the connection ends; so it
 * does when memory is short. Its end waits for the peer's, for unread bytes would turn
 * it into a reset that may overtake the answer.
 */
#include "daemon/supervisor/http/visit.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/http/reply.h"
#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/edge/client_peer.h"
#include "daemon/supervisor/edge/counts.h"
#include "daemon/supervisor/edge/door.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/route.h"
#include "daemon/supervisor/module/house.h"
#include "daemon/wire/conn.h"

#define MAX_BODY (1u << 20)       /* bytes of a request's */
#define READ_BYTES 16384u         /* a turn */
#define KEEP_OUT_BYTES 4096u      /* of the buffer, when all is written */
#define STOP_OUT_BYTES 65536u     /* of answers, then no more are made */
#define LINGER_BYTES (8ull << 20) /* of what nobody reads any more */

static size_t unwritten(const struct msd_visit *v)
{
	return v->out.n - v->out_at;
}

static bool has_ahead(const struct msd_visit *v)
{
	return v->ahead_at < v->ahead.n;
}

static void on_poll(uv_poll_t *handle, int status, int events);

static void update_poll(struct msd_visit *v)
{
	int events = unwritten(v) > 0 || (v->state == MSD_VISIT_OPEN && has_ahead(v))
			     ? UV_WRITABLE
			     : UV_READABLE;

	if (v->is_closing)
		return;
	events = v->transport.ops->wants(&v->transport, events);
	if (events == v->events)
		return;
	v->events = events;
	(void)uv_poll_start(&v->poll, events, on_poll);
}

/* What it holds is counted as its peer's. */
static void settle(struct msd_visit *v)
{
	const uint64_t held =
		msd_http_reader_bytes(&v->reader) + v->ahead.cap + v->out.cap;

	if (held > v->charged_bytes) {
		msd_account_charge(&v->account, held - v->charged_bytes);
	} else if (held < v->charged_bytes) {
		msd_account_release(&v->account, v->charged_bytes - held);
	}
	v->charged_bytes = held;
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct msd_visit *v = handle->data;
	struct msd_edge *e = v->http->edge;

	msd_list_remove(&v->link);
	msd_http_reader_finish(&v->reader);
	msd_buf_finish(&v->ahead);
	msd_buf_finish(&v->out);
	settle(v);
	msd_account_close(&v->account);
	msd_door_give_back(e, v->peer);
	msd_client_peer_unref(v->peer);
	free(v);
	e->on_session_gone(e);
}

void msd_visit_close(struct msd_visit *v, const char *why)
{
	if (v->is_closing)
		return;
	v->is_closing = true;
	msd_log(MSD_LOG_DEBUG, "disconnect", "conn=%llu why=\"%s\"",
		(unsigned long long)v->number, why);
	uv_close((uv_handle_t *)&v->poll, on_handle_closed);
	v->transport.ops->close(&v->transport);
}

static void flush(struct msd_visit *v)
{
	while (unwritten(v) > 0) {
		struct iovec piece = {v->out.p + v->out_at, unwritten(v)};
		const ssize_t n =
			v->transport.ops->writev(&v->transport, &piece, 1, -1);
		if (n < 0) {
			if (n != -EAGAIN)
				msd_visit_close(v, "the connection is broken");
			return;
		}
		v->out_at += (size_t)n;
		v->last_progress_ms = uv_now(v->http->edge->loop);
	}
	v->out_at = v->out.n = 0;
	if (v->out.cap > KEEP_OUT_BYTES)
		msd_buf_finish(&v->out);
}

/* All that it is told is on its way. */
static void linger(struct msd_visit *v)
{
	struct msd_wire *w = v->http->edge->wire;

	v->transport.ops->end(&v->transport, w->rbuf, w->rbuf_bytes);
	v->state = MSD_VISIT_LINGERING;
	if (v->peer_has_ended)
		msd_visit_close(v, "closed by the peer");
}

static void read_nothing(struct msd_visit *v)
{
	struct msd_wire *w = v->http->edge->wire;
	struct iovec piece = {w->rbuf, w->rbuf_bytes};
	const ssize_t n = v->transport.ops->read(&v->transport, &piece, 1, NULL);

	if (n > 0)
		v->lingered_bytes += (uint64_t)n;
	if (n == 0 || (n < 0 && n != -EAGAIN) || v->lingered_bytes > LINGER_BYTES)
		msd_visit_close(v, "it is answered");
}

/* Nothing more is read; what is answered is still written. */
static void end(struct msd_visit *v)
{
	v->state = MSD_VISIT_ENDING;
	msd_buf_finish(&v->ahead);
	v->ahead_at = 0;
}

static struct msd_asking asking(const struct msd_visit *v)
{
	return (struct msd_asking){.edge = v->http->edge,
				   .request = &v->reader.request,
				   .principal = v->principal,
				   .peer = v->peer->who,
				   .fd = v->transport.fd,
				   .number = v->number};
}

static void answer(struct msd_visit *v)
{
	struct msd_asking a = asking(v);
	const bool closes =
		!v->reader.request.keeps_alive || v->http->edge->house->is_leaving;

	v->n_requests++;
	msd_counts_request(&v->http->edge->counts);
	msd_route_answer(&a, closes, &v->out);
	if (closes)
		end(v);
}

static void refuse(struct msd_visit *v)
{
	struct msd_asking a = asking(v);

	msd_route_refuse(&a, v->reader.status, v->reader.why, &v->out);
	end(v);
}

/* The next thing in @in; false: there is none. */
static bool take(struct msd_visit *v, struct msd_span *in)
{
	switch (msd_http_read(&v->reader, in)) {
	case MSD_HTTP_HEAD:
		v->reader.max_body = MAX_BODY;
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

	if (v->state != MSD_VISIT_OPEN || unwritten(v) >= STOP_OUT_BYTES ||
	    n >= MSD_CONN_TURN_FRAMES)
		return true;
	if (n < 2)
		return false;
	const uint64_t now = v->http->edge->wire->clock_ns();
	if (*ends_ns == 0)
		*ends_ns = now + MSD_CONN_TURN_US * 1000u;
	return now >= *ends_ns;
}

/* Serve @in as far as the turn goes; what is left of it stays where it is. */
static void serve(struct msd_visit *v, struct msd_span *in)
{
	const uint64_t n_before = v->n_requests;
	uint64_t ends_ns = 0;

	while (take(v, in)) {
		if (is_over(v, n_before, &ends_ns))
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
	if (!has_ahead(v)) {
		msd_buf_finish(&v->ahead);
		v->ahead_at = 0;
	}
}

static void read_some(struct msd_visit *v)
{
	struct msd_wire *w = v->http->edge->wire;
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
		read_nothing(v);
		return;
	}
	flush(v);
	if (!v->is_closing && v->state == MSD_VISIT_OPEN && unwritten(v) == 0) {
		if (has_ahead(v)) {
			serve_ahead(v);
		} else {
			read_some(v);
		}
	}
	if (!v->is_closing)
		flush(v);
	if (!v->is_closing && v->state == MSD_VISIT_ENDING && unwritten(v) == 0)
		linger(v);
	settle(v);
	if (msd_account_is_over(&v->account))
		msd_visit_close(v, "it holds more memory than it may");
}

static void on_poll(uv_poll_t *handle, int status, int events)
{
	struct msd_visit *v = handle->data;

	(void)events;
	if (status < 0) {
		msd_visit_close(v, "the connection is broken");
		return;
	}
	have_turn(v);
	update_poll(v);
}

static void look(struct msd_visit *v)
{
	const struct msd_edge *e = v->http->edge;
	const struct msd_watch_view view = {
		.frames = v->n_requests,
		.bytes_in = v->bytes_in,
		.queued_bytes = unwritten(v),
		.last_progress_ms = v->last_progress_ms,
		.is_owed = v->state == MSD_VISIT_LINGERING ||
			   (!has_ahead(v) && msd_http_reader_is_owed(&v->reader)),
		.is_pressed = v->state == MSD_VISIT_LINGERING,
		.now_ms = uv_now(e->loop),
	};
	const char *why = msd_watch_look(&v->watch, &view, e->limits);

	if (why != NULL)
		msd_visit_close(v, why);
}

static void watch(struct msd_http *h)
{
	if (!msd_deadline_is_set(&h->watch)) {
		msd_deadline_set(h->edge->deadlines, &h->watch,
				 msd_watch_every_ms(h->edge->limits));
	}
}

static void on_watch_due(struct msd_deadline *node)
{
	struct msd_http *h = MSD_CONTAINER_OF(node, struct msd_http, watch);

	MSD_LIST_EACH_SAFE (it, &h->visits) {
		look(MSD_CONTAINER_OF(it, struct msd_visit, link));
	}
	if (!msd_list_is_empty(&h->visits))
		watch(h);
}

void msd_visits_init(struct msd_http *h)
{
	h->watch.on_due = on_watch_due;
}

void msd_visit_open(struct msd_http *h, struct msd_transport transport,
		    struct msd_principal who, struct msd_client_peer *peer)
{
	struct msd_edge *e = h->edge;
	struct msd_visit *v = calloc(1, sizeof(*v));

	if (v == NULL || uv_poll_init(e->loop, &v->poll, transport.fd) != 0) {
		free(v);
		transport.ops->close(&transport);
		msd_door_give_back(e, peer);
		msd_client_peer_unref(peer);
		return;
	}
	v->http = h;
	v->transport = transport;
	v->principal = who;
	v->peer = peer;
	v->poll.data = v;
	v->number = msd_counts_connection(&e->counts);
	v->last_progress_ms = uv_now(e->loop);
	msd_http_reader_init(&v->reader);
	msd_account_open(&v->account, &peer->account, e->limits->max_connection_memory);
	msd_watch_init(&v->watch, uv_now(e->loop));
	msd_list_append(&h->visits, &v->link);
	watch(h);
	msd_log(MSD_LOG_DEBUG, "connect", "conn=%llu local=%d http=1",
		(unsigned long long)v->number, who.is_local);
	update_poll(v);
}

/*
 * The queue.
 *
 * Happy path, once per loop iteration: all received frames are in the queue. One
 * request runs, and its reply is queued on its connection. Pause: send the replies
 * and drain received frames. The next request runs, until the queue is empty or waits
 * for calls to join. Then clear released memory while no frame arrives, and sleep, or
 * poll for a while first (busy_poll.h).
 */
#include "daemon/worker/queue.h"

#include <string.h>
#include <sys/socket.h>

#include "daemon/confine/process.h"
#include "daemon/exit_status.h"
#include "daemon/worker/calls/batch.h"
#include "daemon/worker/direct/busy_poll.h"
#include "daemon/worker/direct/direct_accept.h"
#include "daemon/worker/direct/direct_peer.h"
#include "daemon/worker/direct/ledger_writer.h"
#include "daemon/worker/direct/peer_timeout.h"
#include "daemon/worker/fair_queue.h"
#include "daemon/worker/handlers.h"
#include "daemon/worker/process.h"
#include "proto/base/clock.h"

/* A call below this is fast: its reply may wait for the next one's ... */
#define FAST_CALL_NS 20000u
/* ... but no reply waits longer than about this. */
#define MAX_UNSENT_NS 50000u
/* The memory of a longer reply is freed after it. */
#define KEEP_REPLY_BYTES 65536u
/* After this time without a request memory is returned to the system. */
#define IDLE_MS 10000u

static msd_err check_start(const struct msd_worker *w, const struct msd_request *r,
			   struct msd_diag *d)
{
	if (r->deadline_ns != 0 && msd_now_ns() >= r->deadline_ns) {
		return msd_diag_set(
			d, MSD_DEADLINE,
			"waited behind other calls and did not start by the deadline");
	}
	if (w->module == NULL && r->method != MSD_M_WORKER_OPEN)
		return msd_diag_set(d, MSD_NOT_READY, "no module is open");
	return MSD_OK;
}

/* A call of a direct peer that finishes after its deadline gets an error, as from the
 * daemon. */
static msd_err check_end(struct msd_worker *w, const struct msd_request *r,
			 struct msd_diag *d)
{
	if (r->peer->guest == NULL || r->deadline_ns == 0 ||
	    w->last_end_ns < r->deadline_ns)
		return MSD_OK;
	msd_direct_peer_drop_results(r->peer);
	return msd_diag_set(d, MSD_DEADLINE,
			    "module %s: ran %llu ms and did not finish by the deadline",
			    w->name,
			    (unsigned long long)(w->last_run_ns / MSD_NS_PER_MS));
}

static msd_err handle(struct msd_worker *w, struct msd_request *r, struct msd_buf *out,
		      struct msd_diag *d)
{
	msd_handler *handler = r->method < MSD_M_COUNT ? msd_handlers[r->method] : NULL;

	if (handler == NULL) {
		return msd_diag_set(d, MSD_UNKNOWN_METHOD,
				    "a worker has no such method");
	}
	return handler(w, r, out, d);
}

static void send_reply(struct msd_conn *c, struct msd_buf *body)
{
	uint8_t *at = body->bad ? NULL : msd_conn_put(c, body->n, NULL);
	struct msd_out *o;

	if (at != NULL) {
		memcpy(at, body->p, body->n);
		return;
	}
	o = body->bad ? NULL : msd_out_new();
	if (o == NULL) {
		msd_conn_close(c, MSD_NOMEM, "out of memory for a reply");
		return;
	}
	msd_buf_put(&o->body, body->p, body->n);
	msd_conn_send(c, o);
}

/* Send all finished replies and shut down the connections. A driver takes tenths of a
 * second to end a process; no peer must send requests in that time. */
static void hang_up(struct msd_worker *w)
{
	MSD_LIST_EACH (it, &w->peers) {
		struct msd_conn *conn =
			&MSD_CONTAINER_OF(it, struct msd_peer, link)->conn;
		msd_conn_flush(conn);
		(void)shutdown(conn->transport.fd, SHUT_RDWR);
	}
}

static msd_err run_request(struct msd_worker *w, struct msd_request *r)
{
	struct msd_buf *body = &w->reply;
	struct msd_peer *peer = r->peer;
	msd_err err = check_start(w, r, &w->diag);

	msd_fair_queue_begin(w, r);
	peer->payload = (struct msd_span){r->payload.p, r->payload_bytes};
	msd_busy_poll_run(w, peer->guest != NULL);
	if (w->ledger != NULL && err == MSD_OK)
		msd_ledger_writer_begin(w, r);

	if (err == MSD_OK)
		err = handle(w, r, body, &w->diag);
	if (err == MSD_OK)
		err = check_end(w, r, &w->diag);
	if (err != MSD_OK) {
		body->n = 0;
		msd_worker_write_error(body, r, err, &w->diag);
	}
	if (w->ledger != NULL)
		msd_ledger_writer_end(w, r, err);
	if (peer->guest != NULL && peer->guest->results != NULL) {
		msd_direct_peer_reply(peer, body);
	} else {
		send_reply(&peer->conn, body);
	}
	body->n = 0;
	if (body->bad || body->cap > KEEP_REPLY_BYTES)
		msd_buf_finish(body);
	/* A lost device is lost for this process: a new worker takes over. */
	if (err == MSD_GPU_FAULT || (err != MSD_OK && r->method == MSD_M_WORKER_OPEN)) {
		hang_up(w);
		msd_confine_exit(err == MSD_GPU_FAULT ? MSD_EXIT_GPU_FAULT
						      : MSD_EXIT_REFUSED);
	}
	return err;
}

/* Send the replies; with @drain also read received frames. */
static void pause_between(struct msd_worker *w, bool drain)
{
	MSD_LIST_EACH_SAFE (it, &w->peers) {
		struct msd_peer *peer = MSD_CONTAINER_OF(it, struct msd_peer, link);
		if (peer->conn.queued_bytes > 0)
			msd_conn_flush(&peer->conn);
		if (drain)
			msd_conn_poll_now(&peer->conn);
		if (peer->guest != NULL)
			msd_direct_accept_look(peer);
		if (msd_conn_is_closing(&peer->conn))
			msd_worker_forget(w, peer);
	}
	w->last_pause_ns = msd_wire_look_ns(&w->wire);
}

/*
 * A reply, a cancel or a deadline must not wait behind a slow call. But two system
 * calls between trivial calls would cost more than the calls. So skip the pause if
 * the next call is known to be fast, and the last pause was recent when the last call
 * ended. Then nothing waits longer than MAX_UNSENT_NS, one fast call and the writing
 * of its reply.
 */
static bool may_go_on(const struct msd_worker *w, const struct msd_request *next)
{
	return next->func != NULL && next->func->peak_ns != 0 &&
	       next->func->peak_ns < FAST_CALL_NS &&
	       w->last_end_ns - w->last_pause_ns < MAX_UNSENT_NS;
}

static bool clean_a_little(struct msd_worker *w)
{
	bool more = false;

	MSD_LIST_EACH (it, &w->peers) {
		struct msd_peer *peer = MSD_CONTAINER_OF(it, struct msd_peer, link);
		more |= msd_outpool_clean(&peer->out);
	}
	return more;
}

/* Run the first request in the queue, with the calls that can be joined with it; the
 * requests return to the spare list. */
static void run_first(struct msd_worker *w, struct msd_request *r)
{
	if (w->batch.most_rows == 0) {
		(void)run_request(w, r);
	} else if (msd_batch_run(w, r)) {
		return;
	} else {
		const uint64_t begun_ns = msd_now_ns();
		if (run_request(w, r) == MSD_OK)
			msd_batch_learn(w, r, msd_now_ns() - begun_ns);
	}
	msd_worker_recycle(w, r);
}

static bool waits_for_more(struct msd_worker *w, struct msd_request *first)
{
	return w->batch.within_ns > 0 && msd_batch_waits(w, first);
}

static void run_queue(struct msd_worker *w)
{
	w->last_pause_ns = msd_wire_look_ns(&w->wire); /* the loop has just read */
	do {
		struct msd_request *r = msd_fair_queue_next(w);

		while (r != NULL && !waits_for_more(w, r)) {
			run_first(w, r);
			r = msd_fair_queue_next(w);
			if (r == NULL || !may_go_on(w, r)) {
				pause_between(w, r != NULL);
				r = msd_fair_queue_next(
					w); /* full peers may have room */
			}
		}
		if (!clean_a_little(w))
			return;
		pause_between(w, true);
	} while (true);
}

static void on_idle(uv_timer_t *timer)
{
	struct msd_worker *w = timer->data;

	MSD_LIST_EACH (it, &w->peers) {
		msd_outpool_trim(&MSD_CONTAINER_OF(it, struct msd_peer, link)->out);
	}
}

/* Small workers never wake up for this. */
static void watch_idle(struct msd_worker *w)
{
	MSD_LIST_EACH (it, &w->peers) {
		if (msd_outpool_is_large(
			    &MSD_CONTAINER_OF(it, struct msd_peer, link)->out))
			(void)uv_timer_start(&w->idle, on_idle, IDLE_MS, 0);
	}
}

static bool has_work(const struct msd_worker *w)
{
	MSD_LIST_EACH (it, &w->peers) {
		struct msd_peer *peer = MSD_CONTAINER_OF(it, struct msd_peer, link);
		if (!msd_list_is_empty(&peer->queue) ||
		    !msd_list_is_empty(&peer->out.dirty))
			return true;
	}
	return false;
}

static void work(struct msd_worker *w)
{
	if (has_work(w)) {
		run_queue(w);
		watch_idle(w);
	}
}

static void on_check(uv_check_t *check)
{
	struct msd_worker *w = check->data;

	if (w->ledger == NULL) { /* no direct peer so far */
		work(w);
		return;
	}
	MSD_LIST_EACH_SAFE (it, &w->peers) {
		msd_direct_accept_look(MSD_CONTAINER_OF(it, struct msd_peer, link));
	}
	work(w);
	msd_peer_timeout_watch(w);
	msd_busy_poll_wait(w);
	/* Requests whose direct peer must first read its replies wait for an event. */
	(void)uv_idle_stop(&w->awake);
}

static void on_waited(uv_timer_t *timer)
{
	work(timer->data);
}

msd_err msd_worker_start(struct msd_worker *w, uv_loop_t *loop,
			 const struct msd_process_given *given, struct msd_diag *d)
{
	*w = (struct msd_worker){.channel_fd = given->channel_fd,
				 .first_guest_fd = given->first_guest_fd,
				 .artifact_fd = given->artifact_fd};
	msd_list_init(&w->peers);
	msd_list_init(&w->spare);
	msd_err err = msd_wire_init(&w->wire, loop, d);
	if (err != MSD_OK)
		return err;
	(void)uv_timer_init(loop, &w->idle);
	w->idle.data = w;
	msd_batch_init(w, loop, on_waited);
	msd_peer_timeout_init(w, loop);
	msd_busy_poll_init(w, loop);
	(void)uv_idle_init(loop, &w->awake);
	(void)uv_check_init(loop, &w->check);
	w->check.data = w;
	(void)uv_check_start(&w->check, on_check);
	err = msd_takeover_socket_open(w, loop, given->door_fd, d);
	if (err != MSD_OK)
		return err;
	return msd_peer_open(w, given->channel_fd, true, d);
}

/*
 * Happy path: the hello is read and its key checked, the connection gets a place, the
 * client its answer, and the process of the session the socket. The process ends when
 * the client leaves. Failures: a bad hello, a client that is silent, no free place, a
 * process that dies, a client that an operator ends. All are events of rpc_step.h;
 * this file performs the actions.
 */
#include "daemon/supervisor/rpc/rpc_conn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/rpc_page.h"
#include "daemon/supervisor/edge/access/audit.h"
#include "daemon/supervisor/edge/listen/accept.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/rpc/bytes_written.h"
#include "daemon/supervisor/rpc/rpc_key.h"
#include "daemon/supervisor/rpc/tracker.h"

#define LINES_PER_SECOND 1u /* log lines of a kind */
#define LINGER_MS 2000u     /* for the client to read the last answer */

static void on_poll(uv_poll_t *poll, int status, int events);
static const struct msd_child_ops child_ops;

static struct msd_rpc_conn *conn_of(struct msd_session *s)
{
	return MSD_CONTAINER_OF(s, struct msd_rpc_conn, session);
}

static void release(struct msd_rpc_conn *c)
{
	struct msd_session *s = &c->session;
	struct msd_edge *e = s->edge;

	if (--c->n_open > 0)
		return;
	msd_list_remove(&c->link);
	msd_session_leave(s);
	msd_account_close(&s->client.account);
	msd_accept_release_slot(e, s->peer);
	msd_client_peer_unref(s->peer);
	msd_rpc_process_finish(&c->process);
	free(c);
	e->on_session_gone(e);
}

static void on_poll_closed(uv_handle_t *handle)
{
	release(handle->data);
}

static void wait_for(struct msd_rpc_conn *c, int events, uint64_t ms)
{
	const struct msd_edge *e = c->rpc->edge;

	if (events != 0) {
		(void)uv_poll_start(&c->poll, events, on_poll);
	} else {
		(void)uv_poll_stop(&c->poll);
	}
	if (ms > 0) {
		msd_deadline_set(e->deadlines, &c->due, ms);
	} else {
		msd_deadline_clear(e->deadlines, &c->due);
	}
}

/* Send a few bytes into an empty socket buffer. A client that gets them in part only
 * has gone. */
static void send_now(const struct msd_rpc_conn *c, const struct msd_buf *b)
{
	if (b->n > 0) {
		(void)!send(c->conn.transport.fd, b->p, b->n,
			    MSG_DONTWAIT | MSG_NOSIGNAL);
	}
}

static void set_blocking(int fd, bool is_blocking)
{
	const int flags = fcntl(fd, F_GETFL);

	(void)fcntl(fd, F_SETFL,
		    is_blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

/* If the socket were closed now, bytes that the client has sent would reset the
 * connection, and the answer would be lost. */
static void linger(struct msd_rpc_conn *c)
{
	(void)shutdown(c->conn.transport.fd, SHUT_WR);
	wait_for(c, UV_READABLE, LINGER_MS);
}

static void refuse(struct msd_rpc_conn *c)
{
	struct msd_buf out = {0};

	msd_rpc_hello_refuse(&out);
	send_now(c, &out);
	msd_buf_finish(&out);
	linger(c);
}

static void tell(struct msd_rpc_conn *c)
{
	struct msd_buf out = {0};

	set_blocking(c->conn.transport.fd, false);
	msd_rpc_process_tell(&c->process, msd_span_of(c->why),
			     msd_bytes_written(c->conn.transport.fd) - c->n_greeting,
			     &out);
	send_now(c, &out);
	msd_buf_finish(&out);
	linger(c);
}

/* The next look at the page, or the end of the session. */
static void schedule_look(struct msd_rpc_conn *c)
{
	const struct msd_edge *e = c->rpc->edge;
	const uint64_t now_ms = uv_now(e->loop);
	uint64_t ms = msd_rpc_process_look_ms(e->limits);

	if (c->ends_ms > 0 && (ms == 0 || now_ms + ms > c->ends_ms))
		ms = c->ends_ms > now_ms ? c->ends_ms - now_ms : 1;
	wait_for(c, 0, ms);
}

static msd_err spawn(struct msd_rpc_conn *c, struct msd_diag *d)
{
	const struct msd_rpc *rpc = c->rpc;

	/* The session uses the same open file, with blocking calls. */
	set_blocking(c->conn.transport.fd, true);
	return msd_rpc_process_start(&c->process, rpc->program, rpc->edge->registry,
				     c->conn.transport.fd, c->session.number,
				     &child_ops, c, d);
}

static void start(struct msd_rpc_conn *c)
{
	struct msd_edge *e = c->rpc->edge;
	struct msd_rpc_hello hello = {0};
	struct msd_buf out = {0};
	struct msd_diag d = {0};
	size_t used;

	c->rpc->n_running++;
	msd_counts_rpc_started(&e->counts);
	wait_for(c, 0, 0);
	(void)!msd_rpc_hello_read((struct msd_span){c->hello, c->n_hello}, &hello,
				  &used, &d);
	msd_rpc_hello_accept(&out, hello.key);
	c->n_greeting = out.n;
	send_now(c, &out);
	msd_buf_finish(&out);
	if (hello.timeout_ms > 0) {
		c->session_ms = hello.timeout_ms;
		c->ends_ms = uv_now(e->loop) + hello.timeout_ms;
	}
	if (spawn(c, &d) == MSD_OK) {
		c->n_open++;
		schedule_look(c);
		msd_log(MSD_LOG_INFO, "rpc_session", "conn=%llu sessions=%u",
			(unsigned long long)c->session.number, c->rpc->n_running);
	} else {
		(void)snprintf(c->why, sizeof(c->why), "modserd: %s",
			       msd_diag_text(&d));
		msd_log(MSD_LOG_WARN, "rpc_session_end", "conn=%llu why=\"%s\"",
			(unsigned long long)c->session.number, c->why);
		msd_rpc_conn_on(c, MSD_RPC_HAS_DIED);
	}
	msd_diag_finish(&d);
}

static void close_now(struct msd_rpc_conn *c)
{
	msd_deadline_clear(c->rpc->edge->deadlines, &c->due);
	uv_close((uv_handle_t *)&c->poll, on_poll_closed);
	c->conn.transport.ops->close(&c->conn.transport);
}

static void free_place(struct msd_rpc_conn *c)
{
	struct msd_match_key *place = c->place;

	c->place = NULL;
	if (place != NULL)
		msd_tracker_free_place(c->rpc->tracker, place);
}

static void act(struct msd_rpc_conn *c, unsigned actions)
{
	struct msd_rpc *rpc = c->rpc;

	if (actions & MSD_RPC_QUEUE) {
		wait_for(c, UV_DISCONNECT, rpc->edge->limits->ready_wait_ms + 1);
		msd_rpc_conns_place(rpc);
	}
	if (actions & MSD_RPC_START)
		start(c);
	if (actions & MSD_RPC_KILL) {
		wait_for(c, 0, 0);
		msd_child_kill(c->process.child, c->why);
	}
	if (actions & MSD_RPC_FREE_PLACE) {
		rpc->n_running--;
		msd_counts_rpc_ended(&rpc->edge->counts);
		msd_rpc_conns_place(rpc);
	}
	if (actions & (MSD_RPC_FREE_PLACE | MSD_RPC_REFUSE | MSD_RPC_CLOSE))
		free_place(c);
	if (actions & MSD_RPC_REFUSE)
		refuse(c);
	if (actions & MSD_RPC_TELL)
		tell(c);
	if (actions & MSD_RPC_CLOSE)
		close_now(c);
}

void msd_rpc_conn_on(struct msd_rpc_conn *c, enum msd_rpc_event event)
{
	const struct msd_rpc_step step = msd_rpc_step(c->state, event);

	c->state = step.next;
	c->conn.is_closing = c->state >= MSD_RPC_LINGERING;
	act(c, step.actions);
}

void msd_rpc_conn_end(struct msd_rpc_conn *c, const char *why)
{
	if (c->why[0] == '\0') {
		(void)snprintf(c->why, sizeof(c->why), "modserd: the session ended: %s",
			       why);
	}
	msd_rpc_conn_on(c, MSD_RPC_MUST_END);
}

void msd_rpc_conns_place(struct msd_rpc *rpc)
{
	MSD_LIST_EACH_SAFE (it, &rpc->conns) {
		struct msd_rpc_conn *c =
			MSD_CONTAINER_OF(it, struct msd_rpc_conn, link);
		if (rpc->n_running >= rpc->settings.sessions ||
		    rpc->edge->registry->is_closing)
			return;
		msd_rpc_conn_on(c, MSD_RPC_PLACE_IS_FREE);
	}
}

/* Log a client that gets no session. */
static void log_refusal(struct msd_rpc_conn *c, enum msd_rpc_refusal cause,
			struct msd_log_rate *rate, const char *why)
{
	struct msd_edge *e = c->rpc->edge;
	char peer[MSD_PEER_TEXT_BYTES];
	uint64_t n_others;

	msd_counts_rpc_refused(&e->counts, cause);
	if (!msd_log_rate_allow(rate, uv_now(e->loop), LINES_PER_SECOND, &n_others))
		return;
	msd_log(MSD_LOG_WARN, "rpc_refused",
		"conn=%llu peer=\"%s\" others=%llu why=\"%s\"",
		(unsigned long long)c->session.number,
		msd_peer_id_text(c->session.peer->who, peer),
		(unsigned long long)n_others, why);
}

static void take_hello(struct msd_rpc_conn *c, const struct msd_rpc_hello *hello)
{
	if (c->rpc->edge->registry->is_closing) {
		msd_rpc_conn_on(c, MSD_RPC_HELLO_IS_REFUSED);
	} else if (!msd_rpc_key_admits(c, hello->key)) {
		log_refusal(c, MSD_RPC_REFUSED_KEY, &c->rpc->failures,
			    c->rpc->tracker == NULL
				    ? "it has another key than --tvm-rpc, or no right "
				      "to load"
				    : "it has no valid match key of the tracker, or no "
				      "right to load");
		msd_rpc_conn_on(c, MSD_RPC_HELLO_IS_REFUSED);
	} else {
		msd_rpc_conn_on(c, MSD_RPC_HELLO_IS_GOOD);
	}
}

/* Bytes of the hello, as far as it is known. A byte behind it belongs to the session.
 */
static size_t hello_bytes(const struct msd_rpc_conn *c)
{
	return c->n_hello < MSD_RPC_HELLO_HEAD
		       ? MSD_RPC_HELLO_HEAD
		       : MSD_RPC_HELLO_HEAD + msd_le32(c->hello + 4);
}

static void read_hello(struct msd_rpc_conn *c)
{
	struct msd_rpc_hello hello;
	struct msd_diag d = {0};
	msd_err err = MSD_WAIT;
	size_t used;

	while (err == MSD_WAIT) {
		const ssize_t n = recv(c->conn.transport.fd, c->hello + c->n_hello,
				       hello_bytes(c) - c->n_hello, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			msd_rpc_conn_on(c, MSD_RPC_CLIENT_IS_GONE);
			return;
		}
		c->n_hello += (size_t)n;
		err = msd_rpc_hello_read((struct msd_span){c->hello, c->n_hello},
					 &hello, &used, &d);
	}
	if (err == MSD_OK) {
		take_hello(c, &hello);
	} else {
		log_refusal(c, MSD_RPC_REFUSED_HELLO, &c->rpc->failures,
			    msd_diag_text(&d));
		msd_rpc_conn_on(c, MSD_RPC_HELLO_IS_BAD);
	}
	msd_diag_finish(&d);
}

static void drop_input(struct msd_rpc_conn *c)
{
	uint8_t dropped[16384];
	const ssize_t n =
		recv(c->conn.transport.fd, dropped, sizeof(dropped), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		msd_rpc_conn_on(c, MSD_RPC_CLIENT_IS_GONE);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct msd_rpc_conn *c = poll->data;

	(void)status; /* the read reports the error */
	(void)events;
	if (c->state == MSD_RPC_HELLO) {
		read_hello(c);
	} else if (c->state == MSD_RPC_LINGERING) {
		drop_input(c);
	} else if (c->state == MSD_RPC_WAITING) {
		msd_rpc_conn_on(c, MSD_RPC_CLIENT_IS_GONE);
	}
}

/* While it runs: look at the page. */
static void look_at_process(struct msd_rpc_conn *c)
{
	const struct msd_edge *e = c->rpc->edge;
	const uint64_t now_ms = uv_now(e->loop);
	const char *why = msd_rpc_process_look(&c->process, e->limits, now_ms);

	if (c->ends_ms > 0 && now_ms >= c->ends_ms) { /* TVM's own words */
		(void)snprintf(
			c->why, sizeof(c->why),
			"RPCSessionTimeoutError: Your %.1fs session has expired, "
			"try to increase the \"session_timeout\" value.",
			(double)c->session_ms / 1000);
	} else if (why != NULL) {
		(void)snprintf(c->why, sizeof(c->why), "modserd: the session ended: %s",
			       why);
	} else {
		schedule_look(c);
		return;
	}
	msd_rpc_conn_on(c, MSD_RPC_IS_DUE);
}

static void on_due(struct msd_deadline *node)
{
	struct msd_rpc_conn *c = MSD_CONTAINER_OF(node, struct msd_rpc_conn, due);
	char why[64];

	if (c->state == MSD_RPC_RUNNING) {
		look_at_process(c);
		return;
	}
	if (c->state == MSD_RPC_HELLO) {
		log_refusal(c, MSD_RPC_REFUSED_HELLO, &c->rpc->failures,
			    "it sent no complete hello in time (--first-frame)");
	} else if (c->state == MSD_RPC_WAITING) {
		(void)snprintf(why, sizeof(why), "sessions=%u reached (--tvm-rpc)",
			       c->rpc->settings.sessions);
		log_refusal(c, MSD_RPC_REFUSED_FULL, &c->rpc->fulls, why);
	}
	msd_rpc_conn_on(c, MSD_RPC_IS_DUE);
}

static bool has_ended_well(const struct msd_rpc_conn *c)
{
	const struct msd_child *child = c->process.child;

	return c->why[0] == '\0' && child->start_error == 0 &&
	       child->term_signal == 0 && child->exit_status == 0;
}

static void explain_end(struct msd_rpc_conn *c)
{
	struct msd_buf text = {0};

	msd_child_describe_end(c->process.child, &text);
	if (c->why[0] == '\0' && !text.bad) {
		(void)snprintf(c->why, sizeof(c->why),
			       "modserd: the session's process died: %.*s", (int)text.n,
			       (const char *)text.p);
	}
	msd_counts_rpc_died(&c->rpc->edge->counts);
	msd_log(MSD_LOG_WARN, "rpc_session_end", "conn=%llu why=\"%s\"",
		(unsigned long long)c->session.number, c->why);
	msd_buf_finish(&text);
}

static void on_exit_of(void *user)
{
	struct msd_rpc_conn *c = user;
	struct msd_child *child = c->process.child;

	msd_child_read_output(child);
	const bool is_good = has_ended_well(c);
	if (is_good) {
		msd_log(MSD_LOG_INFO, "rpc_session_end", "conn=%llu",
			(unsigned long long)c->session.number);
	} else {
		explain_end(c);
	}
	c->process.child = NULL;
	msd_child_close(child);
	msd_rpc_conn_on(c, is_good ? MSD_RPC_HAS_ENDED : MSD_RPC_HAS_DIED);
}

static void on_output(void *user, const char *bytes, size_t n)
{
	const struct msd_rpc_conn *c = user;

	msd_log(MSD_LOG_DEBUG, "rpc_session_output", "conn=%llu text=\"%.*s\"",
		(unsigned long long)c->session.number, (int)n, bytes);
}

static void on_child_closed(void *user)
{
	release(user);
}

static const struct msd_child_ops child_ops = {
	.on_output = on_output, .on_exit = on_exit_of, .on_closed = on_child_closed};

static const char *state_word(const struct msd_rpc_conn *c)
{
	return c->state == MSD_RPC_RUNNING && msd_rpc_page_state_of(c->process.page) ==
						      MSD_RPC_PAGE_IDLE
		       ? "rpc idle"
		       : msd_rpc_state_word(c->state);
}

static const char *state_of(const struct msd_session *s)
{
	struct msd_rpc_conn *c = conn_of((struct msd_session *)(uintptr_t)s);
	const struct msd_rpc_page *page = c->process.page;

	c->conn.bytes_in = c->n_hello + (page != NULL ? page->in_bytes : 0);
	c->conn.bytes_out = page != NULL ? page->out_bytes : 0;
	return state_word(c);
}

static void close_for(struct msd_session *s, msd_err err, const char *why)
{
	(void)err;
	msd_rpc_conn_end(conn_of(s), why);
}

static const struct msd_frontend_ops front_ops = {.state = state_of,
						  .close = close_for};
static const struct msd_client_ops no_requests;

void msd_rpc_conn_open(struct msd_rpc *rpc, struct msd_transport transport,
		       struct msd_principal who, struct msd_client_peer *peer)
{
	struct msd_edge *e = rpc->edge;
	struct msd_rpc_conn *c = calloc(1, sizeof(*c));

	if (c == NULL || uv_poll_init(e->loop, &c->poll, transport.fd) != 0) {
		free(c);
		transport.ops->close(&transport);
		msd_accept_release_slot(e, peer);
		msd_client_peer_unref(peer);
		return;
	}
	c->rpc = rpc;
	c->conn.transport = transport;
	c->n_open = 1;
	msd_session_init(&c->session, e, &no_requests, peer, &c->conn);
	msd_list_remove(&c->session.watch_link); /* it keeps its own deadline */
	c->session.front = &front_ops;
	c->session.principal = who;
	c->poll.data = c;
	c->due.on_due = on_due;
	msd_list_append(&rpc->conns, &c->link);
	msd_audit_connected(&c->session, false);
	wait_for(c, UV_READABLE, e->limits->first_frame_ms);
}

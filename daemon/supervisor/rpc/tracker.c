/*
 * Happy path: a thread connects, the magic is exchanged, the server is announced, then
 * a match key for each free place. Every two seconds the tracker is asked for the keys
 * that it has left. Each message is answered before the next one is sent, so all of
 * them fit into the socket's buffer. Failures: no connection, silence, an answer that
 * no tracker gives. Then the connection is closed, and another one begins after the
 * back-off. All are events of tracker_step.h; this file performs the actions.
 */
#include "daemon/supervisor/rpc/tracker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/rpc/tracker_connect.h"
#include "daemon/supervisor/rpc/tracker_step.h"
#include "proto/base/chance.h"
#include "proto/base/errno_text.h"
#include "proto/tvm_rpc/hello.h"
#include "proto/tvm_rpc/tracker.h"

#define ASK_MS 2000u   /* between questions, as TVM's servers do */
#define WAIT_MS 10000u /* for an answer, if --first-frame is unlimited */
#define READ_BYTES 16384u

/* A connection. It outlives its tracker by the close of its handle. */
struct link {
	struct msd_tracker *owner;
	uv_poll_t poll;
	int fd;
};

struct msd_tracker {
	struct msd_edge *edge;
	const struct msd_rpc_settings *settings;
	uint16_t port;
	enum msd_tracker_state state;
	struct msd_match_keys keys;
	struct msd_tracker_attempt *attempt; /* NULL: no thread connects */
	struct link *link;                   /* NULL: not connected */
	struct msd_buf in;                   /* an answer that is not complete */
	struct msd_deadline due;
	uint32_t n_failures; /* since it last answered the question for keys */
	bool is_reported;    /* the failure was logged */
	char name[MSD_ADDRESS_TEXT_MAX]; /* the tracker's, for the log */
};

static void on_event(struct msd_tracker *t, enum msd_tracker_event event);

static uint64_t wait_ms(const struct msd_tracker *t)
{
	const uint64_t ms = t->edge->limits->first_frame_ms;

	return ms > 0 ? ms : WAIT_MS;
}

/* The same reason again and again is logged once. */
static void fail(struct msd_tracker *t, const char *why)
{
	t->n_failures++;
	msd_counts_rpc_tracker_failure(&t->edge->counts);
	if (!t->is_reported) {
		msd_log(MSD_LOG_WARN, "rpc_tracker_lost", "tracker=\"%s\" why=\"%s\"",
			t->name, why);
	}
	t->is_reported = true;
	on_event(t, MSD_TRACKER_HAS_FAILED);
}

static void on_poll_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void close_link(struct msd_tracker *t)
{
	struct link *l = t->link;

	if (t->attempt != NULL)
		msd_tracker_attempt_drop(t->attempt);
	t->attempt = NULL;
	t->link = NULL;
	msd_buf_finish(&t->in);
	msd_deadline_clear(t->edge->deadlines, &t->due);
	if (l == NULL)
		return;
	uv_close((uv_handle_t *)&l->poll, on_poll_closed);
	(void)close(l->fd);
}

static void send_now(struct msd_tracker *t, struct msd_buf *out)
{
	const bool is_sent =
		!out->bad && send(t->link->fd, out->p, out->n,
				  MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)out->n;

	msd_buf_finish(out);
	if (is_sent) {
		msd_deadline_set(t->edge->deadlines, &t->due, wait_ms(t));
	} else {
		fail(t, "the message was not sent");
	}
}

static const char *own_host(const struct msd_tracker *t)
{
	return t->settings->as[0] != '\0' ? t->settings->as : NULL;
}

static void greet(struct msd_tracker *t)
{
	struct msd_buf out = {0};

	msd_buf_put_u32(&out, MSD_RPC_TRACKER_MAGIC);
	send_now(t, &out);
}

static void tell(struct msd_tracker *t)
{
	struct msd_buf out = {0};

	msd_match_keys_reset(&t->keys);
	msd_rpc_tracker_write_server(&out, t->settings->key, own_host(t), t->port);
	send_now(t, &out);
}

static void put(struct msd_tracker *t)
{
	const struct msd_match_key *k = msd_match_keys_tell(&t->keys);
	struct msd_buf out = {0};

	if (k == NULL) {
		fail(t, "no random numbers for a match key");
		return;
	}
	msd_rpc_tracker_write_place(&out, t->settings->key, k->text, own_host(t),
				    t->port);
	send_now(t, &out);
}

static void ask(struct msd_tracker *t)
{
	struct msd_buf out = {0};

	msd_rpc_tracker_write_question(&out);
	send_now(t, &out);
}

static void rest(struct msd_tracker *t)
{
	msd_deadline_set(t->edge->deadlines, &t->due,
			 msd_tracker_delay_ms(t->n_failures, msd_chance()));
}

static void look(struct msd_tracker *t)
{
	if (msd_match_keys_lack(&t->keys)) {
		on_event(t, MSD_TRACKER_LACKS_PLACE);
	} else {
		msd_deadline_set(t->edge->deadlines, &t->due, ASK_MS);
	}
}

static bool on_left(void *user, struct msd_span key)
{
	return msd_match_keys_left(user, key);
}

/* Check the answer of the current state. Errors: MSD_WAIT, MSD_PROTOCOL. */
static msd_err read_answer(struct msd_tracker *t, struct msd_diag *d)
{
	const struct msd_span all = {t->in.p, t->in.n};
	struct msd_span json;
	size_t used = sizeof(uint32_t);
	msd_err err = MSD_OK;

	if (t->state == MSD_TRACKER_GREETING) {
		if (all.n < used)
			return MSD_WAIT;
		if (msd_le32(all.p) != MSD_RPC_TRACKER_MAGIC) {
			return msd_diag_set(d, MSD_PROTOCOL,
					    "it is no tracker of TVM's RPC: its first "
					    "word is 0x%08x",
					    msd_le32(all.p));
		}
	} else {
		err = msd_rpc_tracker_read(all, &json, &used, d);
	}
	if (err == MSD_OK && used != all.n) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "it sent more than the answer to a message");
	}
	if (err != MSD_OK || t->state == MSD_TRACKER_GREETING)
		return err;
	if (t->state != MSD_TRACKER_ASKING)
		return msd_rpc_tracker_read_done(json, d);
	msd_match_keys_begin(&t->keys);
	return msd_rpc_tracker_read_left(json, on_left, &t->keys, d);
}

static void report_success(struct msd_tracker *t)
{
	msd_log(MSD_LOG_INFO, "rpc_tracker", "tracker=\"%s\" places=%u", t->name,
		t->keys.n);
}

/* A tracker that fails after each registration is not reported each time. */
static void note_answer(struct msd_tracker *t)
{
	if (t->state == MSD_TRACKER_TELLING && !t->is_reported)
		report_success(t);
	if (t->state != MSD_TRACKER_ASKING)
		return;
	msd_match_keys_end(&t->keys, uv_now(t->edge->loop));
	t->n_failures = 0;
	if (t->is_reported)
		report_success(t);
	t->is_reported = false;
}

static void take(struct msd_tracker *t)
{
	struct msd_diag d = {0};
	const msd_err err = read_answer(t, &d);

	if (err == MSD_OK) {
		msd_buf_finish(&t->in);
		note_answer(t);
		on_event(t, MSD_TRACKER_HAS_ANSWERED);
	} else if (err != MSD_WAIT) {
		fail(t, msd_diag_text(&d));
	}
	msd_diag_finish(&d);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	const struct link *l = poll->data;
	struct msd_tracker *t = l->owner;
	char text[MSD_ERRNO_TEXT_BYTES];
	uint8_t bytes[READ_BYTES];
	const ssize_t n = recv(l->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	(void)status; /* the read reports the error */
	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		fail(t,
		     n == 0 ? "it closed the connection" : msd_errno_text(errno, text));
		return;
	}
	if (!msd_tracker_state_waits(t->state)) {
		fail(t, "it sent a message without a question");
		return;
	}
	msd_buf_put(&t->in, bytes, (size_t)n);
	if (t->in.bad) {
		fail(t, "no memory for its answer");
	} else {
		take(t);
	}
}

static void on_due(struct msd_deadline *node)
{
	struct msd_tracker *t = MSD_CONTAINER_OF(node, struct msd_tracker, due);

	if (msd_tracker_state_waits(t->state)) {
		fail(t, "it did not answer in time (--first-frame)");
	} else {
		on_event(t, MSD_TRACKER_IS_DUE);
	}
}

static void on_attempt_end(struct msd_tracker_attempt *a)
{
	struct msd_tracker *t = a->user;
	struct link *l = a->fd >= 0 ? calloc(1, sizeof(*l)) : NULL;

	t->attempt = NULL;
	if (l == NULL || uv_poll_init(t->edge->loop, &l->poll, a->fd) != 0) {
		free(l);
		fail(t, a->fd < 0 ? a->why : "no memory for the connection");
		return;
	}
	l->fd = a->fd;
	a->fd = -1;
	l->owner = t;
	l->poll.data = l;
	(void)uv_poll_start(&l->poll, UV_READABLE, on_poll);
	t->link = l;
	on_event(t, MSD_TRACKER_IS_CONNECTED);
}

static void connect_to(struct msd_tracker *t)
{
	t->attempt = msd_tracker_attempt_begin(t->edge->loop, &t->settings->tracker,
					       wait_ms(t), on_attempt_end, t);
	if (t->attempt == NULL)
		fail(t, "no memory for the connection");
}

static void act(struct msd_tracker *t, unsigned actions)
{
	if (actions & MSD_TRACKER_CLOSE)
		close_link(t);
	if (actions & MSD_TRACKER_REST)
		rest(t);
	if (actions & MSD_TRACKER_CONNECT)
		connect_to(t);
	if (actions & MSD_TRACKER_GREET)
		greet(t);
	if (actions & MSD_TRACKER_TELL)
		tell(t);
	if (actions & MSD_TRACKER_PUT)
		put(t);
	if (actions & MSD_TRACKER_ASK)
		ask(t);
	if (actions & MSD_TRACKER_LOOK)
		look(t);
}

static void on_event(struct msd_tracker *t, enum msd_tracker_event event)
{
	const struct msd_tracker_step step = msd_tracker_step(t->state, event);

	t->state = step.next;
	msd_counts_rpc_tracker(&t->edge->counts, msd_tracker_state_is_known(t->state));
	act(t, step.actions);
}

msd_err msd_tracker_open(struct msd_edge *e, const struct msd_rpc_settings *settings,
			 uint16_t port, struct msd_tracker **ret, struct msd_diag *d)
{
	struct msd_tracker *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return msd_diag_no_memory(d);
	const msd_err err =
		msd_match_keys_init(&t->keys, settings->key, settings->sessions, d);
	if (err != MSD_OK) {
		free(t);
		return err;
	}
	t->edge = e;
	t->settings = settings;
	t->port = port;
	t->due.on_due = on_due;
	(void)msd_address_format(&settings->tracker, t->name);
	msd_deadline_set(e->deadlines, &t->due, 0);
	*ret = t;
	return MSD_OK;
}

struct msd_match_key *msd_tracker_take_place(struct msd_tracker *t, struct msd_span key)
{
	return msd_match_keys_use(&t->keys, key);
}

void msd_tracker_free_place(struct msd_tracker *t, struct msd_match_key *place)
{
	place->state = MSD_MATCH_KEY_NEW;
	on_event(t, MSD_TRACKER_LACKS_PLACE);
}

void msd_tracker_leave(struct msd_tracker *t)
{
	on_event(t, MSD_TRACKER_MUST_LEAVE);
}

void msd_tracker_close(struct msd_tracker *t)
{
	if (t == NULL)
		return;
	msd_tracker_leave(t);
	msd_match_keys_finish(&t->keys);
	free(t);
}

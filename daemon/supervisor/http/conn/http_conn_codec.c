/*
 * HTTP as a codec of a connection.
 *
 * Happy path: input is read into the loop's buffer and served from there
 * (http_conn_serve.c), except inputs of calls, which are read into their slot. The
 * replies of a turn are queued together; the tensors of the last one follow in place.
 * Nothing is read until all of it is written, so a client that does not read is not
 * served.
 *
 * Failures: if the connection is broken or memory is short, it is closed.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/http/conn/http_conn_serve.h"
#include "daemon/supervisor/http/conn/http_conn_state.h"
#include "daemon/supervisor/http/infer/infer.h"
#include "daemon/supervisor/http/infer/infer_inputs.h"

#define KEEP_OUT_BYTES 4096u         /* kept buffer size when all is written */
#define READ_BYTES 16384u            /* per iteration, */
#define READ_IN_PLACE (512u * 1024u) /* in addition, of inputs */

static struct msd_http_conn *of(const struct msd_conn *c)
{
	return c->user;
}

void msd_http_conn_charge(struct msd_http_conn *v)
{
	const uint64_t held = msd_http_reader_bytes(&v->reader) + v->out.cap +
			      msd_infer_bytes(&v->caller);

	if (held > v->charged_bytes) {
		msd_account_charge(&v->caller.session.client.account,
				   held - v->charged_bytes);
	} else if (held < v->charged_bytes) {
		msd_account_release(&v->caller.session.client.account,
				    v->charged_bytes - held);
	}
	v->charged_bytes = held;
}

/* A reply is written, or --write-stall closes the connection; only unserved input can
 * be rejected. */
static void all_written(struct msd_http_conn *v)
{
	struct msd_conn *c = &v->conn;

	if (v->is_ending && !c->is_closing)
		msd_conn_linger(c);
	if (msd_account_is_over(&v->caller.session.client.account) &&
	    !msd_http_conn_is_awaiting(v)) {
		msd_conn_close(c, MSD_BUSY,
			       "it holds more memory than it may "
			       "(--max-connection-memory, --max-peer-memory, "
			       "--max-total-memory)");
	}
}

static void on_written(void *ctx, bool sent)
{
	struct msd_http_conn *v = ctx;

	if (!sent || v->conn.queued_bytes > 0)
		return;
	if (v->caller.n_tail > 0) {
		msd_infer_end(&v->caller, true);
		msd_http_conn_charge(v);
	}
	msd_conn_pause(&v->conn, MSD_PAUSE_OUTPUT, false);
	all_written(v);
}

/* Most replies are written at once and need no place in the queue. */
static bool write_now(struct msd_http_conn *v)
{
	const size_t n = v->out.bad || v->caller.n_tail > 0
				 ? 0
				 : msd_conn_write_now(&v->conn, v->out.p, v->out.n);

	v->out.n -= n;
	if (v->out.n > 0 && n > 0)
		memmove(v->out.p, v->out.p + n, v->out.n);
	if (v->out.n == 0 && v->out.cap > KEEP_OUT_BYTES)
		msd_buf_finish(&v->out);
	return v->out.n == 0 && !v->out.bad;
}

static void queue(struct msd_http_conn *v)
{
	struct msd_http_session *c = &v->caller;
	struct msd_out *o = v->out.bad ? NULL : msd_out_new();

	if (o == NULL) {
		msd_conn_close(&v->conn, MSD_NOMEM, "out of memory for an answer");
		return;
	}
	const struct msd_buf replies = v->out;
	v->out = o->body;
	v->out.n = 0;
	o->body = replies;
	if (c->n_tail > 0) {
		free(o->pieces);
		o->pieces = c->tail;
		o->n_pieces = o->cap_pieces = c->n_tail;
		c->tail = NULL;
	}
	for (uint32_t i = 0; i < o->n_pieces; i++)
		o->payload_bytes += o->pieces[i].iov_len;
	o->on_done = on_written;
	o->ctx = v;
	msd_conn_pause(&v->conn, MSD_PAUSE_OUTPUT, true);
	msd_conn_write(&v->conn, o);
}

void msd_http_conn_settle(struct msd_http_conn *v)
{
	if ((v->out.n > 0 || v->out.bad) && !write_now(v))
		queue(v);
	msd_http_conn_charge(v);
	if (v->conn.queued_bytes == 0)
		all_written(v);
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
 * but not while some inputs have no room. */
static size_t want(struct msd_conn *c, struct iovec *pieces, size_t *buffer_bytes)
{
	struct msd_http_conn *v = of(c);
	const struct msd_scatter *rest = msd_http_reader_rest(&v->reader);
	const uint8_t *end = msd_infer_room_end(&v->caller);
	size_t room = 0, n = 0;

	*buffer_bytes = end != NULL ? 0 : READ_BYTES;
	for (; rest != NULL && n < rest->n && n < MSD_CODEC_PIECES &&
	       room < READ_IN_PLACE;
	     n++) {
		pieces[n] = rest->pieces[n];
		cut(&pieces[n], READ_IN_PLACE - room, end);
		room += pieces[n].iov_len;
	}
	if (room == 0 && end != NULL) {
		msd_http_conn_await(v, true);
		msd_infer_wait(&v->caller);
	}
	return n;
}

static size_t take(struct msd_conn *c, uint8_t *p, size_t n)
{
	struct msd_http_conn *v = of(c);
	struct msd_span in = {p, n};

	if (c->frames_left > 0) {
		msd_http_conn_serve(v, &in);
		msd_http_conn_settle(v);
	}
	return v->is_ending ? 0 : in.n;
}

static void arrived(struct msd_conn *c, size_t n)
{
	msd_http_reader_came(&of(c)->reader, n);
	(void)take(c, c->wire->rbuf, 0); /* all inputs may be there */
}

static bool is_within(const struct msd_conn *c)
{
	return msd_http_reader_is_owed(&of(c)->reader);
}

static void ended(struct msd_conn *c)
{
	msd_conn_linger(c);
	msd_conn_close(c, MSD_OK, "closed by the peer");
}

const struct msd_codec msd_http_codec = {.want = want,
					 .arrived = arrived,
					 .take = take,
					 .is_within = is_within,
					 .ended = ended,
					 .reads_per_turn = 1,
					 .writes_per_turn = 1};

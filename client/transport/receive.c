/*
 * Receives frames from the daemon. Happy path: header; body, decoded into the result
 * of its ticket; the payload in chunks, one for each tensor, read directly into the
 * caller's memory for an out argument, else into the result's; then the ticket ends.
 * Failures: data for an abandoned ticket is discarded. A protocol violation breaks
 * the connection. The daemon's farewell message gives its reason for closing.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/client.h"
#include "client/meta.h"
#include "client/result.h"
#include "client/transport/payload.h"
#include "client/transport/protocol_sniff.h"
#include "client/transport/tls.h"
#include "proto/value.h"

#define BUFFER_BYTES (64u * 1024u) /* smaller payloads are copied once */
#define KEPT_BYTES (1u << 20)      /* buffer size kept after a body */
#define ROUNDS 64 /* reads of one call, so that other sockets get their share */

/* session.close [code, name, message]: the daemon closes the connection and gives the
 * reason. */
static msd_err read_farewell(modser_client *c, struct msd_span params)
{
	struct msd_cur cur = msd_cur_of(params);
	struct msd_wire_value list, code, name, text;

	if (msd_value_read(&cur, &list, NULL) != MSD_OK || list.kind != MSD_K_TUPLE)
		return msd_client_skip_payload(c);
	cur = msd_cur_of(list.as.tuple.items);
	if (list.as.tuple.n < 3 || msd_value_read(&cur, &code, NULL) != MSD_OK ||
	    msd_value_read(&cur, &name, NULL) != MSD_OK ||
	    msd_value_read(&cur, &text, NULL) != MSD_OK || code.kind != MSD_K_INT ||
	    code.as.i <= MSD_OK || code.as.i >= MSD_ERR_COUNT || text.kind != MSD_K_STR)
		return msd_client_skip_payload(c);
	return msd_diag_set(&c->why, (msd_err)code.as.i,
			    "the daemon ended the connection: %.*s", (int)text.as.str.n,
			    (const char *)text.as.str.p);
}

/* module.progress [id, bytes, total] */
static msd_err read_progress(modser_client *c, struct msd_span params)
{
	struct msd_wire_value v[3];
	struct msd_cur cur;
	uint32_t n;

	if (!msd_array_open(params, &cur, &n) || n != 3)
		return msd_client_skip_payload(c);
	for (unsigned i = 0; i < 3; i++) {
		if (msd_value_read(&cur, &v[i], NULL) != MSD_OK ||
		    v[i].kind != MSD_K_INT || v[i].as.i < 0)
			return msd_client_skip_payload(c);
	}
	const struct msd_ticket *t = msd_client_find(c, (uint64_t)v[0].as.i);
	if (t != NULL && t->progress != NULL && !t->ended)
		t->progress(t->ctx, (uint64_t)v[1].as.i, (uint64_t)v[2].as.i);
	return msd_client_skip_payload(c);
}

static msd_err read_notification(modser_client *c, const struct msd_body *b)
{
	if (msd_span_is(b->method, "session.close"))
		return read_farewell(c, b->params);
	if (msd_span_is(b->method, "module.progress"))
		return read_progress(c, b->params);
	if (msd_span_is(b->method, "channel.lost"))
		msd_lost_workers_apply(&c->lost, b->params);
	return msd_client_skip_payload(c);
}

/* Handle the answer @bytes, with the parts @b, to @t; @known: the equal cached
 * answer. */
static msd_err read_answer(modser_client *c, struct msd_ticket *t,
			   struct msd_span bytes, const struct msd_body *b,
			   const struct msd_known *known)
{
	struct msd_body_error e;

	if (t->n_outs == 0 && msd_reply_cache_tell(known, bytes, t->result))
		return MSD_OK;
	msd_meta_read(b->meta, t->result);
	if (msd_body_error_read(b->error, &e)) {
		msd_result_fail_body(t->result, t->method, &e);
		return msd_client_skip_payload(c);
	}
	const msd_err err = msd_client_read_result(c, t, b->result);
	if (err == MSD_OK && known == NULL && c->has_plans) {
		msd_reply_cache_keep(&c->heard, bytes, c->rx.frame.payload_bytes, b,
				     t->result);
	}
	return err;
}

static msd_err read_body(modser_client *c, struct msd_span bytes)
{
	const struct msd_known *known;
	struct msd_body b;
	msd_err err = msd_reply_cache_read(&c->heard, bytes, c->rx.frame.payload_bytes,
					   &b, &known, &c->why);

	if (err != MSD_OK)
		return msd_diag_wrap(&c->why, MSD_PROTOCOL, "response");
	c->rx.ticket_id = 0;
	c->rx.n_pieces = c->rx.at_piece = 0;
	if (b.kind == MSD_NOTIFICATION)
		return read_notification(c, &b);
	if (b.kind != MSD_RESPONSE) {
		return msd_diag_set(&c->why, MSD_PROTOCOL,
				    "response: the daemon sent a request");
	}
	struct msd_ticket *t = msd_client_find(c, b.id);
	if (t == NULL || !t->due || !t->begun) {
		return msd_diag_set(&c->why, MSD_PROTOCOL,
				    "response: to request %llu, which is not in flight",
				    (unsigned long long)b.id);
	}
	c->rx.ticket_id = t->id;
	if (t->ended)
		return msd_client_skip_payload(c);
	return read_answer(c, t, bytes, &b, known);
}

/* Read a header; fails if the peer is not modserd. */
static msd_err read_header(modser_client *c)
{
	struct msd_receive *rx = &c->rx;
	const struct msd_span first = {rx->buf + rx->at, rx->n};

	if (msd_stranger_is(first))
		return msd_stranger_fail(first, &c->why);
	if (rx->n < MSD_FRAME_HEADER_BYTES)
		return MSD_OK;
	rx->at += MSD_FRAME_HEADER_BYTES;
	rx->n -= MSD_FRAME_HEADER_BYTES;
	rx->state = MSD_RX_BODY;
	return msd_frame_read(first.p, MSD_MAX_REPLY_BODY_BYTES, MSD_MAX_PAYLOAD_BYTES,
			      &rx->frame, &c->why);
}

static void finish_response(modser_client *c)
{
	struct msd_ticket *t = msd_client_find(c, c->rx.ticket_id);

	c->rx.state = MSD_RX_HEADER;
	if (t == NULL)
		return;
	t->due = false;
	if (t->ended) {
		msd_client_drop(c, t);
	} else if (t->at_iov == t->n_iov) { /* otherwise when its last byte is sent */
		msd_client_end(c, t);
	}
}

/* Move buffered bytes to their places in the payload. */
static void place_buffered(struct msd_receive *rx)
{
	while (rx->n > 0 && rx->at_piece < rx->n_pieces) {
		struct msd_piece *p = &rx->pieces[rx->at_piece];
		size_t n = p->n < rx->n ? (size_t)p->n : rx->n;

		if (p->to != NULL) {
			memcpy(p->to, rx->buf + rx->at, n);
			p->to += n;
		}
		p->n -= n;
		rx->at += n;
		rx->n -= n;
		rx->at_piece += p->n == 0;
	}
}

/* One step of the state machine; *ret_more is false when it needs more bytes. */
static msd_err step(modser_client *c, bool *ret_more)
{
	struct msd_receive *rx = &c->rx;
	msd_err err = MSD_OK;

	*ret_more = false;
	switch (rx->state) {
	case MSD_RX_HEADER:
		err = read_header(c);
		if (rx->state == MSD_RX_HEADER)
			return err;
		break;
	case MSD_RX_BODY:
		if (rx->n < rx->frame.body_bytes)
			return MSD_OK;
		err = read_body(
			c, (struct msd_span){rx->buf + rx->at, rx->frame.body_bytes});
		rx->at += rx->frame.body_bytes;
		rx->n -= rx->frame.body_bytes;
		rx->state = MSD_RX_PAYLOAD;
		break;
	case MSD_RX_PAYLOAD:
		place_buffered(rx);
		if (rx->at_piece < rx->n_pieces)
			return MSD_OK;
		finish_response(c);
		break;
	}
	*ret_more = true;
	return err;
}

/* Make room for the bytes that the state needs after the buffered bytes. */
static bool make_room(struct msd_receive *rx)
{
	size_t need = rx->state == MSD_RX_BODY ? rx->frame.body_bytes : 4096;

	if (rx->n == 0)
		rx->at = 0;
	if (rx->cap - rx->at >= need && rx->cap - rx->at > rx->n)
		return true;
	if (rx->n > 0)
		memmove(rx->buf, rx->buf + rx->at, rx->n);
	rx->at = 0;
	if (rx->cap >= need && rx->cap > rx->n)
		return true;
	size_t cap = need > BUFFER_BYTES ? need : BUFFER_BYTES;
	uint8_t *grown = realloc(rx->buf, cap);
	if (grown == NULL)
		return false;
	rx->buf = grown;
	rx->cap = cap;
	return true;
}

/* Shrink the buffer after a large body, because the next one may never arrive.
 * Outside a body, less than a header is buffered. */
static void give_back(struct msd_receive *rx)
{
	if (rx->state == MSD_RX_BODY || rx->cap <= KEPT_BYTES)
		return;
	if (rx->n > 0)
		memmove(rx->buf, rx->buf + rx->at, rx->n);
	rx->at = 0;
	uint8_t *less = realloc(rx->buf, BUFFER_BYTES);
	if (less == NULL)
		return;
	rx->buf = less;
	rx->cap = BUFFER_BYTES;
}

/* recvmsg() with room for one descriptor; closes an earlier descriptor that was not
 * taken. */
static ssize_t receive_fd(modser_client *c, struct msghdr *m, int flags)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;

	m->msg_control = control.room;
	/* Without its padding, which the kernel would use for a second descriptor. */
	m->msg_controllen = CMSG_LEN(sizeof(int));
	const ssize_t n = recvmsg(c->fd, m, flags | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *h = n > 0 ? CMSG_FIRSTHDR(m) : NULL;
	if (h == NULL || h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
		return n;
	if (c->passed_fd >= 0)
		(void)close(c->passed_fd);
	memcpy(&c->passed_fd, CMSG_DATA(h), sizeof(c->passed_fd));
	return n;
}

static ssize_t receive(modser_client *c, struct msghdr *m, int flags)
{
	if (c->tls != NULL) {
		return msd_client_tls_read(c->tls, m->msg_iov, m->msg_iovlen,
					   flags == 0);
	}
	return c->takes_fd ? receive_fd(c, m, flags) : recvmsg(c->fd, m, flags);
}

/* Read once: a payload directly into place, the bytes after it into the buffer. */
static ssize_t read_some(modser_client *c, int flags, bool *ret_drained)
{
	struct msd_receive *rx = &c->rx;
	size_t room = rx->cap - rx->at - rx->n;
	struct iovec iov[2];
	struct msghdr m = {.msg_iov = iov};
	struct msd_piece *p = NULL;

	if (rx->state == MSD_RX_PAYLOAD && rx->at_piece < rx->n_pieces &&
	    rx->pieces[rx->at_piece].to != NULL) {
		p = &rx->pieces[rx->at_piece];
		iov[m.msg_iovlen++] = (struct iovec){p->to, (size_t)p->n};
	}
	iov[m.msg_iovlen++] = (struct iovec){rx->buf + rx->at + rx->n, room};
	ssize_t got = receive(c, &m, flags);
	if (got <= 0)
		return got;
	size_t n = (size_t)got;
	if (p != NULL) {
		size_t direct = n < p->n ? n : (size_t)p->n;

		p->to += direct;
		p->n -= direct;
		rx->at_piece += p->n == 0;
		n -= direct;
	}
	rx->n += n;
	*ret_drained = n < room;
	return got;
}

static msd_err read_failed(modser_client *c, ssize_t n)
{
	if (n < 0 && errno != ECONNRESET)
		return msd_client_broken(c, "receive");
	if (c->is_direct) {
		c->was_reset = n < 0;
		return msd_diag_set(
			&c->why, MSD_WORKER_LOST,
			"the module's worker has ended; calls to it may have run");
	}
	return msd_diag_set(&c->why, MSD_IO, "the daemon closed the connection");
}

/* No event reports the data that libssl has buffered, so it is read to the end. */
static unsigned rounds_of(const modser_client *c)
{
	return c->tls != NULL ? UINT_MAX : ROUNDS;
}

msd_err msd_client_receive(modser_client *c, bool may_block)
{
	const unsigned rounds = rounds_of(c);
	bool drained = false;

	for (unsigned round = 0; round < rounds && !drained; round++) {
		bool more = true;

		if (!make_room(&c->rx)) {
			return msd_diag_set(&c->why, MSD_NOMEM,
					    "no memory for a response of %u bytes",
					    c->rx.frame.body_bytes);
		}
		ssize_t n = read_some(c, may_block ? 0 : MSG_DONTWAIT, &drained);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return MSD_OK;
		if (n <= 0)
			return read_failed(c, n);
		may_block = false;
		c->n_reads++;
		while (more) {
			msd_err err = step(c, &more);
			if (err != MSD_OK)
				return err;
		}
		give_back(&c->rx);
	}
	return MSD_OK;
}

void msd_receive_finish(struct msd_receive *rx)
{
	free(rx->buf);
	free(rx->pieces);
}

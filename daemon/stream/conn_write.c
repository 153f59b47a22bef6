/*
 * The sending half of a connection: messages in a queue, written with as few system
 * calls as the socket allows.
 *
 * Happy path: a message is queued, in the memory of the last one if both are short.
 * At the end of the loop iteration one writev sends all headers, bodies and payload
 * pieces. Bytes that the socket does not take wait for its readiness.
 *
 * Failures: a peer that takes nothing for too long, or exceeds its budget of queued
 * bytes, loses the connection. If the peer is gone, its remaining bytes are read
 * first. If the kernel refuses a descriptor because the user's processes have too
 * many in flight, the write is retried later.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/loop/account.h"
#include "daemon/stream/codec.h"
#include "daemon/stream/conn_parts.h"

#define PIECES_PER_WRITE 64
#define BYTES_PER_WRITE (256u * 1024u)
/* Extra bytes allowed in the last write. A separate iteration for the header of a 1
 * MiB frame would cost a tenth of its time. */
#define BYTES_OF_REST (16u * 1024u)
#define PUT_BYTES 4096u                   /* buffer for short frames */
#define REFUSED_NS UINT64_C(120000000000) /* then the connection is closed */

static struct msd_out *out_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_out, link);
}

static uint64_t out_bytes(const struct msd_out *o)
{
	return o->body.n + o->shared_bytes + o->payload_bytes;
}

/* Memory that the frame holds until it is written. */
static uint64_t out_weight(const struct msd_out *o)
{
	return sizeof(*o) + o->body.cap + o->cap_pieces * sizeof(o->pieces[0]) +
	       o->payload_bytes;
}

static void out_end(const struct msd_conn *c, struct msd_out *o, bool sent)
{
	if (o->on_done != NULL)
		o->on_done(o->ctx, sent);
	if (o->written != NULL) {
		const uint32_t n = o->n_put > 0 ? o->n_put : 1;
		const uint64_t since = o->since_ns + o->later_ns / n;
		o->written->tell(o->written, msd_wire_now_ns(c->wire) - since, n, sent);
	}
	msd_out_destroy(o);
}

/* The frame must be in the queue. */
static void out_finish(struct msd_conn *c, struct msd_out *o, bool sent)
{
	msd_list_remove(&o->link);
	if (c->limits.account != NULL)
		msd_account_release(c->limits.account, out_weight(o));
	out_end(c, o, sent);
}

bool msd_conn_drop_frame(struct msd_conn *c)
{
	struct msd_list *it = msd_list_first(&c->queue);

	if (it != NULL)
		out_finish(c, out_of(it), false);
	return it != NULL;
}

static bool reads_too_slowly(const struct msd_conn *c)
{
	return c->queued_bytes > c->limits.max_queued_bytes ||
	       (c->queued_bytes > MSD_ACCOUNT_LEAST_BYTES &&
		c->limits.account != NULL &&
		c->queued_bytes > msd_account_share(c->limits.account));
}

static void enqueue(struct msd_conn *c, struct msd_out *o)
{
	if (msd_list_is_empty(&c->queue))
		c->last_progress_ms = uv_now(c->wire->loop);
	c->queued_bytes += out_bytes(o);
	if (c->limits.account != NULL)
		msd_account_charge(c->limits.account, out_weight(o));
	msd_list_append(&c->queue, &o->link);
	/* While the transport is full, the poll handle flushes. */
	if (!c->wants_write && c->dirty_link.next == &c->dirty_link)
		msd_list_append(&c->wire->dirty, &c->dirty_link);
}

void msd_conn_write(struct msd_conn *c, struct msd_out *o)
{
	if (o->written != NULL)
		o->since_ns = msd_wire_now_ns(c->wire);
	if (c->is_closing || c->is_ending || o->body.bad) {
		if (!c->is_closing && !c->is_ending)
			msd_conn_close(c, MSD_NOMEM, "out of memory for a frame");
		out_end(c, o, false);
		return;
	}
	if (o->fd >= 0 && !c->transport.may_pass_fds)
		abort(); /* internal error: no peer can ask for a descriptor */
	if (reads_too_slowly(c)) {
		msd_conn_close(c, MSD_BUSY,
			       "reads too slowly: queued bytes over the limit");
		out_end(c, o, false);
		return;
	}
	enqueue(c, o);
}

void msd_conn_send(struct msd_conn *c, struct msd_out *o)
{
	if (!o->body.bad) {
		msd_frame_write(
			(struct msd_frame){
				.body_bytes = (uint32_t)(o->body.n + o->shared_bytes -
							 MSD_FRAME_HEADER_BYTES),
				.payload_bytes = o->payload_bytes},
			o->body.p);
	}
	msd_conn_write(c, o);
}

/* Return the last frame of the queue if it holds only short frames that report to @w
 * and has room for @bytes more. Otherwise NULL. */
static struct msd_out *last_put(struct msd_conn *c, size_t bytes,
				const struct msd_written *w)
{
	struct msd_out *o;

	if (msd_list_is_empty(&c->queue))
		return NULL;
	o = out_of(c->queue.prev);
	if (o->n_put == 0 || o->written != w || o->body.n + bytes > PUT_BYTES)
		return NULL;
	if (o->body.cap - o->body.n >= bytes)
		return o;
	const uint64_t before = out_weight(o);
	if (!msd_buf_reserve(&o->body, PUT_BYTES - o->body.n)) {
		o->body.bad = false; /* the buffer is unchanged */
		return NULL;
	}
	if (c->limits.account != NULL)
		msd_account_charge(c->limits.account, out_weight(o) - before);
	return o;
}

static struct msd_out *first_put(struct msd_conn *c, size_t bytes,
				 struct msd_written *w)
{
	struct msd_out *o = msd_out_new();

	if (o == NULL)
		return NULL;
	o->body.n = 0; /* each frame in it has its own header */
	if (!msd_buf_reserve(&o->body, bytes)) {
		msd_out_destroy(o);
		return NULL;
	}
	o->written = w;
	enqueue(c, o);
	return o;
}

/* For several frames the mean of their times is reported. */
static void note_put(struct msd_out *o, uint64_t now)
{
	if (o->n_put == 0)
		o->since_ns = now;
	o->later_ns += now - o->since_ns;
}

uint8_t *msd_conn_put(struct msd_conn *c, size_t n, struct msd_written *w)
{
	const size_t bytes = MSD_FRAME_HEADER_BYTES + n;
	struct msd_out *o;

	if (!c->limits.gathers || bytes > PUT_BYTES / 4 || c->is_closing ||
	    c->is_ending || reads_too_slowly(c))
		return NULL;
	o = last_put(c, bytes, w);
	if (o == NULL)
		o = first_put(c, bytes, w);
	if (o == NULL)
		return NULL;
	uint8_t *at = o->body.p + o->body.n;
	msd_frame_write((struct msd_frame){.body_bytes = (uint32_t)n}, at);
	if (w != NULL)
		note_put(o, msd_wire_now_ns(c->wire));
	o->n_put++;
	o->body.n += bytes;
	c->queued_bytes += bytes;
	return at + MSD_FRAME_HEADER_BYTES;
}

/* Add the iovecs of one frame from byte @skip on. False if the array is full. */
static bool gather_one(const struct msd_out *o, uint64_t skip, struct iovec *iov,
		       int *n)
{
	for (uint32_t i = 0; i <= o->n_pieces; i++) {
		struct iovec part = i == 0 ? (struct iovec){o->body.p, o->body.n}
					   : o->pieces[i - 1];
		if (skip >= part.iov_len) {
			skip -= part.iov_len;
			continue;
		}
		if (*n == PIECES_PER_WRITE)
			return false;
		iov[(*n)++] = (struct iovec){(uint8_t *)part.iov_base + skip,
					     part.iov_len - (size_t)skip};
		skip = 0;
	}
	return true;
}

/* A descriptor is sent only with its own frame. That frame is first in its write, and
 * the frames behind it wait for the next write. */
static int gather(struct msd_conn *c, struct iovec *iov, int *ret_fd)
{
	int n = 0;
	uint64_t skip = c->written;

	*ret_fd = -1;
	MSD_LIST_EACH (it, &c->queue) {
		struct msd_out *o = out_of(it);
		bool is_first = it == c->queue.next;
		if (o->fd >= 0 && !is_first)
			break;
		if (!gather_one(o, skip, iov, &n))
			break;
		skip = 0;
		if (o->fd >= 0) {
			*ret_fd = o->fd;
			break;
		}
	}
	return n;
}

/* Limit the bytes of one write. Returns the number of pieces left. */
static int cut(struct iovec *iov, int n)
{
	size_t room = BYTES_PER_WRITE;

	for (int i = 0; i < n; i++) {
		if (iov[i].iov_len >= room) {
			iov[i].iov_len = room;
			return i + 1;
		}
		room -= iov[i].iov_len;
	}
	return n;
}

bool msd_conn_may_write(const struct msd_conn *c)
{
	return c->limits.account == NULL ||
	       msd_wire_may_write(c->wire, c->limits.account);
}

static void count_written(struct msd_conn *c, uint64_t n)
{
	if (c->codec->is_counted)
		msd_wire_count_out(c->wire, n);
	if (c->limits.account != NULL)
		msd_wire_wrote(c->wire, c->limits.account, n);
	c->bytes_out += n;
}

static void wrote(struct msd_conn *c, uint64_t n)
{
	count_written(c, n);
	c->queued_bytes -= n;
	c->written += n;
	c->last_progress_ms = uv_now(c->wire->loop);
	c->refused_ns = 0;
	while (!msd_list_is_empty(&c->queue)) {
		struct msd_out *o = out_of(c->queue.next);
		if (o->fd >= 0) {
			(void)close(o->fd);
			o->fd = -1;
		}
		if (c->written < out_bytes(o))
			break;
		c->written -= out_bytes(o);
		out_finish(c, o, true);
		if (c->written == 0)
			break; /* the next frame keeps its descriptor */
	}
}

static ssize_t write_once(struct msd_conn *c)
{
	struct iovec pieces[PIECES_PER_WRITE];
	int fd;
	int n = gather(c, pieces, &fd);

	if (c->queued_bytes > BYTES_PER_WRITE + BYTES_OF_REST)
		n = cut(pieces, n);
	return c->transport.ops->writev(&c->transport, pieces, (size_t)n, fd);
}

size_t msd_conn_write_now(struct msd_conn *c, const void *p, size_t n)
{
	struct iovec piece = {(void *)(uintptr_t)p, n}; /* sendmsg does not write */

	if (c->is_closing || !msd_list_is_empty(&c->queue) || n > BYTES_PER_WRITE ||
	    !msd_conn_may_write(c))
		return 0;
	const ssize_t put = c->transport.ops->writev(&c->transport, &piece, 1, -1);
	if (put <= 0)
		return 0; /* the write of the queue tells why */
	count_written(c, (uint64_t)put);
	return (size_t)put;
}

const char *msd_conn_cause(const struct msd_conn *c, int error)
{
	const struct msd_transport *t = &c->transport;

	return error == EPROTO && t->ops->cause != NULL ? t->ops->cause(t)
							: strerror(error);
}

/* The poll handle flushes when the transport can take more. */
static void go_on_later(struct msd_conn *c)
{
	c->wants_write = true;
	msd_conn_poll_update(c);
}

/*
 * The socket is ready, so its poll handle would fire continuously; a timer retries
 * instead. Read the clock, because the loop's time may be older than a whole call.
 * False if the retries take too long.
 */
static bool go_on_after_a_while(struct msd_conn *c)
{
	const uint64_t now = msd_wire_look_ns(c->wire);

	if (c->refused_ns == 0)
		c->refused_ns = now;
	if (now - c->refused_ns > REFUSED_NS)
		return false;
	c->wants_write = false;
	msd_conn_poll_update(c);
	msd_retry_later(&c->wire->retry, &c->dirty_link);
	return true;
}

void msd_conn_flush(struct msd_conn *c)
{
	unsigned writes = c->limits.takes_turns ? c->codec->writes_per_turn : UINT_MAX;

	msd_list_remove(&c->dirty_link);
	while (!c->is_closing && !c->is_ending && !msd_list_is_empty(&c->queue)) {
		ssize_t n = writes-- > 0 ? write_once(c) : -EAGAIN;
		if (n == -EAGAIN || n == -EWOULDBLOCK) {
			go_on_later(c);
			return;
		}
		if (n == -ETOOMANYREFS && go_on_after_a_while(c))
			return;
		if (n < 0) {
			/* Read the bytes that the other side sent before it left:
			 * replies of a worker, last requests of a client. */
			msd_conn_hear_out(c, MSD_IO, msd_conn_cause(c, (int)-n));
			return;
		}
		wrote(c, (uint64_t)n);
	}
	if (c->wants_write) {
		c->wants_write = false;
		msd_conn_poll_update(c);
	}
}

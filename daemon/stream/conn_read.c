/*
 *   HEADER --16 bytes--> BODY --scanned--> on_frame            (no payload)
 *                                     \--> on_body --HERE--> PAYLOAD --> on_frame
 *                                                 \--SKIP--> SKIP ----/
 *                                                  \-LATER-> (reading stops)
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/loop/account.h"
#include "daemon/stream/conn_parts.h"
#include "proto/recognise.h"

enum { S_HEADER, S_BODY, S_PAYLOAD, S_SKIP };

#define READS_PER_TURN 16         /* then other connections are served */
#define READ_BYTES (512u * 1024u) /* maximum of one read straight into place */
#define MEASURED_BYTES 65536u     /* takes measurable time, even for a cached body */
#define KNOWN_PER_LOOK 4u         /* cached frames per clock reading */
#define KEEP_BODY_BYTES 4096u     /* a larger body buffer is freed after its frame */

static void body_release(struct msd_conn *c)
{
	if (c->body_cap > KEEP_BODY_BYTES)
		msd_conn_free_body(c);
}

/* True if a frame has been read in part. */
static bool is_in_frame(const struct msd_conn *c)
{
	return c->state != S_HEADER || c->have > 0;
}

static void begin_turn(struct msd_conn *c)
{
	c->taker.turn = c->wire->count.turns;
	c->frames_left = c->limits.takes_turns ? MSD_CONN_TURN_FRAMES : UINT32_MAX;
	c->turn_ends_ns = 0;
}

/* A cached body takes a microsecond, so several of them share one clock reading. */
static bool may_have_taken_long(const struct msd_conn *c)
{
	return c->in.known == NULL || c->n_frames % KNOWN_PER_LOOK == 0;
}

static void frame_done(struct msd_conn *c)
{
	c->state = S_HEADER;
	c->have = 0;
	msd_wire_count_frame(c->wire);
	c->n_frames++;
	c->frames_left--;
	c->ops->on_frame(c, &c->in);
	body_release(c);
	if (c->turn_ends_ns != 0 && c->frames_left > 0 && may_have_taken_long(c))
		msd_conn_spend_time(c);
}

void msd_conn_payload_place(struct msd_conn *c, enum msd_place place)
{
	c->place_bytes = c->frame.payload_bytes;
	c->waits_for_place = place == MSD_PLACE_LATER;
	if (c->waits_for_place)
		msd_conn_end_turn(c);
	c->state = place == MSD_PLACE_HERE ? S_PAYLOAD : S_SKIP;
	if (place == MSD_PLACE_SKIP)
		c->in.payload = NULL;
}

/* Get the parts of the body from the cache, or scan the body. */
static msd_err read_parts(struct msd_conn *c, struct msd_in *in, struct msd_diag *d)
{
	const struct msd_span bytes = {in->bytes, in->n_bytes};
	struct msd_memory *memory = c->limits.memory;
	const uint32_t most = c->limits.max_answer_objects;

	if (memory == NULL)
		return msd_body_read_doubted(bytes, NULL, most, &in->body, d);
	in->known = msd_memory_find(memory, bytes, in->payload_bytes);
	if (in->known == NULL)
		return msd_memory_scan(memory, bytes, &in->body, d);
	msd_memory_parts(in->known, in->bytes, &in->body);
	return MSD_OK;
}

/* Handle the complete body at @bytes: read its parts, then get the payload's place or
 * deliver the frame. */
static void body_done(struct msd_conn *c, uint8_t *bytes)
{
	struct msd_diag d = {0};
	struct msd_in *in = &c->in;

	/* Set all fields but the parts: clearing those first costs more than reading
	 * them. */
	in->known = NULL;
	in->bytes = bytes;
	in->n_bytes = c->frame.body_bytes;
	in->payload_bytes = c->frame.payload_bytes;
	in->begun_ms = c->begun_ms;
	in->payload = in->user = NULL;
	msd_err err = read_parts(c, in, &d);
	if (err != MSD_OK) {
		msd_conn_close(c, err, msd_diag_text(&d));
		msd_diag_finish(&d);
		return;
	}
	if (c->frame.payload_bytes == 0) {
		frame_done(c);
		return;
	}
	c->have = 0;
	msd_conn_payload_place(c, c->ops->on_body != NULL ? c->ops->on_body(c, &c->in)
							  : MSD_PLACE_SKIP);
}

static bool is_more_behind(const struct msd_frame *f, size_t n)
{
	return n > f->body_bytes && n - f->body_bytes > f->payload_bytes;
}

/* Handle the complete header at @head; @n_behind bytes behind it are already read. */
static void header_done(struct msd_conn *c, const uint8_t *head, size_t n_behind)
{
	struct msd_diag d = {0};
	const msd_err err = msd_frame_read(head, c->limits.max_body_bytes,
					   c->limits.max_payload_bytes, &c->frame, &d);

	if (err != MSD_OK) {
		memmove(c->head, head, sizeof(c->head)); /* for the last frame */
		msd_conn_close(c, err, msd_diag_text(&d));
		msd_diag_finish(&d);
	}
	c->state = S_BODY;
	c->have = 0;
	c->begun_ms = uv_now(c->wire->loop);
	if (c->turn_ends_ns == 0 && is_more_behind(&c->frame, n_behind))
		msd_conn_spend_time(c);
}

static size_t take_header(struct msd_conn *c, const uint8_t *p, size_t n)
{
	size_t want = MSD_FRAME_HEADER_BYTES - (size_t)c->have;

	if (c->have == 0 && n >= MSD_FRAME_HEADER_BYTES) {
		header_done(c, p, n - MSD_FRAME_HEADER_BYTES);
		return MSD_FRAME_HEADER_BYTES;
	}
	if (want > n)
		want = n;
	memcpy(c->head + c->have, p, want); /* the header arrives in pieces */
	c->have += want;
	if (c->have == MSD_FRAME_HEADER_BYTES)
		header_done(c, c->head, n - want);
	return want;
}

static bool own_body(struct msd_conn *c)
{
	const msd_err err = msd_conn_body_own(c);

	if (err == MSD_BUSY) {
		c->ops->on_short(c);
	} else if (err != MSD_OK) {
		msd_conn_close(c, err, "out of memory for a body");
	}
	return err == MSD_OK;
}

/* A body without payload that lies whole in the read buffer is used in place. With a
 * payload it must outlive the buffer and is copied. */
static size_t take_body(struct msd_conn *c, uint8_t *p, size_t n)
{
	size_t want = c->frame.body_bytes - (size_t)c->have;

	if (c->have == 0 && n >= want && c->frame.payload_bytes == 0) {
		body_done(c, p);
		return want;
	}
	if (!own_body(c))
		return 0;
	if (want > n)
		want = n;
	memcpy(c->body + c->have, p, want);
	c->have += want;
	if (c->have == c->frame.body_bytes)
		body_done(c, c->body);
	return want;
}

/* The place is full, with all of the payload or with the part that has a place. */
static void place_full(struct msd_conn *c)
{
	if (c->have == c->frame.payload_bytes) {
		frame_done(c);
	} else {
		msd_conn_payload_place(c, c->ops->on_full(c, &c->in));
	}
}

static size_t take_payload(struct msd_conn *c, const uint8_t *p, size_t n)
{
	uint64_t left = c->place_bytes - c->have;
	size_t want = left < n ? (size_t)left : n;

	if (c->state == S_PAYLOAD)
		memcpy((uint8_t *)c->in.payload + c->have, p, want);
	c->have += want;
	if (c->have == c->place_bytes)
		place_full(c);
	return want;
}

/* Serve as much as possible of the @n bytes at @p now. Returns the number of bytes
 * left. */
static size_t consume(struct msd_conn *c, uint8_t *p, size_t n)
{
	while (n > 0 && c->frames_left > 0) {
		size_t used;
		if (c->state == S_HEADER) {
			used = take_header(c, p, n);
		} else if (c->state == S_BODY) {
			used = take_body(c, p, n);
		} else {
			used = take_payload(c, p, n);
		}
		p += used;
		n -= used;
	}
	return n;
}

static void consume_spare(struct msd_conn *c)
{
	const size_t left =
		consume(c, c->spare + c->spare_at, c->n_spare - c->spare_at);

	c->spare_at = c->n_spare - left;
	if (left > 0)
		return;
	msd_conn_free_spare(c);
	msd_conn_close_unwanted_fds(c, is_in_frame(c));
}

/* The part of the current frame that can be read straight into place; otherwise
 * length 0. */
static struct iovec direct_target(const struct msd_conn *c)
{
	if (c->state == S_PAYLOAD) {
		uint64_t left = c->place_bytes - c->have;
		return (struct iovec){(uint8_t *)c->in.payload + c->have,
				      left < READ_BYTES ? (size_t)left : READ_BYTES};
	}
	if (c->state == S_BODY && c->have > 0) {
		return (struct iovec){c->body + c->have,
				      c->frame.body_bytes - (size_t)c->have};
	}
	return (struct iovec){NULL, 0};
}

static void direct_advance(struct msd_conn *c, size_t n)
{
	c->have += n;
	if (c->state == S_PAYLOAD && c->have == c->place_bytes) {
		place_full(c);
	} else if (c->state == S_BODY && c->have == c->frame.body_bytes) {
		body_done(c, c->body);
	}
}

/* Read nothing until the wire's next retry. */
static void wait_to_bring(struct msd_conn *c)
{
	if (!msd_conn_may_wait_to_bring(c)) {
		msd_conn_close(
			c, MSD_BUSY,
			"descriptors that it passed before are still being closed");
		return;
	}
	c->waits_to_bring = true;
	msd_conn_poll_update(c);
	msd_retry_later(&c->wire->bringing, &c->taker.link);
}

static void nothing_read(struct msd_conn *c, ssize_t n)
{
	if (n == -EBUSY) {
		wait_to_bring(c);
	} else if (n == 0 && msd_conn_reads_on(c)) {
		c->ops->on_last(c);
	} else if (n == 0 && c->state == S_HEADER && c->have == 0) {
		msd_conn_close(c, MSD_OK, "closed by the peer");
	} else if (n == 0) {
		msd_conn_close(c, MSD_IO, "ended inside a frame");
	} else {
		msd_conn_close(c, MSD_IO, msd_conn_cause(c, (int)-n));
	}
}

/* Read once and serve the bytes. False if no more can be read now. */
static bool read_once(struct msd_conn *c)
{
	struct iovec pieces[2];
	size_t n_pieces = 0;
	struct iovec direct = direct_target(c);
	size_t room = direct.iov_len + c->wire->rbuf_bytes;

	if (direct.iov_len >= MEASURED_BYTES && c->turn_ends_ns == 0)
		msd_conn_spend_time(c);
	if (direct.iov_len > 0)
		pieces[n_pieces++] = direct;
	pieces[n_pieces++] = (struct iovec){c->wire->rbuf, c->wire->rbuf_bytes};
	ssize_t n = c->transport.ops->read(
		&c->transport, pieces, n_pieces,
		c->limits.takes_fds || c->limits.refuses_fds ? &c->fds : NULL);
	if (n == -EAGAIN || n == -EWOULDBLOCK)
		return false;
	if (n <= 0) {
		nothing_read(c, n);
		return false;
	}
	msd_wire_count_in(c->wire, (uint64_t)n);
	c->bytes_in += (uint64_t)n;
	c->crowded_ns = 0;
	if (c->limits.refuses_fds && c->fds.n > 0) {
		msd_conn_close(c, MSD_PROTOCOL,
			       "descriptors are not accepted on this connection");
		return false;
	}
	size_t in_place = (size_t)n < direct.iov_len ? (size_t)n : direct.iov_len;
	if (in_place > 0)
		direct_advance(c, in_place);
	const size_t rest = (size_t)n - in_place;
	const size_t left = consume(c, c->wire->rbuf, rest);
	if (left > 0 && !c->is_closing &&
	    !msd_conn_keep_spare(c, c->wire->rbuf + (rest - left), left))
		msd_conn_close(c, MSD_NOMEM, "out of memory for read-ahead");
	msd_conn_close_unwanted_fds(c, is_in_frame(c));
	/* A short read means that no more is available: the next read would return
	 * EAGAIN. */
	return (size_t)n == room ||
	       (direct.iov_len > 0 && (size_t)n >= direct.iov_len) ||
	       msd_conn_has_bytes(c);
}

/* False if no more can be read now. */
static bool read_some(struct msd_conn *c)
{
	for (int i = 0; i < READS_PER_TURN; i++) {
		if (c->frames_left == 0) /* true while spare bytes are left */
			return true;
		if (!read_once(c))
			return false;
		msd_conn_spend_time(c);
	}
	return true;
}

void msd_conn_poll_now(struct msd_conn *c)
{
	bool has_more = true;

	if (msd_schedulable_is_passed_over(&c->taker, c->wire))
		return;
	if (c->waits_to_bring) {
		c->waits_to_bring = false;
		msd_conn_poll_update(c);
	}
	if (!msd_conn_is_stopped(c)) {
		const uint64_t began_ns = msd_schedulable_begins(&c->taker, c->wire);
		begin_turn(c);
		if (c->spare != NULL)
			consume_spare(c);
		has_more = read_some(c);
		msd_conn_part_ends(c, began_ns);
	}
	if (msd_conn_has_bytes(c) || c->is_ending)
		msd_conn_settle_turn(c, has_more);
}

void msd_conn_skip_payload(struct msd_conn *c)
{
	if (c->waits_for_place) {
		msd_conn_place(c, NULL);
		return;
	}
	if (c->state == S_PAYLOAD) {
		c->state = S_SKIP;
		c->place_bytes = c->frame.payload_bytes;
	}
	c->in.payload = NULL;
}

void msd_conn_narrow(struct msd_conn *c, uint64_t bytes)
{
	if (c->state == S_PAYLOAD && bytes < c->place_bytes)
		c->place_bytes = bytes;
}

bool msd_conn_is_owed(const struct msd_conn *c)
{
	return is_in_frame(c) && c->spare == NULL && !msd_conn_is_stopped(c);
}

/* Memory for a body that must outlive the read buffer, or that arrived in pieces. It
 * is kept for the next body, and charged to the connection's account. */

void msd_conn_free_body(struct msd_conn *c)
{
	if (c->limits.account != NULL)
		msd_account_release(c->limits.account, c->body_cap);
	free(c->body);
	c->body = NULL;
	c->body_cap = 0;
}

/* While the parent accounts are over their limit, a body over the connection's share
 * waits: the peer may never send the rest. */
static bool may_hold(const struct msd_conn *c, uint64_t bytes)
{
	const struct msd_account *a = c->limits.account;

	return a == NULL || bytes <= MSD_ACCOUNT_LEAST_BYTES ||
	       msd_account_kept(a) + bytes <= msd_account_share(a);
}

msd_err msd_conn_body_own(struct msd_conn *c)
{
	if (c->body != NULL && c->body_cap >= c->frame.body_bytes)
		return MSD_OK;
	if (!may_hold(c, c->frame.body_bytes))
		return MSD_BUSY;
	uint8_t *more = realloc(c->body, c->frame.body_bytes);
	if (more == NULL)
		return MSD_NOMEM;
	if (c->limits.account != NULL) {
		msd_account_charge(c->limits.account,
				   c->frame.body_bytes - c->body_cap);
	}
	c->body = more;
	c->body_cap = c->frame.body_bytes;
	return MSD_OK;
}

/*
 * The codec of frames. conn_write.c writes their headers when it queues them.
 *
 *   HEADER --16 bytes--> BODY --scanned--> on_frame            (no payload)
 *                                     \--> on_body --HERE--> PAYLOAD --> on_frame
 *                                                 \--SKIP--> SKIP ----/
 *                                                  \-LATER-> (reading stops)
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/loop/account.h"
#include "daemon/stream/codec.h"
#include "daemon/stream/conn_parts.h"
#include "proto/recognise.h"
#include "proto/tvm_rpc/hello.h"

enum { S_HEADER, S_BODY, S_PAYLOAD, S_SKIP };

#define KNOWN_PER_LOOK 4u         /* cached frames per clock reading */
#define KEEP_BODY_BYTES 4096u     /* a larger body buffer is freed after its frame */
#define READ_BYTES (512u * 1024u) /* maximum of one read straight into place */

/* Memory for a body that must outlive the read buffer, or that arrived in pieces. It
 * is kept for the next body, and charged to the connection's account. */

static void free_body(struct msd_conn *c)
{
	if (c->limits.account != NULL)
		msd_account_release(c->limits.account, c->framing.body_cap);
	free(c->framing.body);
	c->framing.body = NULL;
	c->framing.body_cap = 0;
}

/* While the parent accounts are over their limit, a body over the connection's share
 * waits: the peer may never send the rest. */
static bool may_hold(const struct msd_conn *c, uint64_t bytes)
{
	const struct msd_account *a = c->limits.account;

	return a == NULL || bytes <= MSD_ACCOUNT_LEAST_BYTES ||
	       msd_account_kept(a) + bytes <= msd_account_share(a);
}

static msd_err body_own(struct msd_conn *c)
{
	if (c->framing.body != NULL &&
	    c->framing.body_cap >= c->framing.frame.body_bytes)
		return MSD_OK;
	if (!may_hold(c, c->framing.frame.body_bytes))
		return MSD_BUSY;
	uint8_t *more = realloc(c->framing.body, c->framing.frame.body_bytes);
	if (more == NULL)
		return MSD_NOMEM;
	if (c->limits.account != NULL) {
		msd_account_charge(c->limits.account,
				   c->framing.frame.body_bytes - c->framing.body_cap);
	}
	c->framing.body = more;
	c->framing.body_cap = c->framing.frame.body_bytes;
	return MSD_OK;
}

static void body_release(struct msd_conn *c)
{
	if (c->framing.body_cap > KEEP_BODY_BYTES)
		free_body(c);
}

/* A cached body takes a microsecond, so several of them share one clock reading. */
static bool may_have_taken_long(const struct msd_conn *c)
{
	return c->framing.in.known == NULL || c->n_frames % KNOWN_PER_LOOK == 0;
}

static void frame_done(struct msd_conn *c)
{
	c->framing.state = S_HEADER;
	c->framing.have = 0;
	msd_wire_count_frame(c->wire);
	c->n_frames++;
	c->frames_left--;
	c->ops->on_frame(c, &c->framing.in);
	body_release(c);
	if (c->turn_ends_ns != 0 && c->frames_left > 0 && may_have_taken_long(c))
		msd_conn_spend_time(c);
}

static void payload_place(struct msd_conn *c, enum msd_place place)
{
	c->framing.place_bytes = c->framing.frame.payload_bytes;
	c->waits_for_place = place == MSD_PLACE_LATER;
	if (c->waits_for_place)
		msd_conn_end_turn(c);
	c->framing.state = place == MSD_PLACE_HERE ? S_PAYLOAD : S_SKIP;
	if (place == MSD_PLACE_SKIP)
		c->framing.in.payload = NULL;
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
	struct msd_in *in = &c->framing.in;

	/* Set all fields but the parts: clearing those first costs more than reading
	 * them. */
	in->known = NULL;
	in->bytes = bytes;
	in->n_bytes = c->framing.frame.body_bytes;
	in->payload_bytes = c->framing.frame.payload_bytes;
	in->begun_ms = c->framing.begun_ms;
	in->payload = in->user = NULL;
	msd_err err = read_parts(c, in, &d);
	if (err != MSD_OK) {
		msd_conn_close(c, err, msd_diag_text(&d));
		msd_diag_finish(&d);
		return;
	}
	if (c->framing.frame.payload_bytes == 0) {
		frame_done(c);
		return;
	}
	c->framing.have = 0;
	payload_place(c, c->ops->on_body != NULL ? c->ops->on_body(c, &c->framing.in)
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
	const msd_err err =
		msd_frame_read(head, c->limits.max_body_bytes,
			       c->limits.max_payload_bytes, &c->framing.frame, &d);

	if (err != MSD_OK) {
		memmove(c->framing.head, head,
			sizeof(c->framing.head)); /* for the last frame */
		msd_conn_close(c, err, msd_diag_text(&d));
		msd_diag_finish(&d);
	}
	c->framing.state = S_BODY;
	c->framing.have = 0;
	c->framing.begun_ms = uv_now(c->wire->loop);
	if (c->turn_ends_ns == 0 && is_more_behind(&c->framing.frame, n_behind))
		msd_conn_spend_time(c);
}

static size_t take_header(struct msd_conn *c, const uint8_t *p, size_t n)
{
	size_t want = MSD_FRAME_HEADER_BYTES - (size_t)c->framing.have;

	if (c->framing.have == 0 && n >= MSD_FRAME_HEADER_BYTES) {
		header_done(c, p, n - MSD_FRAME_HEADER_BYTES);
		return MSD_FRAME_HEADER_BYTES;
	}
	if (want > n)
		want = n;
	memcpy(c->framing.head + c->framing.have, p,
	       want); /* the header arrives in pieces */
	c->framing.have += want;
	/* A whole hello of TVM's RPC may be shorter than a header. */
	const bool is_foreign = c->framing.have >= MSD_RPC_LEAST_HELLO_BYTES &&
				msd_le32(c->framing.head) == MSD_RPC_MAGIC;
	if (c->framing.have == MSD_FRAME_HEADER_BYTES || is_foreign)
		header_done(c, c->framing.head, n - want);
	return want;
}

static bool own_body(struct msd_conn *c)
{
	const msd_err err = body_own(c);

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
	size_t want = c->framing.frame.body_bytes - (size_t)c->framing.have;

	if (c->framing.have == 0 && n >= want && c->framing.frame.payload_bytes == 0) {
		body_done(c, p);
		return want;
	}
	if (!own_body(c))
		return 0;
	if (want > n)
		want = n;
	memcpy(c->framing.body + c->framing.have, p, want);
	c->framing.have += want;
	if (c->framing.have == c->framing.frame.body_bytes)
		body_done(c, c->framing.body);
	return want;
}

/* The place is full, with all of the payload or with the part that has a place. */
static void place_full(struct msd_conn *c)
{
	if (c->framing.have == c->framing.frame.payload_bytes) {
		frame_done(c);
	} else {
		payload_place(c, c->ops->on_full(c, &c->framing.in));
	}
}

static size_t take_payload(struct msd_conn *c, const uint8_t *p, size_t n)
{
	uint64_t left = c->framing.place_bytes - c->framing.have;
	size_t want = left < n ? (size_t)left : n;

	if (c->framing.state == S_PAYLOAD)
		memcpy((uint8_t *)c->framing.in.payload + c->framing.have, p, want);
	c->framing.have += want;
	if (c->framing.have == c->framing.place_bytes)
		place_full(c);
	return want;
}

/* Serve as much as possible of the @n bytes at @p now. Returns the number of bytes
 * left. */
static size_t take(struct msd_conn *c, uint8_t *p, size_t n)
{
	while (n > 0 && c->frames_left > 0) {
		size_t used;
		if (c->framing.state == S_HEADER) {
			used = take_header(c, p, n);
		} else if (c->framing.state == S_BODY) {
			used = take_body(c, p, n);
		} else {
			used = take_payload(c, p, n);
		}
		p += used;
		n -= used;
	}
	return n;
}

/* The rest of a payload, or of a body, is read straight into place. */
static size_t want(struct msd_conn *c, struct iovec *pieces, size_t *buffer_bytes)
{
	(void)buffer_bytes;
	if (c->framing.state == S_PAYLOAD) {
		const uint64_t left = c->framing.place_bytes - c->framing.have;
		pieces[0] = (struct iovec){
			(uint8_t *)c->framing.in.payload + c->framing.have,
			left < READ_BYTES ? (size_t)left : READ_BYTES};
		return 1;
	}
	if (c->framing.state == S_BODY && c->framing.have > 0) {
		pieces[0] = (struct iovec){c->framing.body + c->framing.have,
					   c->framing.frame.body_bytes -
						   (size_t)c->framing.have};
		return 1;
	}
	return 0;
}

static void arrived(struct msd_conn *c, size_t n)
{
	c->framing.have += n;
	if (c->framing.state == S_PAYLOAD &&
	    c->framing.have == c->framing.place_bytes) {
		place_full(c);
	} else if (c->framing.state == S_BODY &&
		   c->framing.have == c->framing.frame.body_bytes) {
		body_done(c, c->framing.body);
	}
}

static bool is_within(const struct msd_conn *c)
{
	return c->framing.state != S_HEADER || c->framing.have > 0;
}

static void ended(struct msd_conn *c)
{
	if (msd_conn_reads_on(c)) {
		c->ops->on_last(c);
	} else if (is_within(c)) {
		msd_conn_close(c, MSD_IO, "ended inside a frame");
	} else {
		msd_conn_close(c, MSD_OK, "closed by the peer");
	}
}

const struct msd_codec msd_frame_codec = {.want = want,
					  .arrived = arrived,
					  .take = take,
					  .is_within = is_within,
					  .ended = ended,
					  .finish = free_body,
					  .reads_per_turn = 16,
					  .writes_per_turn = 4,
					  .is_counted = true};

void msd_conn_place(struct msd_conn *c, void *payload)
{
	if (!c->waits_for_place || c->is_closing)
		return;
	c->framing.in.payload = payload;
	payload_place(c, payload != NULL ? MSD_PLACE_HERE : MSD_PLACE_SKIP);
	msd_conn_resume(c);
}

void msd_conn_skip_payload(struct msd_conn *c)
{
	if (c->waits_for_place) {
		msd_conn_place(c, NULL);
		return;
	}
	if (c->framing.state == S_PAYLOAD) {
		c->framing.state = S_SKIP;
		c->framing.place_bytes = c->framing.frame.payload_bytes;
	}
	c->framing.in.payload = NULL;
}

void msd_conn_narrow(struct msd_conn *c, uint64_t bytes)
{
	if (c->framing.state == S_PAYLOAD && bytes < c->framing.place_bytes)
		c->framing.place_bytes = bytes;
}

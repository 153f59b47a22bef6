/*
 * The reading half of a connection: bytes are read into the memory that the codec
 * names, and those behind them into the loop's buffer, from which the codec takes
 * them. Bytes that it leaves are kept for the next turn.
 */
#include <errno.h>
#include <stdint.h>

#include "daemon/stream/codec.h"
#include "daemon/stream/conn_parts.h"

#define MEASURED_BYTES 65536u /* takes measurable time, even for a cached body */

static void begin_turn(struct msd_conn *c)
{
	c->taker.turn = c->wire->count.turns;
	c->frames_left = c->limits.takes_turns ? MSD_CONN_TURN_FRAMES : UINT32_MAX;
	c->turn_ends_ns = 0;
}

static void close_unwanted_fds(struct msd_conn *c)
{
	if (c->fds.n > 0)
		msd_conn_close_unwanted_fds(c, c->codec->is_within(c));
}

static void consume_spare(struct msd_conn *c)
{
	const size_t left =
		c->codec->take(c, c->spare + c->spare_at, c->n_spare - c->spare_at);

	c->spare_at = c->n_spare - left;
	if (left > 0)
		return;
	msd_conn_free_spare(c);
	close_unwanted_fds(c);
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
	} else if (n == 0) {
		c->codec->ended(c);
	} else {
		msd_conn_close(c, MSD_IO, msd_conn_cause(c, (int)-n));
	}
}

/* The bytes of @n pieces. */
static size_t sum(const struct iovec *pieces, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += pieces[i].iov_len;
	return bytes;
}

/* @n bytes were read, those that fit into place first. */
static void serve(struct msd_conn *c, size_t n, size_t in_place)
{
	if (in_place > 0)
		c->codec->arrived(c, in_place);
	const size_t rest = n - in_place;
	const size_t left = rest > 0 ? c->codec->take(c, c->wire->rbuf, rest) : 0;
	if (left > 0 && !c->is_closing &&
	    !msd_conn_keep_spare(c, c->wire->rbuf + (rest - left), left))
		msd_conn_close(c, MSD_NOMEM, "out of memory for read-ahead");
	close_unwanted_fds(c);
}

/* Read once and serve the bytes. False if no more can be read now. */
static bool read_once(struct msd_conn *c)
{
	struct iovec pieces[MSD_CODEC_PIECES + 1];
	size_t buffer = c->wire->rbuf_bytes;
	size_t n_pieces = c->codec->want(c, pieces, &buffer);
	const size_t direct = sum(pieces, n_pieces);

	if (direct + buffer == 0)
		return false;
	if (direct >= MEASURED_BYTES && c->turn_ends_ns == 0)
		msd_conn_spend_time(c);
	if (buffer > 0)
		pieces[n_pieces++] = (struct iovec){c->wire->rbuf, buffer};
	ssize_t n = c->transport.ops->read(
		&c->transport, pieces, n_pieces,
		c->limits.takes_fds || c->limits.refuses_fds ? &c->fds : NULL);
	if (n == -EAGAIN || n == -EWOULDBLOCK)
		return false;
	if (n <= 0) {
		nothing_read(c, n);
		return false;
	}
	if (c->codec->is_counted)
		msd_wire_count_in(c->wire, (uint64_t)n);
	c->bytes_in += (uint64_t)n;
	c->crowded_ns = 0;
	if (c->limits.refuses_fds && c->fds.n > 0) {
		msd_conn_close(c, MSD_PROTOCOL,
			       "descriptors are not accepted on this connection");
		return false;
	}
	serve(c, (size_t)n, (size_t)n < direct ? (size_t)n : direct);
	/* A short read means that no more is available: the next read would return
	 * EAGAIN. */
	return (size_t)n == direct + buffer || (direct > 0 && (size_t)n >= direct) ||
	       msd_conn_has_bytes(c);
}

/* False if no more can be read now. */
static bool read_some(struct msd_conn *c)
{
	unsigned reads = c->codec->reads_per_turn;

	while (c->frames_left > 0) { /* no spare bytes are left */
		if (!read_once(c))
			return false;
		if (--reads == 0)
			break;
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

bool msd_conn_is_owed(const struct msd_conn *c)
{
	return c->codec->is_within(c) && c->spare == NULL && !msd_conn_is_stopped(c);
}

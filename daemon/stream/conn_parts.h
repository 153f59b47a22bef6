#ifndef MSD_WIRE_CONN_PARTS_H
#define MSD_WIRE_CONN_PARTS_H
/* Private to conn.c (life cycle), conn_read.c and conn_write.c (the two halves),
 * wire.c, which schedules them, and frames.c, the codec of frames. */
#include "daemon/stream/conn.h"

/**
 * Serve nothing more in this loop iteration. Every stop of a connection ends its
 * share.
 */
static inline void msd_conn_end_turn(struct msd_conn *c)
{
	c->frames_left = 0;
}
/**
 * End the share, with bytes left or while the connection is ending. @has_more is
 * false if all available bytes were read.
 */
void msd_conn_settle_turn(struct msd_conn *c, bool has_more);
/** Schedule the connection behind all others that wait. */
static inline void msd_conn_wait_for_turn(struct msd_conn *c)
{
	if (msd_list_is_empty(&c->taker.link))
		msd_list_append(&c->wire->waiting, &c->taker.link);
}
/** True if bytes have been read but not served, here or in the transport. */
static inline bool msd_conn_has_bytes(const struct msd_conn *c)
{
	return c->spare != NULL || (c->transport.ops->holds != NULL && !c->is_closing &&
				    c->transport.ops->holds(&c->transport));
}
/**
 * End the share of a loop iteration that began with msd_schedulable_begins(). The time
 * is subtracted from the share of the same peer.
 */
void msd_conn_part_ends(struct msd_conn *c, uint64_t began_ns);
/** Describe the error of the transport, which returned -@error. */
const char *msd_conn_cause(const struct msd_conn *c, int error);
/** Make the poll handle wait for the events that the state needs. */
void msd_conn_poll_update(struct msd_conn *c);
/** True if the peer has ended its sending side but still reads. */
bool msd_conn_reads_on(struct msd_conn *c);
/**
 * True if nothing may be read: the connection is closing or paused, or a payload has
 * no place yet.
 */
bool msd_conn_is_stopped(const struct msd_conn *c);
/**
 * Reading may go on: serve bytes that were read before the stop, in a later iteration;
 * never re-entrant.
 */
void msd_conn_resume(struct msd_conn *c);
/**
 * Keep a copy of the @n bytes at @p, which were read and cannot be served now. No
 * copy exists yet. False if memory is short.
 */
MSD_MUST_CHECK bool msd_conn_keep_spare(struct msd_conn *c, const uint8_t *p, size_t n);
/** Free bytes that were read ahead; they are not served any more. */
void msd_conn_free_spare(struct msd_conn *c);
/** Close received descriptors that were not taken. */
void msd_conn_close_fds(struct msd_conn *c);
/**
 * Close received descriptors that are not expected. Between two frames a descriptor
 * that was not taken is unwanted. Inside a frame (@is_in_frame) a client can keep
 * them for any time, so only memory may stay, and none of the last descriptors.
 */
void msd_conn_close_unwanted_fds(struct msd_conn *c, bool is_in_frame);
/**
 * The next bytes carry descriptors, and too many of the peer's descriptors wait to be
 * closed. Returns false if the connection has waited too long.
 */
bool msd_conn_may_wait_to_bring(struct msd_conn *c);
/** Drop one unwritten frame with on_done(false). False if the queue is empty. */
bool msd_conn_drop_frame(struct msd_conn *c);

#endif

#ifndef MSD_WIRE_CONN_PARTS_H
#define MSD_WIRE_CONN_PARTS_H
/* Private to conn.c (life), conn_read.c with conn_body.c and conn_spare.c and
 * conn_write.c (the two halves), and wire.c, which gives them their turns. */
#include "daemon/wire/conn.h"

/** Nothing more is served in this turn; so whatever stops a connection ends its turn.
 */
static inline void msd_conn_end_turn(struct msd_conn *c)
{
	c->frames_left = 0;
}
/** Time has passed in this turn. Not for the first frame alone: a single call does not
 * pay for the clock. */
void msd_conn_spend_time(struct msd_conn *c);
/** Its turn is over, with bytes left, or in its last turns; false, @has_more: it has
 * read all that there is. */
void msd_conn_settle_turn(struct msd_conn *c, bool has_more);
/** Have a turn as soon as all others had theirs. */
static inline void msd_conn_wait_for_turn(struct msd_conn *c)
{
	if (msd_list_is_empty(&c->taker.link))
		msd_list_append(&c->wire->waiting, &c->taker.link);
}
/** Bytes have been read that were not served: here, or by the transport. */
static inline bool msd_conn_has_bytes(const struct msd_conn *c)
{
	return c->spare != NULL || (c->transport.ops->holds != NULL && !c->is_closing &&
				    c->transport.ops->holds(&c->transport));
}
/** Its part of a turn of the loop is over, which began with msd_taker_begins():
 * those with whom it shares have so much less of it. */
void msd_conn_part_ends(struct msd_conn *c, uint64_t began_ns);
/** What is wrong with the transport, which has returned -@error. */
const char *msd_conn_cause(const struct msd_conn *c, int error);
/** Make the poll handle wait for what the state asks for. */
void msd_conn_poll_update(struct msd_conn *c);
/** The peer writes no more, and is there. */
bool msd_conn_reads_on(struct msd_conn *c);
/** Nothing may be read: closing, paused, or a payload has no place yet. */
bool msd_conn_is_stopped(const struct msd_conn *c);
/** Where the payload of the body that was just read goes. */
void msd_conn_payload_place(struct msd_conn *c, enum msd_place place);
/** Room for the current body in memory of our own. MSD_BUSY: it has to wait for its
 * share of the account; MSD_NOMEM. */
msd_err msd_conn_body_own(struct msd_conn *c);
/** Free the memory of bodies; none is being read any more. */
void msd_conn_free_body(struct msd_conn *c);
/** Keep a copy of the @n bytes at @p, which were read and cannot be served now; none is
 * kept yet. False: no memory. */
MSD_MUST_CHECK bool msd_conn_keep_spare(struct msd_conn *c, const uint8_t *p, size_t n);
/** Free bytes that were read ahead; nothing of them is served any more. */
void msd_conn_free_spare(struct msd_conn *c);
/** Close received descriptors that nobody took. */
void msd_conn_close_fds(struct msd_conn *c);
/** The same where none is expected. Between two frames nothing is owed: nobody took it.
 * What waits for the rest of a frame, @is_in_frame, is there for as long as a client
 * likes: none of the last, and memory alone. */
void msd_conn_close_unwanted_fds(struct msd_conn *c, bool is_in_frame);
/** What comes next brings descriptors, and too many of its peer's wait to be closed.
 * Not for the first time, maybe: false when it has waited for long. */
bool msd_conn_may_wait_to_bring(struct msd_conn *c);
/** Forget one unwritten frame, on_done(false). False: there is none. */
bool msd_conn_drop_frame(struct msd_conn *c);

#endif

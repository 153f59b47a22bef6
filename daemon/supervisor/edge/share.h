#ifndef MSD_SUPERVISOR_SHARE_H
#define MSD_SUPERVISOR_SHARE_H
/*
 * A connection's share of the tensor memory of all requests: while others wait for
 * room, a connection that has some takes no more than its part of it.
 *
 * A payload has its memory before it comes. While others wait, one that comes so slowly
 * that it would take longer than limits.read_stall_ms is looked at: after
 * MSD_SHARE_PATIENCE_MS it is reduced to its share, or to what has come and a little
 * more, and reading goes on into that. When that is full it waits behind the others for
 * the rest. One that cannot be reduced holds more than its share with what has come:
 * when it falls silent it is refused, for nothing else gives that back.
 */
#include "daemon/supervisor/edge/session.h"

#define MSD_SHARE_PATIENCE_MS 250u

/** Once for each edge. */
void msd_share_init(struct msd_edge *e);
/** What @s is receiving waits for room, behind all others that do. */
void msd_share_wait(struct msd_session *s);
/** How many of @e's connections wait for room. */
uint64_t msd_share_count_waiting(const struct msd_edge *e);
/** What @s is receiving holds more of the memory than its share of what others, so
 * many, wait for, too. */
bool msd_share_is_pressed(const struct msd_session *s, uint64_t n_waiting);
/** msd_call_place(), or msd_call_restore() of what was reduced, when that is no more
 * than the share of @s. MSD_WAIT: try again when room was given back. */
MSD_MUST_CHECK msd_err msd_share_place(struct msd_session *s, struct msd_req *r,
				       uint64_t payload_bytes, struct msd_diag *d);
/** There is room: place the bodies that wait for tensor memory. In order, each once:
 * the first that does not fit keeps its place in front. True: it took long, and some
 * were not tried, which are to be in the next turn of the loop. */
bool msd_share_retry(struct msd_edge *e);

#endif

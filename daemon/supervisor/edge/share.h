#ifndef MSD_SUPERVISOR_SHARE_H
#define MSD_SUPERVISOR_SHARE_H
/*
 * A connection's share of the tensor memory of all requests: while others wait for
 * room, who has some already takes no more than its part of it.
 */
#include "daemon/supervisor/edge/session.h"

/** How many of @e's connections wait for room. */
uint64_t msd_share_count_waiting(const struct msd_edge *e);
/** What @s is receiving holds more of the memory than its share of what others, so
 * many, wait for, too. */
bool msd_share_is_pressed(const struct msd_session *s, uint64_t n_waiting);
/** msd_call_place() when that is no more than the share of @s. MSD_WAIT: try again when
 * room was given back. */
MSD_MUST_CHECK msd_err msd_share_place(struct msd_session *s, struct msd_req *r,
				       uint64_t payload_bytes, struct msd_diag *d);
/** There is room: place the bodies that wait for tensor memory. In order, each once:
 * the first that does not fit keeps its place in front. True: it took long, and some
 * were not tried, which are to be in the next turn of the loop. */
bool msd_share_retry(struct msd_edge *e);

#endif

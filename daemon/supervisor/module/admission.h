#ifndef MSD_SUPERVISOR_ADMISSION_H
#define MSD_SUPERVISOR_ADMISSION_H
/*
 * Whether a call with a deadline has a chance to be done by then. What is ahead of it
 * in the workers and, lanes taking turns, in the queue is judged by how long the same
 * functions took lately, each call by its own peer's. Without this every call of an
 * overloaded module is begun just before its deadline, and done just after it.
 *
 * Up to the deadline all that are admitted wait long; the operator may say how long is
 * enough (limits.max_wait_ms), and fewer wait for less, while as many are answered.
 *
 * Doubt admits: what was never seen takes no time, and with nothing ahead every call is
 * tried.
 */
#include "daemon/supervisor/module/crew.h"

/* What a call would have ahead of it, and what it takes itself. */
struct msd_backlog {
	uint64_t ahead_us, own_us;
};

/** By how much a call with @left_us to its deadline would be late. It is done in time
 * when twice its own time would be left: that is an average. 0: it may be. */
static inline uint64_t msd_backlog_late_us(struct msd_backlog b, uint64_t left_us)
{
	const uint64_t all_us = b.ahead_us + 2 * b.own_us;

	return b.ahead_us > 0 && all_us > left_us ? all_us - left_us : 0;
}

/** What @r, which is in no lane yet, would have ahead of it at @now_ms of the loop's
 * time. */
struct msd_backlog msd_backlog_of(const struct msd_crew *crew, const struct msd_req *r,
				  uint64_t now_ms);

/** Answer @r, a call with a deadline that was set, with BUSY and free it, when it would
 * be late, or wait too long. True: that was done. */
bool msd_admission_refuse(const struct msd_crew *crew, struct msd_req *r);

#endif

#ifndef MSD_SUPERVISOR_ADMISSION_H
#define MSD_SUPERVISOR_ADMISSION_H
/*
 * Decide whether a call can finish by its deadline. The estimate adds up the requests
 * ahead of it in the workers and, as client queues take turns, in the queue. It uses
 * the recent run times of the same functions, for each call those of its own peer.
 * Without this check, an overloaded module starts every call just before its deadline
 * and finishes just after it.
 *
 * All admitted calls may wait until their deadline. The operator can set a shorter
 * limit (limits.max_wait_ms): fewer calls wait, for less time, and as many are
 * answered.
 *
 * When in doubt, admit: a function that was never seen counts as taking no time. A
 * call with nothing ahead is always tried.
 */
#include "daemon/supervisor/module/workers/worker_group.h"

/* The work ahead of a call, and the call's own time. */
struct msd_backlog {
	uint64_t ahead_us, own_us;
};

/**
 * By how much a call with @left_us to its deadline would be late; 0: it may be in
 * time. Require twice its own time, because that time is an average.
 */
static inline uint64_t msd_backlog_late_us(struct msd_backlog b, uint64_t left_us)
{
	const uint64_t all_us = b.ahead_us + 2 * b.own_us;

	return b.ahead_us > 0 && all_us > left_us ? all_us - left_us : 0;
}

/**
 * Return the work that @r, which is in no client queue yet, would have ahead of it at
 * @now_ms, in loop time.
 */
struct msd_backlog msd_backlog_of(const struct msd_worker_group *group,
				  const struct msd_req *r, uint64_t now_ms);

/**
 * If @r, a call with a set deadline, would be late or wait too long, answer it with
 * MSD_BUSY and free it. True: @r was refused.
 */
bool msd_admission_refuse(const struct msd_worker_group *group, struct msd_req *r);

#endif

#ifndef MSD_PROTO_CLOCK_H
#define MSD_PROTO_CLOCK_H
/* The monotonic clock, which is never set. */
#include <limits.h>
#include <stdint.h>
#include <time.h>

#define MSD_NS_PER_US 1000u
#define MSD_NS_PER_MS 1000000u

/** Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t msd_now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/** Milliseconds of CLOCK_MONOTONIC. */
static inline uint64_t msd_now_ms(void)
{
	return msd_now_ns() / MSD_NS_PER_MS;
}

/**
 * Milliseconds until @deadline_ns, for poll(). It waits for 24 days at most, so a
 * longer wait wakes up early. -1 for UINT64_MAX: no limit.
 */
static inline int msd_poll_ms(uint64_t deadline_ns)
{
	const uint64_t now = msd_now_ns();

	if (deadline_ns == UINT64_MAX)
		return -1;
	if (deadline_ns <= now)
		return 0;
	const uint64_t ms = (deadline_ns - now) / MSD_NS_PER_MS;
	return ms < INT_MAX ? (int)ms + 1 : INT_MAX;
}

#endif

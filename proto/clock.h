#ifndef MSD_PROTO_CLOCK_H
#define MSD_PROTO_CLOCK_H
/* The clock that nobody sets. */
#include <stdint.h>
#include <time.h>

#define MSD_NS_PER_MS 1000000u

/** Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t msd_now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/** Its milliseconds. */
static inline uint64_t msd_now_ms(void)
{
	return msd_now_ns() / MSD_NS_PER_MS;
}

#endif

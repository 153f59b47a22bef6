#ifndef MSD_STORE_TRUSTED_CLOCK_H
#define MSD_STORE_TRUSTED_CLOCK_H
/*
 * Trusted clock: a lower bound of the real time, for machines without a reliable
 * clock; seconds since the epoch. A clock earlier than this program's build has not
 * been set. The creation time of the newest manifest is trusted only within bounds:
 * otherwise a manifest dated years ahead would make all others expire permanently.
 */
#include <stdint.h>

/**
 * The latest of the system clock, this build, and @newest_s, the creation time of the
 * newest manifest. @newest_s is ignored if it is over a year ahead of a clock that
 * was set.
 */
uint64_t msd_trusted_clock(uint64_t system_s, uint64_t newest_s);
/**
 * The new value of newest_s after a manifest of @created_s was accepted: at most a
 * day ahead of a clock that was set, otherwise at most ten years after this build.
 */
uint64_t msd_trusted_clock_push(uint64_t system_s, uint64_t newest_s,
				uint64_t created_s);

#endif

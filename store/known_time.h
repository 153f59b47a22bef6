#ifndef MSD_STORE_KNOWN_TIME_H
#define MSD_STORE_KNOWN_TIME_H
/*
 * What time it is at least, for who has no clock that could be trusted: seconds since
 * the epoch. A clock that is behind the build of this program has not been set. When
 * the newest manifest was made is believed within bounds alone: one that a signer's
 * wrong clock has dated years ahead would have all others expire for good.
 */
#include <stdint.h>

/** The latest of the system's clock, this build, and @newest_s, when the newest
 * manifest was made; the last not where a clock that was set is over a year behind it.
 */
uint64_t msd_known_time(uint64_t system_s, uint64_t newest_s);
/** When the newest manifest was made, now that one of @created_s has been taken: at
 * most a day ahead of a clock that was set, at most ten years of this build. */
uint64_t msd_known_time_push(uint64_t system_s, uint64_t newest_s, uint64_t created_s);

#endif

#ifndef MSD_CLI_LATENCY_BASELINE_H
#define MSD_CLI_LATENCY_BASELINE_H
/* Measures the lowest cost of a round trip between two processes of this machine. */
#include <stdbool.h>
#include <stdint.h>

#define MSD_FLOOR_TRIPS 101u /* of a round */

/**
 * The median of a round of 64-byte trips to a child process, over a socket pair or
 * over TCP's loopback; 0: the measurement failed.
 */
int64_t msd_floor_round(bool by_tcp);
/** The median of @ns, which must be sorted. */
int64_t msd_floor_median(uint64_t ns[MSD_FLOOR_TRIPS]);

#endif

#ifndef MSD_CLI_FLOOR_H
#define MSD_CLI_FLOOR_H
/* What a question and its answer cost at least between two processes of this machine.
 */
#include <stdbool.h>
#include <stdint.h>

#define MSD_FLOOR_TRIPS 101u /* of a round */

/** The median of a round of trips of 64 bytes to a process that is started for it, over
 * a pair of sockets, or over TCP's loopback; 0: it could not be measured. */
int64_t msd_floor_round(bool by_tcp);
/** The median of @ns, which is sorted. */
int64_t msd_floor_median(uint64_t ns[MSD_FLOOR_TRIPS]);

#endif

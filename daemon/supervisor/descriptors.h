#ifndef MSD_SUPERVISOR_DESCRIPTORS_H
#define MSD_SUPERVISOR_DESCRIPTORS_H
/* How many descriptors the supervisor may have, compared with what its limits want. */
#include <stdint.h>

struct msd_limits;

#define MSD_DESCRIPTORS_TEXT_BYTES 320u

/** Raise the soft limit as far as @limits want and the hard one allows; what is missing
 * then is said in the log. Returns from which number on they are the last, which are
 * the daemon's own and its user's: 0 when that is not known. */
int msd_descriptors_raise(const struct msd_limits *limits);
/** How many of @have are the last: a frame may bring 253, and all have to find room. */
uint64_t msd_descriptors_last(uint64_t have);
/** What @have descriptors are too few for, or NULL. */
const char *msd_descriptors_judge(const struct msd_limits *limits, uint64_t have,
				  char ret[MSD_DESCRIPTORS_TEXT_BYTES]);

#endif

#ifndef MSD_SUPERVISOR_DESCRIPTORS_H
#define MSD_SUPERVISOR_DESCRIPTORS_H
/* Compare the descriptor limit of the supervisor with the needs of its own limits. */
#include <stdint.h>

struct msd_limits;

#define MSD_DESCRIPTORS_TEXT_BYTES 320u

/**
 * Raise the soft limit to the needs of @limits, at most to the hard limit; log a
 * shortage. Returns the first number of the last descriptors, which are reserved for
 * the daemon and its user. Returns 0 if it is not known.
 */
int msd_descriptors_raise(const struct msd_limits *limits);
/**
 * Number of reserved descriptors at the end of @have. A frame may contain 253
 * descriptors, and all must fit.
 */
uint64_t msd_descriptors_last(uint64_t have);
/**
 * The limits for which @have descriptors are too few, as text; NULL if @have is
 * enough.
 */
const char *msd_descriptors_judge(const struct msd_limits *limits, uint64_t have,
				  char ret[MSD_DESCRIPTORS_TEXT_BYTES]);

#endif

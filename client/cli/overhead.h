#ifndef MSD_CLI_OVERHEAD_H
#define MSD_CLI_OVERHEAD_H
/* What the daemon adds to the calls of each module, by its metrics: the mean time in
 * all stages, against that in the function. */
#include <stddef.h>

#include "proto/limits.h"

#define MSD_OVERHEAD_MODULES 256u

struct msd_overhead {
	char module[MSD_MAX_NAME_BYTES + 1];
	double all_s, run_s; /* sums; @all_s without the run */
	double calls;
};

/** Those of the modules in @metrics that were called, MSD_OVERHEAD_MODULES at most, to
 * @ret; returns how many. */
size_t msd_overhead_read(const char *metrics, struct msd_overhead *ret);

#endif

#ifndef MSD_CLI_OVERHEAD_H
#define MSD_CLI_OVERHEAD_H
/* What the daemon adds to the calls of each module, by its metrics: the mean time in
 * all stages but the function itself, and the queue, where calls wait for others. */
#include <stdbool.h>
#include <stddef.h>

#include "proto/limits.h"

#define MSD_OVERHEAD_MODULES 256u

struct msd_overhead {
	char module[MSD_MAX_NAME_BYTES + 1];
	double run_s, wait_s, added_s; /* sums */
	double calls;
	bool is_recent; /* of the time between two looks alone */
};

/** Those of the modules in @metrics that were called, MSD_OVERHEAD_MODULES at most, to
 * @ret; returns how many. */
size_t msd_overhead_read(const char *metrics, struct msd_overhead *ret);

/** Those of @after, @n of them, become what has happened since @before where there were
 * calls since. */
void msd_overhead_since(struct msd_overhead *after, size_t n,
			const struct msd_overhead *before, size_t n_before);

#endif

#ifndef MSD_CLI_OVERHEAD_H
#define MSD_CLI_OVERHEAD_H
/*
 * Computes from the metrics how much time the daemon adds to each module's calls: the
 * mean of all stages except the function itself, and the queue, where a call waits
 * for other calls.
 */
#include <stdbool.h>
#include <stddef.h>

#include "proto/limits.h"

#define MSD_OVERHEAD_MODULES 256u

struct msd_overhead {
	char module[MSD_MAX_NAME_BYTES + 1];
	double run_s, wait_s, added_s; /* sums */
	double calls;
	bool is_recent; /* only of the time between two snapshots */
};

/**
 * Read the called modules in @metrics, at most MSD_OVERHEAD_MODULES, into @ret;
 * returns their number.
 */
size_t msd_overhead_read(const char *metrics, struct msd_overhead *ret);

/** Subtract @before from the @n entries of @after, for modules with calls in between.
 */
void msd_overhead_since(struct msd_overhead *after, size_t n,
			const struct msd_overhead *before, size_t n_before);

#endif

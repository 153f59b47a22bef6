#ifndef MSD_CLI_PROCESS_SCAN_H
#define MSD_CLI_PROCESS_SCAN_H
/* Finds other processes that use the processors of the daemon's machine. */
#include <stddef.h>
#include <stdint.h>

#define MSD_PROCESS_SCAN 4096u /* most processes in a snapshot */

struct msd_neighbour {
	int64_t pid, parent;
	uint64_t ticks; /* of processor time */
	char name[32];
};

/* All visible processes, sorted by pid. */
struct msd_process_scan {
	struct msd_neighbour *all; /* owned */
	size_t n;
};

/** Take a snapshot below @root; incomplete if memory runs out. */
void msd_process_scan_look(const char *root, struct msd_process_scan *ret);
void msd_process_scan_finish(struct msd_process_scan *n);
/** Ticks of process @pid and its descendants between two snapshots. */
uint64_t msd_process_scan_own(const struct msd_process_scan *before,
			      const struct msd_process_scan *after, int64_t pid);
/**
 * Set @ret to the process with the most ticks in between, except the @own processes
 * and their descendants; 0 ticks: none.
 */
void msd_process_scan_busiest(const struct msd_process_scan *before,
			      const struct msd_process_scan *after, const int64_t *own,
			      size_t n_own, struct msd_neighbour *ret);

#endif

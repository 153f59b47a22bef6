#ifndef MSD_CLI_NEIGHBOURS_H
#define MSD_CLI_NEIGHBOURS_H
/* Who computes on this machine beside a daemon. */
#include <stddef.h>
#include <stdint.h>

#define MSD_NEIGHBOURS 4096u /* processes that are looked at */

struct msd_neighbour {
	int64_t pid, parent;
	uint64_t ticks; /* that it has computed */
	char name[32];
};

/* All processes that are seen here, by their numbers. */
struct msd_neighbours {
	struct msd_neighbour *all; /* owned */
	size_t n;
};

/** Look at those below @root; fewer where memory is short. */
void msd_neighbours_look(const char *root, struct msd_neighbours *ret);
void msd_neighbours_finish(struct msd_neighbours *n);
/** Ticks between two looks of the process @pid and all that it has started. */
uint64_t msd_neighbours_own(const struct msd_neighbours *before,
			    const struct msd_neighbours *after, int64_t pid);
/** The one of all others that computed most in between, to @ret with these ticks; 0 of
 * them: nobody did. */
void msd_neighbours_busiest(const struct msd_neighbours *before,
			    const struct msd_neighbours *after, const int64_t *own,
			    size_t n_own, struct msd_neighbour *ret);

#endif

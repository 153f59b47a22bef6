#ifndef MSD_CHILD_START_H
#define MSD_CHILD_START_H
/* Private to daemon/child: one start of a process, with copies of everything that it
 * needs, because it may wait. */
#include "daemon/child/starter.h"
#include "daemon/child/user.h"

struct msd_start {
	struct msd_spawn_thread birth; /* its words and descriptors are owned */
	struct msd_start *next;
	msd_start_fn on_begun; /* NULL: the owner no longer waits */
	void *user;
	struct msd_child_user child_user;
	bool is_late, is_cancelled;
};

/**
 * Fill the birth of @start, which is all zeros. Returns 0, or an errno; the caller
 * must free @start even then.
 */
MSD_MUST_CHECK int msd_start_copy(struct msd_start *start,
				  const struct msd_spawn_thread_how *how);
void msd_start_free(struct msd_start *start);

#endif

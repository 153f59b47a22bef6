#ifndef MSD_CHILD_START_H
#define MSD_CHILD_START_H
/* Private to daemon/child: one start of a process, with copies of all that it needs,
 * for it may wait. */
#include "daemon/child/starter.h"
#include "daemon/child/user.h"

struct msd_start {
	struct msd_birth birth; /* owned: its words and its descriptors */
	struct msd_start *next;
	msd_start_fn on_begun; /* NULL: nobody waits for it */
	void *user;
	struct msd_child_user child_user;
	bool is_late, is_cancelled;
};

/** Fill the birth of @start, which is all zeros. Returns 0, or an errno; then it is
 * still to be freed. */
MSD_MUST_CHECK int msd_start_copy(struct msd_start *start,
				  const struct msd_birth_how *how);
void msd_start_free(struct msd_start *start);

#endif

#ifndef MSD_SUPERVISOR_TRACKER_CONNECT_H
#define MSD_SUPERVISOR_TRACKER_CONNECT_H
/* An attempt to connect to the tracker, on a thread: a name server may not answer. */
#include "daemon/loop/work.h"
#include "proto/address.h"

struct msd_tracker_attempt {
	struct msd_work work;
	struct msd_address address;
	uint64_t wait_ms; /* for each address of the name */
	/** Called on the loop, unless it was dropped; then the attempt is freed. */
	void (*on_end)(struct msd_tracker_attempt *a);
	void *user;
	int fd; /* connected and non-blocking, taken by on_end(); -1: see why */
	char why[160];
};

/** Begin an attempt. NULL if memory is short. */
struct msd_tracker_attempt *
msd_tracker_attempt_begin(uv_loop_t *loop, const struct msd_address *address,
			  uint64_t wait_ms,
			  void (*on_end)(struct msd_tracker_attempt *a), void *user);
/** Drop it: it ends later, unseen. */
void msd_tracker_attempt_drop(struct msd_tracker_attempt *a);

#endif

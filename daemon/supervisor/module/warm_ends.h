#ifndef MSD_SUPERVISOR_WARM_ENDS_H
#define MSD_SUPERVISOR_WARM_ENDS_H
/* What a worker lives by that may outlive the daemon (warm.h): the supervisor's ends of
 * its door and of its lifeline, which the service manager gets, too. */
#include <stdbool.h>

#include "daemon/supervisor/module/warm_name.h"

struct msd_child;
struct msd_house;

/* Of one that may outlive the daemon (warm.h): the ends that keep it. */
struct msd_warm_ends {
	int door, lifeline;    /* -1: it ends with the daemon */
	struct msd_digest key; /* of what it was started for */
	bool is_kept;          /* the service manager has it, too, under this name: */
	char name[MSD_WARM_NAME_BYTES];
};

/** The worker, @child, has its module open: the manager keeps it from here on, where it
 * can be kept. Idempotent. */
void msd_warm_ends_keep(struct msd_warm_ends *ends, struct msd_house *house,
			const struct msd_child *child);
/** It has ended, or is nobody's any more: it is kept no longer. Idempotent. */
void msd_warm_ends_cool(struct msd_warm_ends *ends, struct msd_house *house);

#endif

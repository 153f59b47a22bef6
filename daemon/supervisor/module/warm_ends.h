#ifndef MSD_SUPERVISOR_WARM_ENDS_H
#define MSD_SUPERVISOR_WARM_ENDS_H
/*
 * The descriptors that let a worker outlive the daemon (warm.h): the supervisor's
 * ends of its handover socket and of its lifeline. The service manager gets them,
 * too.
 */
#include <stdbool.h>

#include "daemon/supervisor/module/warm_name.h"

struct msd_child;
struct msd_house;

/* The ends that keep a worker that may outlive the daemon (warm.h). */
struct msd_warm_ends {
	int door, lifeline;    /* -1: it exits with the daemon */
	struct msd_digest key; /* digest of its start options */
	bool is_kept; /* also stored in the service manager, under this name: */
	char name[MSD_WARM_NAME_BYTES];
};

/**
 * The worker @child has its module open: store it in the service manager, if
 * possible. Idempotent.
 */
void msd_warm_ends_keep(struct msd_warm_ends *ends, struct msd_house *house,
			const struct msd_child *child);
/**
 * The worker has exited or is not needed: remove it from the service manager.
 * Idempotent.
 */
void msd_warm_ends_cool(struct msd_warm_ends *ends, struct msd_house *house);

#endif

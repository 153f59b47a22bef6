#ifndef MSD_SUPERVISOR_HANDOVER_FDS_H
#define MSD_SUPERVISOR_HANDOVER_FDS_H
/*
 * The descriptors that let a worker outlive the daemon (handover.h): the supervisor's
 * ends of its handover socket and of its lifeline. The service manager gets them,
 * too.
 */
#include <stdbool.h>

#include "daemon/supervisor/module/handover/handover_name.h"

struct msd_child;
struct msd_module_registry;

/* The ends that keep a worker that may outlive the daemon (handover.h). */
struct msd_handover_ends {
	int door, lifeline;    /* -1: it exits with the daemon */
	struct msd_digest key; /* digest of its start options */
	bool is_kept; /* also stored in the service manager, under this name: */
	char name[MSD_HANDOVER_NAME_BYTES];
};

/**
 * The worker @child has its module open: store it in the service manager, if
 * possible. Idempotent.
 */
void msd_handover_ends_keep(struct msd_handover_ends *ends,
			    struct msd_module_registry *registry,
			    const struct msd_child *child);
/**
 * The worker has exited or is not needed: remove it from the service manager.
 * Idempotent.
 */
void msd_handover_ends_cool(struct msd_handover_ends *ends,
			    struct msd_module_registry *registry);

#endif

#ifndef MSD_WORKER_PROCESS_H
#define MSD_WORKER_PROCESS_H
/* Prepares the process before foreign code runs in it. */
#include <stdbool.h>

#include "proto/base/diag.h"

/* Descriptors from the supervisor, from 3 on in this order. */
struct msd_process_given {
	bool is_kept; /* it may outlive its supervisor: door and lifeline are passed */
	bool has_group; /* a descriptor to join its control group is passed */
	int channel_fd, artifact_fd;
	int door_fd; /* -1: none */
	/* First of MSD_MAX_GUESTS reserved descriptor numbers for sockets of direct
	 * peers, behind the channel's, all in use; 0: none are reserved. */
	int first_guest_fd;
};

/**
 * Die with the parent; or, if @given says that it may outlive it, when the other end
 * of its lifeline is closed in all processes. Join its control group, gain no
 * privileges, and keep only descriptors 0-2 and those of @given, which are filled in.
 * These move to high numbers. All low ones become /dev/null, as protection from
 * foreign code that closes or writes to descriptors it does not own.
 */
MSD_MUST_CHECK msd_err msd_process_prepare(struct msd_process_given *given,
					   struct msd_diag *d);

#endif

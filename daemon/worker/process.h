#ifndef MSD_WORKER_PROCESS_H
#define MSD_WORKER_PROCESS_H
/* What the process gives up and puts in place before foreign code runs in it. */
#include <stdbool.h>

#include "proto/diag.h"

/* What the supervisor gives it: descriptors, from 3 on in this order. */
struct msd_process_given {
	bool is_kept;   /* it may outlive its supervisor: there are the door's, and that
			   of its lifeline */
	bool has_group; /* there is one to go into its control group by */
	int channel_fd, artifact_fd;
	int door_fd; /* -1: it has none */
	/* Numbers for the sockets of guests, MSD_MAX_GUESTS of them behind that of the
	 * channel, all taken; 0: none are kept. */
	int first_guest_fd;
};

/**
 * Die with the parent, or, where @given says that it may outlive it, with the last who
 * has the other end of its lifeline; go into its control group, gain no privileges,
 * keep no descriptor but 0-2 and those of @given, which are filled in. These move to
 * high numbers; all small ones become /dev/null, out of the way of foreign code that
 * closes or writes to descriptors it does not own.
 */
MSD_MUST_CHECK msd_err msd_process_prepare(struct msd_process_given *given,
					   struct msd_diag *d);
/** End the process without running a destructor of foreign code. */
_Noreturn void msd_worker_exit(int status);

#endif

#ifndef MSD_WORKER_PROCESS_H
#define MSD_WORKER_PROCESS_H
/* What the process gives up and puts in place before foreign code runs in it. */
#include <stdbool.h>

#include "proto/diag.h"

/**
 * Die with the parent, go into the control group that came with it when @has_group,
 * gain no privileges, keep no descriptor but 0-2, the channel and the artifact. The
 * latter two move to high numbers; all small ones become /dev/null, out of the way of
 * foreign code that closes or writes to descriptors it does not own.
 */
MSD_MUST_CHECK msd_err msd_process_prepare(bool has_group, int *ret_channel_fd,
					   int *ret_artifact_fd, struct msd_diag *d);
/** End the process without running a destructor of foreign code. */
_Noreturn void msd_worker_exit(int status);

#endif

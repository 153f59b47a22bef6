#ifndef MSD_SUPERVISOR_PASS_H
#define MSD_SUPERVISOR_PASS_H
/*
 * Segments passed to a worker's process: those of arguments, and those that clients
 * lend (daemon/supervisor/request/loan.h), which a process is given when the first
 * request that names one is sent to it, and no sooner.
 */
#include "daemon/supervisor/module/process.h"
#include "daemon/supervisor/request/request.h"

/** Send worker.segment: @what is "in", "lent" or "shown"; @fd is borrowed. With 0
 * @bytes the segment is taken back. Errors: MSD_NOMEM, MSD_IO (no descriptor is left).
 */
MSD_MUST_CHECK msd_err msd_pass_segment(struct msd_process *p, const char *what,
					uint16_t index, int fd, uint64_t bytes);
/** Give @p what @r names and @p has not. False: memory or descriptors are short. */
MSD_MUST_CHECK bool msd_pass_lent(struct msd_process *p, const struct msd_req *r);
/** @p is over: it has none any more, and nobody is told. */
void msd_pass_forget(struct msd_process *p);

#endif

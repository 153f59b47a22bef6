#ifndef MSD_SUPERVISOR_SEGMENT_PASS_H
#define MSD_SUPERVISOR_SEGMENT_PASS_H
/*
 * Pass segments to a worker's process: those of arguments, and those of clients
 * (daemon/supervisor/request/client_segment.h). A process gets a client segment with
 * the first request that names it, not earlier.
 */
#include "daemon/supervisor/module/workers/process.h"
#include "daemon/supervisor/request/request.h"

/**
 * Send worker.segment: @what is "in", "lent" or "shown"; @fd is borrowed. With 0
 * @bytes the segment is taken back. Errors: MSD_NOMEM, MSD_IO (no descriptor is
 * left).
 */
MSD_MUST_CHECK msd_err msd_segment_pass_segment(struct msd_process *p, const char *what,
						uint16_t index, int fd, uint64_t bytes);
/**
 * Pass the client segments of @r that @p does not have. False: out of memory or
 * descriptors.
 */
MSD_MUST_CHECK bool msd_segment_pass_lent(struct msd_process *p,
					  const struct msd_req *r);
/** @p is gone: forget its client segments without a notification. */
void msd_segment_pass_forget(struct msd_process *p);

#endif

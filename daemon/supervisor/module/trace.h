#ifndef MSD_SUPERVISOR_TRACE_H
#define MSD_SUPERVISOR_TRACE_H
/*
 * Where the time of one call went, for the client that asked for it: the stages that
 * every call is counted in (stage.h), that of the worker divided by what the worker
 * tells of it. Together they are the total: what the worker does not account for is of
 * the way back, and it cannot tell more than it was away.
 */
#include "daemon/supervisor/request/request.h"

/** Append the meta of the answer to @r, a traced call, which is sent at @now_ns;
 * @worker: the meta of the worker's answer. */
void msd_trace_write(const struct msd_req *r, struct msd_span worker, uint64_t now_ns,
		     struct msd_buf *out);

#endif

#ifndef MSD_SUPERVISOR_TRACE_H
#define MSD_SUPERVISOR_TRACE_H
/*
 * Trace of one call, for the client that requested it. It has the stages that every
 * call is counted in (stage.h); the worker's stage is divided by the worker's report.
 * The sum is the total. Time that the worker does not report belongs to the reply,
 * and its report cannot exceed the time of its stage.
 */
#include "daemon/supervisor/request/request.h"

/**
 * Append the meta data of the answer to @r, a traced call, which is sent at @now_ns;
 * @worker: the meta data of the worker's answer.
 */
void msd_trace_write(const struct msd_req *r, struct msd_span worker, uint64_t now_ns,
		     struct msd_buf *out);

#endif

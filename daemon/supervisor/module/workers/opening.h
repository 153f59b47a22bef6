#ifndef MSD_SUPERVISOR_OPENING_H
#define MSD_SUPERVISOR_OPENING_H
/*
 * worker.open, the first request of a worker: the artifact to open and the rules to
 * run under. A worker that opened it for an earlier daemon gets worker.resume
 * instead. The answer describes the module: daemon/worker/CHANNEL.md.
 */
#include "daemon/stream/conn.h"

struct msd_req;

/**
 * Write the body of the request @r, which is sent to its worker, to @o, which is
 * empty.
 */
void msd_opening_write(struct msd_out *o, const struct msd_req *r);
/** Handle its answer: msd_req_job.on_response. */
void msd_opening_done(struct msd_req *r, struct msd_in *in);

#endif

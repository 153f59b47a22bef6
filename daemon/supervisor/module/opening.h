#ifndef MSD_SUPERVISOR_OPENING_H
#define MSD_SUPERVISOR_OPENING_H
/*
 * worker.open, the first request that a worker gets: what it is to open and under which
 * rules it runs; or worker.resume, of one that has opened it for an earlier daemon. The
 * answer describes the module: daemon/worker/CHANNEL.md.
 */
#include "daemon/wire/conn.h"

struct msd_req;

/** The body of the request @r, which was sent to its worker, to @o, which is empty. */
void msd_opening_write(struct msd_out *o, const struct msd_req *r);
/** Its answer: msd_req_job.on_response. */
void msd_opening_done(struct msd_req *r, struct msd_in *in);

#endif

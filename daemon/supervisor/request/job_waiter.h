#ifndef MSD_SUPERVISOR_JOB_WAITER_H
#define MSD_SUPERVISOR_JOB_WAITER_H
/*
 * The request that waits for a job, of the store or of modserd-fetch; embedded in the
 * state of the job. If the client leaves or the deadline passes, the job goes on
 * without a request.
 */
#include "daemon/supervisor/request/request.h"

struct msd_job_waiter {
	struct msd_list requests; /* msd_req.link: one at most */
	const char *late;         /* error text when the deadline passes; static */
};

/** Let @r wait, which is taken. NULL: no client waits. */
void msd_job_waiter_init(struct msd_job_waiter *w, struct msd_req *r, const char *late);
/** The request, which must be answered when the job ends. NULL: no client waits. */
struct msd_req *msd_job_waiter_request(struct msd_job_waiter *w);

#endif

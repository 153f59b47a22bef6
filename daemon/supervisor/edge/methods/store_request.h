#ifndef MSD_SUPERVISOR_STORE_REQUEST_H
#define MSD_SUPERVISOR_STORE_REQUEST_H
/* A request that a background job of the store answers; embedded in the state of the
 * job. If the client leaves or the deadline passes, the job still runs to its end. */
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/request/job_waiter.h"

struct msd_store_request {
	struct msd_list link; /* msd_edge.errands */
	struct msd_edge *edge;
	struct msd_job_waiter waiter;
	struct msd_peer_id who; /* the peer that asked */
	uint32_t *n_open;       /* counter of its kind */
};

/**
 * Start one more request for @c; @n_open of its kind are in progress. The reply is
 * sent later. Errors, without a start: MSD_UNSUPPORTED (no store), MSD_NOMEM,
 * MSD_BUSY (limits.max_uploads of its kind over all clients; a peer other than the
 * daemon's own user gets half of them, or half of the part that other peers leave).
 */
MSD_MUST_CHECK msd_err msd_store_request_begin(struct msd_store_request *e,
					       struct msd_method_call *c,
					       uint32_t *n_open, struct msd_diag *d);
/** End it. Returns the request, which must be answered. NULL: no client waits for it.
 */
struct msd_req *msd_store_request_end(struct msd_store_request *e);
/**
 * Like msd_store_request_end(), and reply with @result, or with the error of @job.
 * Frees both.
 */
void msd_store_request_answer(struct msd_store_request *e, struct msd_keeper_job *job,
			      struct msd_buf *result);

#endif

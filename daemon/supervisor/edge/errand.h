#ifndef MSD_SUPERVISOR_ERRAND_H
#define MSD_SUPERVISOR_ERRAND_H
/*
 * A request that a job of the keeper's answers: embedded in what the job works on. Who
 * asked may leave meanwhile, or its deadline pass; the job goes on, for nobody.
 */
#include "daemon/supervisor/edge/method.h"
#include "daemon/supervisor/keep/keeper.h"

struct msd_errand {
	struct msd_list link; /* msd_edge.errands */
	struct msd_edge *edge;
	struct msd_list requests; /* msd_req.link: the one, until its client goes */
	struct msd_peer_id who;   /* whose it was */
	uint32_t *n_open;         /* of its kind */
};

/** One more of which @n_open are under way, for @c, whose answer comes later. Errors:
 * MSD_UNSUPPORTED (there is no store), MSD_BUSY (limits.max_uploads of its kind, of all
 * clients; half of them, or of what others leave, of one peer that is not the daemon's
 * own user), MSD_NOMEM; nothing is begun then. */
MSD_MUST_CHECK msd_err msd_errand_begin(struct msd_errand *e, struct msd_method_call *c,
					uint32_t *n_open, struct msd_diag *d);
/** It is over. Returns the request, to be answered; NULL: nobody waits for it. */
struct msd_req *msd_errand_end(struct msd_errand *e);
/** The same, answered with @result, or refused with what @job says; both are finished.
 */
void msd_errand_answer(struct msd_errand *e, struct msd_keeper_job *job,
		       struct msd_buf *result);

#endif

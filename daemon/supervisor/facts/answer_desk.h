#ifndef MSD_SUPERVISOR_ANSWER_DESK_H
#define MSD_SUPERVISOR_ANSWER_DESK_H
/*
 * Answers about all modules: server.metrics and module.list. A task writes one answer
 * at a time, a chunk per step. Other requests are served meanwhile, and the queue
 * needs memory for one answer only. Peers that wait take turns.
 */
#include "daemon/loop/fair_list.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/facts/metrics.h"

struct msd_answer_desk {
	/* private */
	struct msd_edge *edge;
	struct msd_fair_list waiting; /* msd_req.link */
	struct msd_list told;         /* msd_req.link: the request whose answer is being
					 written, or empty if its client is gone */
	struct msd_task next;         /* writes the next chunk */
	struct msd_metrics_at metrics;
	struct msd_method_list_at list;
	struct msd_buf text; /* the answer: msgpack */
};

void msd_answer_desk_init(struct msd_answer_desk *k, struct msd_edge *e);
/** Answer @c, at once or later. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_answer_desk_ask(struct msd_answer_desk *k,
					   struct msd_method_call *c,
					   struct msd_diag *d);
/** Call it when all clients are gone. */
void msd_answer_desk_finish(struct msd_answer_desk *k);

#endif

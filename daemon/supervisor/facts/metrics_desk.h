#ifndef MSD_SUPERVISOR_METRICS_DESK_H
#define MSD_SUPERVISOR_METRICS_DESK_H
/*
 * server.metrics: who asks for a text of many modules waits here. One text is made at a
 * time, a piece in each turn of the loop, so that however many ask others are served
 * meanwhile, and no more memory is taken than one text wants. Whoever has been answered
 * waits behind all other peers with what else it asked.
 */
#include "daemon/supervisor/facts/metrics.h"
#include "proto/bytes.h"

struct msd_method_call;

struct msd_metrics_desk {
	/* private */
	struct msd_edge *edge;
	struct msd_list waiting;  /* msd_req.link */
	struct msd_list told;     /* likewise: the one whose text is made, until its
				     client goes */
	struct msd_deadline next; /* the piece */
	struct msd_metrics_at at;
	struct msd_buf text; /* as it is answered: msgpack */
};

void msd_metrics_desk_init(struct msd_metrics_desk *k, struct msd_edge *e);
/** Answer @c, at once or later. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_metrics_desk_ask(struct msd_metrics_desk *k,
					    struct msd_method_call *c,
					    struct msd_diag *d);
/** All clients are gone. */
void msd_metrics_desk_finish(struct msd_metrics_desk *k);

#endif

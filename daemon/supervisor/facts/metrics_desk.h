#ifndef MSD_SUPERVISOR_METRICS_DESK_H
#define MSD_SUPERVISOR_METRICS_DESK_H
/*
 * server.metrics: a queue of requests for the text of many modules. It writes one
 * text at a time, one chunk per loop iteration. Other requests are served meanwhile,
 * and the queue needs memory for one text only. After a reply, the other requests of
 * the same peer move behind those of all other peers.
 */
#include "daemon/supervisor/facts/metrics.h"
#include "proto/base/bytes.h"

struct msd_method_call;

struct msd_metrics_desk {
	/* private */
	struct msd_edge *edge;
	struct msd_list waiting; /* msd_req.link */
	struct msd_list told; /* msd_req.link: the request whose text is being written,
				 or empty if its client is gone */
	struct msd_deadline next; /* writes the next chunk */
	struct msd_metrics_at at;
	struct msd_buf text; /* the reply: msgpack */
};

void msd_metrics_desk_init(struct msd_metrics_desk *k, struct msd_edge *e);
/** Answer @c, at once or later. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_metrics_desk_ask(struct msd_metrics_desk *k,
					    struct msd_method_call *c,
					    struct msd_diag *d);
/** Call it when all clients are gone. */
void msd_metrics_desk_finish(struct msd_metrics_desk *k);

#endif

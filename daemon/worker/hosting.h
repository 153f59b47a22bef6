#ifndef MSD_WORKER_HOSTING_H
#define MSD_WORKER_HOSTING_H
/* How guests (guest.h) come and go: by worker.peer, and by the end of their sockets. */
#include "daemon/worker/worker.h"

/** worker.peer from the supervisor, whose channel is @channel: admit one. Errors:
 * MSD_PROTOCOL, the supervisor broke its contract. */
MSD_MUST_CHECK msd_err msd_hosting_take(struct msd_peer *channel,
					struct msd_span params, struct msd_diag *d);
/** The supervisor's page for what guests do, of @bytes. Errors: MSD_PROTOCOL. */
MSD_MUST_CHECK msd_err msd_hosting_take_ledger(struct msd_peer *channel, uint64_t bytes,
					       struct msd_diag *d);
/** The channel is gone, and with it who answers for them. */
void msd_hosting_end(struct msd_worker *w);
/** Read on from one that has read its answers; close one that is to leave when
 * everything is said. */
void msd_hosting_look(struct msd_peer *peer);

#endif

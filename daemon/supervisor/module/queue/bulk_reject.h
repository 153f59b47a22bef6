#ifndef MSD_SUPERVISOR_BULK_REJECT_H
#define MSD_SUPERVISOR_BULK_REJECT_H
/*
 * Bulk reject: refuse queued requests of a module one at a time, by a task of the
 * loop. So a peer with hundreds of thousands of queued requests does not delay other
 * peers.
 *
 * The level of refusal is per client queue (msd_client_queue.refused):
 *
 *   NONE    served: it takes turns in the list that client_queue.h names
 *   LATE    requests that waited too long for the module (ready_timeout.h). Each
 *           request is checked, from the first on: it is refused, or passed
 *           (msd_client_queue.passed)
 *   DEADLY  requests that may end a worker, and late ones; checked the same way
 *   ASKED   requests of the client, but not notifications to a worker
 *   ALL     all requests
 *
 * At each level, a call of a module that was replaced first tries to go to the module
 * that replaced it (msd_worker_group_ops.pass_on).
 *
 *   NONE --begin_late()--> LATE --each was checked--> NONE, with passed requests
 *   LATE --end_late()--> NONE, with the rest
 *   NONE, LATE, DEADLY --begin_of()--> DEADLY or ASKED, as given, but no lower level
 *     than before, --each was checked--> NONE, with passed requests
 *   NONE to ASKED --begin()--> ALL --each was refused--> NONE
 *   DEADLY, ASKED --begin_of(), begin_late()--> no lower level, from the first on
 *   ALL --begin(), begin_of(), begin_late()--> ALL
 *   LATE to ALL --a cancel or a deadline removed the last--> NONE
 *   LATE to ALL --its client leaves--> NONE, with notifications to a worker
 *
 * The reason is that of the latest begin() or begin_of() that did not have a lower
 * level.
 *
 * In LATE to ALL a client queue has requests, is only in msd_worker_group.refused, and
 * sends no request. Its requests count as queued: they are in n_queued and queued_us,
 * an earlier deadline answers them, and the module is not idle. Requests that its
 * client queues meanwhile are appended and checked, too. The answers of a client queue
 * keep the order of its requests. One queue is finished before the next. When no queue
 * is left, msd_worker_group_ops.on_refused() is called.
 */
#include "daemon/supervisor/module/queue/client_queue.h"
#include "daemon/supervisor/module/workers/worker_group.h"

/** Answer all queued requests with an error, one at a time. */
void msd_refusal_begin(struct msd_worker_group *group, msd_err err, const char *text);
/**
 * Answer the queued requests of @who, a peer or a connection, at level @what, DEADLY
 * or ASKED, with @d, borrowed. One at a time.
 */
void msd_refusal_begin_of(struct msd_worker_group *group, struct msd_peer_id who,
			  enum msd_refused what, const struct msd_diag *d);
/** Answer all late requests, one at a time. */
void msd_refusal_begin_late(struct msd_worker_group *group);
/** The module serves again: no request is late. */
void msd_refusal_end_late(struct msd_worker_group *group);

#endif

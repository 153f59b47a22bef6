#ifndef MSD_SUPERVISOR_REFUSAL_H
#define MSD_SUPERVISOR_REFUSAL_H
/*
 * What a module's queue has is refused one request at a time, by a deadline of no time:
 * who has deadlines shares a turn of the loop with the others, by time. A peer may have
 * hundreds of thousands queued, and nobody else waits for all of them to be answered.
 *
 * It is by lane (msd_lane.refused). What is refused of one:
 *
 *   NONE    served: it takes its turns in the list that lane.h says
 *   LATE    what has waited too long for the module (ready_wait.h). Each request is
 *           looked at, from the first on: it is refused, or passed (msd_lane.passed)
 *   DEADLY  what may end a worker, and what is late, likewise
 *   ASKED   what a client asks for, and not what a worker is to be told of it
 *   ALL     whatever it has
 *
 *   NONE --begin_late()--> LATE --each was looked at--> NONE, with what was passed
 *   LATE --end_late()--> NONE, with what is left
 *   NONE, LATE, DEADLY --begin_of()--> DEADLY or ASKED, as that says, but no less than
 *     before, --each was looked at--> NONE, likewise
 *   NONE to ASKED --begin()--> ALL --each was refused--> NONE
 *   DEADLY, ASKED --begin_of(), begin_late()--> no less, from the first on
 *   ALL --begin(), begin_of(), begin_late()--> ALL
 *   LATE to ALL --a cancel or a deadline took the last--> NONE
 *   LATE to ALL --its client goes--> NONE, with what a worker is to be told yet
 *
 * The reason is that of the latest begin() or begin_of() that was no less than before.
 *
 * In LATE to ALL a lane has requests, is in msd_crew.refused alone, and so
 * nothing of it is sent. What it has is queued: counted in n_queued and queued_us,
 * answered by its deadline when that is earlier, and its module is not idle. What its
 * client queues meanwhile comes behind, and is looked at like the others. Of each lane
 * answers come in the order in which the requests were queued; one lane is done before
 * the next. When no lane is left msd_crew_ops.on_refused() says so.
 */
#include "daemon/supervisor/module/crew.h"
#include "daemon/supervisor/module/lane.h"

/** Answer everything that is queued with an error, by and by. */
void msd_refusal_begin(struct msd_crew *crew, msd_err err, const char *text);
/** Of what @who, a peer or a connection, has queued answer @what, DEADLY or ASKED, with
 * @d, which is borrowed, likewise. */
void msd_refusal_begin_of(struct msd_crew *crew, struct msd_peer_id who,
			  enum msd_refused what, const struct msd_diag *d);
/** Answer what is late, likewise. */
void msd_refusal_begin_late(struct msd_crew *crew);
/** The module is there: nothing is late. */
void msd_refusal_end_late(struct msd_crew *crew);

#endif

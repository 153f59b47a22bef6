#ifndef MSD_SUPERVISOR_VISIT_TURN_H
#define MSD_SUPERVISOR_VISIT_TURN_H
/* The scheduling of an HTTP connection: its requests are read and answered within its
 * share of each loop iteration. */
#include "daemon/supervisor/http/visit_state.h"

/** Make it schedulable with the other connections of its loop, until it is closed. */
void msd_visit_take_turns(struct msd_visit *v);
/** Serve it now as in its slot, without waiting for an event. */
void msd_visit_serve_now(struct msd_visit *v);
/** Charge its memory to its account, and wait for its next event. */
void msd_visit_settle(struct msd_visit *v);
/** The deferred reply to the request of @c is ready. */
void msd_visit_answered(struct msd_caller *c);
/** The call of its request has room for its remaining inputs. */
void msd_visit_placed(struct msd_visit *v);

#endif

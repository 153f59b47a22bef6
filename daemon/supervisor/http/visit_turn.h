#ifndef MSD_SUPERVISOR_VISIT_TURN_H
#define MSD_SUPERVISOR_VISIT_TURN_H
/*
 * The turns of a visit: its requests are read and answered, as many as a turn may have.
 */
#include "daemon/supervisor/http/visit_state.h"

/** It takes turns with the others of its loop from here on, until it is closed. */
void msd_visit_take_turns(struct msd_visit *v);
/** As in its turn, whatever waits for it: nothing is awaited. */
void msd_visit_serve_now(struct msd_visit *v);
/** What it holds is charged to its account, and it waits for its next turn. */
void msd_visit_settle(struct msd_visit *v);
/** The answer to the request of @c that was to come later is there. */
void msd_visit_answered(struct msd_caller *c);
/** The call of its request has room for what still comes of that. */
void msd_visit_placed(struct msd_visit *v);

#endif

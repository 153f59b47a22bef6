#ifndef MSD_SUPERVISOR_FLIGHT_H
#define MSD_SUPERVISOR_FLIGHT_H
/*
 * What the recorder has, as lines of the log: all of it when somebody asks (SIGUSR1),
 * the last calls of a module when one of its workers has died. At the log's own pace,
 * for that keeps little and drops the rest.
 */
#include "daemon/supervisor/module/crew.h"
#include "daemon/supervisor/module/house.h"

/** Tell all that is kept now, on later turns. While that goes on: nothing more. */
void msd_flight_tell(struct msd_house *house);
/** A worker of @crew has died, and what it was sent is answered: tell of the last calls
 * of its module, at most once a second whatever dies. */
void msd_flight_tell_lost(const struct msd_crew *crew);

#endif

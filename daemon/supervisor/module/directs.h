#ifndef MSD_SUPERVISOR_DIRECTS_H
#define MSD_SUPERVISOR_DIRECTS_H
/* Clients' channels (direct.h) of all modules. */
#include "daemon/supervisor/module/house.h"

/** Take them back. */
void msd_directs_end(struct msd_house *house);
/** The same, and none is given for a while: somebody wants to see each call. */
void msd_directs_hold_off(struct msd_house *house);
/** Count what workers have told of their calls since the last time. */
void msd_directs_count(struct msd_house *house);

#endif

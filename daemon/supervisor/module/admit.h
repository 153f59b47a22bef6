#ifndef MSD_SUPERVISOR_ADMIT_H
#define MSD_SUPERVISOR_ADMIT_H
/* Requests that a module has taken in: how it is told of what happens to them. */
#include "daemon/supervisor/module/module.h"

/** @m owns @r from here on, which has no owner yet. */
void msd_module_adopt(struct msd_module *m, struct msd_req *r);

/** A call of @who that @rep's worker runs has overrun its deadline, by more than the
 * grace: the worker is ended, and who does that too often is barred. */
void msd_module_overran(struct msd_replica *rep, struct msd_peer_id who);

/** Queue a request that a worker answers, which is the module's. Takes @r. Answers it
 * at once when it cannot be. */
void msd_module_submit(struct msd_module *m, struct msd_req *r);

#endif

#ifndef MSD_SUPERVISOR_ADMIT_H
#define MSD_SUPERVISOR_ADMIT_H
/* Requests that a module has taken in: how it is told of what happens to them. */
#include "daemon/supervisor/module/module.h"

/** @m owns @r from here on, which has no owner yet. */
void msd_module_adopt(struct msd_module *m, struct msd_req *r);

/** What @rep's worker has run for @ran_ms may not go on, for @why: the worker is ended,
 * and whose calls do that too often is barred. */
void msd_module_overran(struct msd_replica *rep, const struct msd_blame *blame,
			enum msd_run_end why, uint64_t ran_ms);

/** Queue a request that a worker answers, which is the module's. Takes @r. Answers it
 * at once when it cannot be. */
void msd_module_submit(struct msd_module *m, struct msd_req *r);

#endif

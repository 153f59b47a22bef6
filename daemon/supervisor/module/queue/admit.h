#ifndef MSD_SUPERVISOR_ADMIT_H
#define MSD_SUPERVISOR_ADMIT_H
/* Requests that a module has admitted, and the events that concern them. */
#include "daemon/supervisor/module/life/module.h"

/** @m takes ownership of @r, which has no owner yet. */
void msd_module_adopt(struct msd_module *m, struct msd_req *r);

/**
 * The request that @rep's worker has run for @ran_ms must stop, for @why: terminate
 * the worker. A peer or connection that causes this too often is banned.
 */
void msd_module_overran(struct msd_replica *rep, const struct msd_blame *blame,
			enum msd_run_end why, uint64_t ran_ms);

/**
 * Queue a QUEUED call of @old, which was replaced, at the module that has the name
 * now, with its arguments. False: that module takes no calls, the call names objects
 * of @old, or the arguments cannot be copied now; @r is unchanged.
 */
bool msd_module_pass_on(struct msd_module *old, struct msd_req *r);

/**
 * Queue a request of the module that a worker answers. Takes @r. Answers it at once
 * if it cannot be queued.
 */
void msd_module_submit(struct msd_module *m, struct msd_req *r);

#endif

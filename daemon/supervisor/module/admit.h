#ifndef MSD_SUPERVISOR_ADMIT_H
#define MSD_SUPERVISOR_ADMIT_H
/* Requests that a module has taken in: how it is told of what happens to them. */
#include "daemon/supervisor/module/module.h"

/** @m owns @r from here on, which has no owner yet. */
void msd_module_adopt(struct msd_module *m, struct msd_req *r);

/** @r names an object in the worker @p: it goes there, or nowhere. */
void msd_module_need(struct msd_req *r, struct msd_process *p);

#endif

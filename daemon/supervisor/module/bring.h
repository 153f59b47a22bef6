#ifndef MSD_SUPERVISOR_BRING_H
#define MSD_SUPERVISOR_BRING_H
/* The way of a module's source to the module, before its life begins. */
#include "daemon/supervisor/module/module.h"

/** Start @m as soon as its source is there: now, or when m->bringing is done. What does
 * not come whole, or not within the time that a load may take, makes it FAILED, on a
 * later turn. */
void msd_module_bring(struct msd_module *m);
/** The source of one that awaits it: takes @source and @file. */
void msd_module_give(struct msd_module *m, const struct msd_source *source, char *file);
/** The candidate is written down, and starts; or it is not, and @why (not NULL) is why
 * its load fails, on a later turn. */
void msd_module_kept(struct msd_module *m, const struct msd_diag *why);

#endif

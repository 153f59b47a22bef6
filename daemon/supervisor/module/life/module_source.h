#ifndef MSD_SUPERVISOR_MODULE_SOURCE_H
#define MSD_SUPERVISOR_MODULE_SOURCE_H
/* Get the source of a module before its workers start. */
#include "daemon/supervisor/module/life/module.h"

/**
 * Start @m as soon as its source exists: now, or when m->bringing is done. If the
 * source is incomplete, or late by the load timeout, @m becomes FAILED on a later
 * iteration.
 */
void msd_module_bring(struct msd_module *m);
/** Give the awaited source to @m. Takes @source and @file. */
void msd_module_give(struct msd_module *m, const struct msd_source *source, char *file);
/**
 * @why is NULL: the store has recorded the candidate; start it. Otherwise its load
 * fails for @why, on a later iteration.
 */
void msd_module_kept(struct msd_module *m, const struct msd_diag *why);

#endif

#ifndef MSD_SUPERVISOR_MODULE_SOURCE_H
#define MSD_SUPERVISOR_MODULE_SOURCE_H
/* The bytes of a module: before its workers start, and while it is ASLEEP. */
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
/** A client calls @m, which is ASLEEP. */
void msd_module_called(struct msd_module *m);
/** @m is ASLEEP; @is_had: the store has a copy of its bytes, which may be freed. */
void msd_module_looked(struct msd_module *m, bool is_had);
/**
 * The store has read the bytes of @m: takes @source; NULL: it could not, for @why.
 */
void msd_module_brought(struct msd_module *m, struct msd_source *source,
			const struct msd_diag *why);

#endif

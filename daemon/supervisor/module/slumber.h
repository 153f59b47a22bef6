#ifndef MSD_SUPERVISOR_MODULE_SLUMBER_H
#define MSD_SUPERVISOR_MODULE_SLUMBER_H
/*
 * What a module that is ASLEEP needs of memory: its bytes, unless somebody else has
 * them, as the store does.
 *
 * Happy path: it falls asleep, the house is asked, and the bytes are given up
 * (sleep.h); a call comes, the house is asked for them, and when they are there it
 * wakes. Failures: they cannot be had any more: the calls that wait are refused, and
 * the next one has the house asked again.
 */
#include "daemon/supervisor/module/module.h"

/** Somebody calls @m, which is ASLEEP. */
void msd_slumber_end(struct msd_module *m);
/** The house's answer to on_called: takes @source; NULL: it cannot be had, says @why.
 */
void msd_slumber_on_brought(struct msd_module *m, struct msd_source *source,
			    const struct msd_diag *why);

#endif

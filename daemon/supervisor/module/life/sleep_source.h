#ifndef MSD_SUPERVISOR_MODULE_SLEEP_SOURCE_H
#define MSD_SUPERVISOR_MODULE_SLEEP_SOURCE_H
/*
 * The bytes of a module that is ASLEEP: they are freed if another copy exists, such
 * as the store's.
 *
 * Happy path: the module falls asleep, the repository is asked, and the bytes
 * are freed (sleep.h). A call arrives, the repository reads the bytes, and the
 * module wakes. Failures: the bytes cannot be loaded. The waiting calls are refused,
 * and the next call asks again.
 */
#include "daemon/supervisor/module/life/module.h"

/** A client calls @m, which is ASLEEP. */
void msd_sleep_source_end(struct msd_module *m);
/**
 * The repository's answer to find(): takes @source; NULL: it could not be
 * loaded, for @why.
 */
void msd_sleep_source_on_brought(struct msd_module *m, struct msd_source *source,
				 const struct msd_diag *why);

#endif

#ifndef MSD_SUPERVISOR_READINESS_H
#define MSD_SUPERVISOR_READINESS_H
/*
 * Readiness set: the names of the modules that the daemon was started for, as they
 * exist at the end of the startup. Modules that are loaded or unloaded later do not
 * change its readiness.
 */
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/diag.h"

struct msd_module_registry;
struct msd_module;

/** Take the current modules of @registry as the set. Call it once. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_readiness_record(struct msd_module_registry *registry,
					    struct msd_diag *d);
/** True if @m serves calls now: it is READY, or ASLEEP and wakes for a call. */
bool msd_readiness_serves(const struct msd_module *m);
/** Return the module @name if it serves; NULL: it does not serve or does not exist. */
const struct msd_module *msd_readiness_find(struct msd_module_registry *registry,
					    const char *name);
/** Return how many modules of the set serve. */
uint32_t msd_readiness_count_ready(struct msd_module_registry *registry);
/** True if all modules of the set serve, and the daemon is not about to exit. */
bool msd_readiness_all_ready(struct msd_module_registry *registry);
void msd_readiness_finish(struct msd_module_registry *registry);

#endif

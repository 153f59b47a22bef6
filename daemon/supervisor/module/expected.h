#ifndef MSD_SUPERVISOR_EXPECTED_H
#define MSD_SUPERVISOR_EXPECTED_H
/*
 * Readiness set: the names of the modules that the daemon was started for, as they
 * exist at the end of the startup. Modules that are loaded or unloaded later do not
 * change its readiness.
 */
#include <stdbool.h>
#include <stdint.h>

#include "proto/diag.h"

struct msd_house;
struct msd_module;

/** Take the current modules of @house as the set. Call it once. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_expected_take(struct msd_house *house, struct msd_diag *d);
/** True if @m serves calls now: it is READY, or ASLEEP and wakes for a call. */
bool msd_expected_serves(const struct msd_module *m);
/** Return the module @name if it serves; NULL: it does not serve or does not exist. */
const struct msd_module *msd_expected_find(struct msd_house *house, const char *name);
/** Return how many modules of the set serve. */
uint32_t msd_expected_count_ready(struct msd_house *house);
/** True if all modules of the set serve, and the daemon is not about to exit. */
bool msd_expected_all_ready(struct msd_house *house);
void msd_expected_finish(struct msd_house *house);

#endif

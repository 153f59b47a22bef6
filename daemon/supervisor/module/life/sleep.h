#ifndef MSD_SUPERVISOR_MODULE_SLEEP_H
#define MSD_SUPERVISOR_MODULE_SLEEP_H
/* Decide when a module with `keep_alive` may sleep: it was not called for that time.
 * Objects that clients hold in its workers prevent it. */
#include "daemon/supervisor/module/life/module.h"
#include "proto/base/diag.h"

/** The module is READY: check it in *@ret_again_ms. False: never. */
bool msd_sleep_begin(struct msd_module *m, uint64_t *ret_again_ms);
/** True if it may sleep now; if not, check again in *@ret_again_ms; 0: never. */
bool msd_sleep_look(struct msd_module *m, uint64_t *ret_again_ms);
/**
 * The module is to sleep at the next look, unless a call comes before. Errors:
 * MSD_NOT_READY, MSD_BUSY (a call, or an object that a client holds).
 */
MSD_MUST_CHECK msd_err msd_sleep_want(struct msd_module *m, struct msd_diag *d);
/** The rest of the time until it sleeps, if it is not used. False: it does not. */
bool msd_sleep_left(const struct msd_module *m, uint64_t *ret_ms);

#endif

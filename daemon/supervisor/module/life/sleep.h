#ifndef MSD_SUPERVISOR_MODULE_SLEEP_H
#define MSD_SUPERVISOR_MODULE_SLEEP_H
/* Decide when a module with `keep_alive` may sleep: it was not called for that time.
 * Objects that clients hold in its workers prevent it. */
#include "daemon/supervisor/module/life/module.h"

/** The module is READY: check it in *@ret_again_ms. False: never. */
bool msd_sleep_begin(struct msd_module *m, uint64_t *ret_again_ms);
/** True if it may sleep now; if not, check again in *@ret_again_ms. */
bool msd_sleep_look(struct msd_module *m, uint64_t *ret_again_ms);
/** The module is ASLEEP: free its bytes, if another copy exists (sleep_source.h). */
void msd_sleep_fall(struct msd_module *m);
/**
 * The module registry's answer to on_asleep; @is_had: another copy of the bytes
 * exists.
 */
void msd_sleep_on_looked(struct msd_module *m, bool is_had);

#endif

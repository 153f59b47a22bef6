#ifndef MSD_SUPERVISOR_MODULE_SLEEP_H
#define MSD_SUPERVISOR_MODULE_SLEEP_H
/* When a module with `keep_alive` may sleep: nobody has called it for so long. What its
 * clients hold in its workers keeps them. */
#include "daemon/supervisor/module/module.h"

/** It is READY: look at it in @ret_again_ms; false: never. */
bool msd_sleep_begin(struct msd_module *m, uint64_t *ret_again_ms);
/** Whether it may sleep by now; if not, look again in *@ret_again_ms. */
bool msd_sleep_look(struct msd_module *m, uint64_t *ret_again_ms);
/** It is ASLEEP: it gives up its bytes, unless nobody else has them (slumber.h). */
void msd_sleep_fall(struct msd_module *m);
/** The house's answer to on_asleep: whether others have the bytes, too. */
void msd_sleep_on_looked(struct msd_module *m, bool is_had);

#endif

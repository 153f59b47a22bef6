#ifndef MSD_SUPERVISOR_SLEEP_STORE_H
#define MSD_SUPERVISOR_SLEEP_STORE_H
/* If the store has the bytes of an ASLEEP module, they stay only in the store
 * (daemon/supervisor/module/life/sleep_source.h). */
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/life/module.h"

/**
 * Check in the background if the store has the bytes that @m was loaded from, then
 * call msd_sleep_on_looked(). Returns false if there is no store or no memory: no
 * check runs.
 */
bool msd_sleep_store_look(struct msd_keeper *keeper, struct msd_module *m);
/** Restore the bytes, then call msd_sleep_source_on_brought(). Returns false as above.
 */
bool msd_sleep_store_bring(struct msd_keeper *keeper, struct msd_module *m);

#endif

#ifndef MSD_SUPERVISOR_SLUMBERING_H
#define MSD_SUPERVISOR_SLUMBERING_H
/* Bytes of modules that are ASLEEP lie in the store alone, where it has them
 * (module/slumber.h). */
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/module.h"

/** Look, later, whether the store gives the bytes that @m was loaded from; then
 * msd_sleep_on_looked(). False: nobody looks, as there is no store, or no memory. */
bool msd_slumbering_look(struct msd_keeper *keeper, struct msd_module *m);
/** Bring them; then msd_slumber_on_brought(). False: as above. */
bool msd_slumbering_bring(struct msd_keeper *keeper, struct msd_module *m);

#endif

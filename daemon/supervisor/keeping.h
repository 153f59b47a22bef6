#ifndef MSD_SUPERVISOR_KEEPING_H
#define MSD_SUPERVISOR_KEEPING_H
/* Modules and the store, brought together: what a load with keep has written down. */
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/module.h"

/** The bytes of the candidate @m are there: write it down, then msd_module_kept(). */
void msd_keeping_begin(struct msd_keeper *keeper, struct msd_module *m);
/** Its load has ended: write that down, then answer who waits for a good one. */
void msd_keeping_tried(struct msd_keeper *keeper, struct msd_module *m, bool is_good);

#endif

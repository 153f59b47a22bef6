#ifndef MSD_SUPERVISOR_KEPT_LOAD_H
#define MSD_SUPERVISOR_KEPT_LOAD_H
/* Connect modules and the store: write the results of loads with keep. */
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/repository.h"

/**
 * The bytes of the candidate @m are complete: write it to the store, then call
 * msd_module_kept().
 */
void msd_kept_load_begin(struct msd_repository *r, struct msd_module *m);
/**
 * The load of @m has finished: write the result, then reply to the clients that wait.
 */
void msd_kept_load_tried(struct msd_repository *r, struct msd_module *m, bool is_good);

#endif

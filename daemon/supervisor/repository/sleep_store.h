#ifndef MSD_SUPERVISOR_SLEEP_STORE_H
#define MSD_SUPERVISOR_SLEEP_STORE_H
/* If the store has the bytes of an ASLEEP module, they stay only in the store
 * (daemon/supervisor/module/life/module_source.h). */
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/repository.h"

/**
 * Look in the background for the bytes that @m was loaded from. If they are wanted,
 * read them and call msd_module_brought(), else call msd_module_looked().
 * Returns false if there is no store or no memory: it calls neither.
 */
bool msd_sleep_store_find(struct msd_repository *r, struct msd_module *m,
			  bool is_wanted);

#endif

#ifndef MSD_SUPERVISOR_DEFAULT_STORE_H
#define MSD_SUPERVISOR_DEFAULT_STORE_H
/* The default store of a daemon whose options name no store: a folder of its user. */
#include <stdbool.h>

#include "proto/base/diag.h"

/**
 * True if the option's value is a folder. "none" means that nothing is kept; NULL
 * means that no folder is known.
 */
bool msd_store_is_named(const char *store);
/**
 * Find the store folder in the environment. The order is: the first folder of
 * $STATE_DIRECTORY, which the service manager creates; $MODSERD_STORE; modserd in
 * $XDG_STATE_HOME or in ~/.local/state. *ret: the caller frees it, NULL if not found.
 * *ret_origin: static, the variable that names the folder; NULL if the folder is only
 * a default, so that the daemon can run without it. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_default_store(char **ret, const char **ret_origin,
					 struct msd_diag *d);
/**
 * Create the missing parent folders of @path, with access for this user only. It
 * ignores failures: opening the store reports them.
 */
void msd_default_store_make_room(const char *path);

#endif

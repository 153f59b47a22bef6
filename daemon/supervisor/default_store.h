#ifndef MSD_SUPERVISOR_DEFAULT_STORE_H
#define MSD_SUPERVISOR_DEFAULT_STORE_H
/* The store of a daemon to which nobody has named one: a folder of its user's. */
#include <stdbool.h>

#include "proto/diag.h"

/** Whether the option's value is a folder: "none" is said where nothing is to be kept,
 * NULL where nobody knows one. */
bool msd_store_is_named(const char *store);
/**
 * What the environment says, in this order: the first folder of $STATE_DIRECTORY, which
 * the service manager makes; $MODSERD_STORE; modserd in $XDG_STATE_HOME or in
 * ~/.local/state. *ret is the caller's, NULL where there is none; *ret_origin, static,
 * says who named it; it is NULL where nobody did, so that the daemon can do without.
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_default_store(char **ret, const char **ret_origin,
					 struct msd_diag *d);
/** Make the folders above @path that are not there, for this user alone. What cannot be
 * made is found by who opens the store. */
void msd_default_store_make_room(const char *path);

#endif

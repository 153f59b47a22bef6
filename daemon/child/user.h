#ifndef MSD_CHILD_USER_H
#define MSD_CHILD_USER_H
/*
 * Another user for a process that the daemon starts: what that may do to the daemon's
 * own processes and files is then what the system lets one user do to another.
 */
#include <sys/types.h>

#include "proto/diag.h"

struct msd_child_user {
	uid_t uid;
	gid_t gid; /* of its account; it is in no other group */
};

/** Find the account @name. MSD_NOT_FOUND (no such account), MSD_REFUSED (it is root's
 * or the daemon's own). */
MSD_MUST_CHECK msd_err msd_child_user_find(const char *name, struct msd_child_user *ret,
					   struct msd_diag *d);
/**
 * The same, and keep what starting a process as it wants from being inherited. Errors:
 * those; MSD_REFUSED (the daemon may not change users, or could not end such a
 * process).
 */
MSD_MUST_CHECK msd_err msd_child_user_take(const char *name, struct msd_child_user *ret,
					   struct msd_diag *d);

#endif

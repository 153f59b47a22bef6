#ifndef MSD_CHILD_USER_H
#define MSD_CHILD_USER_H
/*
 * Another user for a process that the daemon starts. The process can then access the
 * daemon's processes and files only as the system allows one user to access those of
 * another.
 */
#include <sys/types.h>

#include "proto/base/diag.h"

struct msd_child_user {
	uid_t uid;
	gid_t gid; /* primary group of the account; no other groups */
};

/**
 * Find the account @name. MSD_NOT_FOUND (no such account), MSD_REFUSED (it is root or
 * the daemon's own user).
 */
MSD_MUST_CHECK msd_err msd_child_user_find(const char *name, struct msd_child_user *ret,
					   struct msd_diag *d);
/**
 * Same as msd_child_user_find(), and drop the capabilities that such a process would
 * inherit. Errors: those, and MSD_REFUSED (the daemon may not change users, or could
 * not kill such a process).
 */
MSD_MUST_CHECK msd_err msd_child_user_become(const char *name,
					     struct msd_child_user *ret,
					     struct msd_diag *d);

#endif

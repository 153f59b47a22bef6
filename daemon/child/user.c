#include "daemon/child/user.h"

#include <errno.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/errno_text.h"

/* capabilities to become the user, and to kill its processes */
#define WANTED ((1u << CAP_SETUID) | (1u << CAP_SETGID) | (1u << CAP_KILL))

static bool may_change(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct has[2] = {{0}};

	return syscall(SYS_capget, &head, has) == 0 &&
	       (has[0].effective & WANTED) == WANTED;
}

msd_err msd_child_user_find(const char *name, struct msd_child_user *ret,
			    struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];

	errno = 0;
	const struct passwd *account = getpwnam(name);
	if (account == NULL) {
		return msd_diag_set(d, MSD_NOT_FOUND, "worker-user %s: %s", name,
				    errno != 0 ? msd_errno_text(errno, text)
					       : "there is no such user");
	}
	if (account->pw_uid == 0 || account->pw_uid == getuid()) {
		return msd_diag_set(d, MSD_REFUSED,
				    "worker-user %s: expected another user than root "
				    "and the daemon's own",
				    name);
	}
	if (account->pw_gid == 0 || account->pw_gid == getgid()) {
		return msd_diag_set(
			d, MSD_REFUSED,
			"worker-user %s: its group is %s: expected one "
			"that opens no files of the daemon's",
			name, account->pw_gid == 0 ? "root's" : "the daemon's own");
	}
	*ret = (struct msd_child_user){account->pw_uid, account->pw_gid};
	return MSD_OK;
}

msd_err msd_child_user_become(const char *name, struct msd_child_user *ret,
			      struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];
	struct msd_child_user user;
	const msd_err err = msd_child_user_find(name, &user, d);

	if (err != MSD_OK)
		return err;
	if (!may_change()) {
		return msd_diag_set(d, MSD_REFUSED,
				    "worker-user %s: the daemon may not change users: "
				    "it wants root, or CAP_SETUID, CAP_SETGID and "
				    "CAP_KILL",
				    name);
	}
	/* Ambient capabilities survive a change between users that are not root.
	 * EINVAL: kernels before 4.3 have none. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 &&
	    errno != EINVAL) {
		return msd_diag_set(d, MSD_IO,
				    "worker-user %s: ambient capabilities: %s", name,
				    msd_errno_text(errno, text));
	}
	*ret = user;
	return MSD_OK;
}

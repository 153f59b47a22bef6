/*
 * Happy path: the errno of connect() tells the kind of failure. For a unix socket,
 * the file tells the rest: whether it exists, is a socket, and its owner. The text is
 * the cause, the hint is one line of advice; both contain the address, so that the
 * user can copy it.
 */
#include "client/cause.h"

#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MAX_BYTES 64u

static void user_name(uid_t uid, char ret[static NAME_MAX_BYTES])
{
	const struct passwd *p = getpwuid(uid);

	if (p != NULL) {
		(void)snprintf(ret, NAME_MAX_BYTES, "%s", p->pw_name);
	} else {
		(void)snprintf(ret, NAME_MAX_BYTES, "%u", (unsigned)uid);
	}
}

static void group_name(gid_t gid, char ret[static NAME_MAX_BYTES])
{
	const struct group *g = getgrgid(gid);

	if (g != NULL) {
		(void)snprintf(ret, NAME_MAX_BYTES, "%s", g->gr_name);
	} else {
		(void)snprintf(ret, NAME_MAX_BYTES, "%u", (unsigned)gid);
	}
}

/* Its folder may be entered by its group, as that of the system's daemon. */
static void explain_folder(const char *path, const char *you,
			   char hint[static MSD_HINT_MAX], struct msd_diag *d)
{
	const char *end = strrchr(path, '/');
	char folder[MSD_ADDRESS_PATH_MAX + 1] = "", group[NAME_MAX_BYTES];
	struct stat st;

	if (end != NULL)
		memcpy(folder, path, (size_t)(end - path));
	(void)msd_diag_set(d, MSD_IO,
			   "not permitted: %s may not enter the folder of %s", you,
			   path);
	if (stat(folder, &st) == 0 && (st.st_mode & S_IXGRP) != 0) {
		group_name(st.st_gid, group);
		(void)snprintf(hint, MSD_HINT_MAX,
			       "ask to be put into the group %s (usermod -aG %s %s), "
			       "then log in again",
			       group, group, you);
	} else {
		(void)snprintf(hint, MSD_HINT_MAX,
			       "ask its owner, or start a daemon of your own: modserd");
	}
}

/* Name the socket's owner and the permission that this user needs. */
static void explain_mode(const char *path, char hint[static MSD_HINT_MAX],
			 struct msd_diag *d)
{
	char owner[NAME_MAX_BYTES], group[NAME_MAX_BYTES], you[NAME_MAX_BYTES];
	struct stat st;

	user_name(geteuid(), you);
	if (stat(path, &st) != 0) {
		explain_folder(path, you, hint, d);
		return;
	}
	user_name(st.st_uid, owner);
	group_name(st.st_gid, group);
	(void)msd_diag_set(d, MSD_IO,
			   "not permitted: %s is %s's, group %s, mode %04o; you are %s",
			   path, owner, group, (unsigned)st.st_mode & 07777u, you);
	if ((st.st_mode & S_IWGRP) != 0) {
		(void)snprintf(hint, MSD_HINT_MAX, "ask to be put into the group %s",
			       group);
		return;
	}
	(void)snprintf(hint, MSD_HINT_MAX,
		       "ask %s for modserd --socket-mode 0660 and to be in the group "
		       "%s",
		       owner, group);
}

static void explain_refused(const struct msd_address *a, const char *address,
			    char hint[static MSD_HINT_MAX], struct msd_diag *d)
{
	struct stat st;

	(void)snprintf(hint, MSD_HINT_MAX, "start one: modserd --listen %s", address);
	if (a->kind != MSD_ADDRESS_UNIX) {
		(void)msd_diag_set(d, MSD_IO, "no daemon listens there");
	} else if (stat(a->path, &st) == 0 && !S_ISSOCK(st.st_mode)) {
		(void)msd_diag_set(d, MSD_IO, "the file is not a socket");
		(void)snprintf(hint, MSD_HINT_MAX,
			       "give the daemon's address with -H or MODSER_HOST");
	} else {
		(void)msd_diag_set(d, MSD_IO, "no daemon listens there: it has ended");
	}
}

static void explain(const struct msd_address *a, int error, const char *address,
		    char hint[static MSD_HINT_MAX], struct msd_diag *d)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		(void)msd_diag_set(d, MSD_IO, "the socket does not exist");
		(void)snprintf(hint, MSD_HINT_MAX, "start one: modserd --listen %s",
			       address);
		return;
	case ECONNREFUSED:
		explain_refused(a, address, hint, d);
		return;
	case EACCES:
	case EPERM:
		if (a->kind == MSD_ADDRESS_UNIX) {
			explain_mode(a->path, hint, d);
			return;
		}
		break;
	case EAGAIN:
		(void)msd_diag_set(d, MSD_DEADLINE,
				   "the daemon accepts no connection: it is stopped, "
				   "or overloaded");
		(void)snprintf(hint, MSD_HINT_MAX,
			       "look at its process and its log; start it again");
		return;
	case ETIMEDOUT:
		(void)msd_diag_set(d, MSD_DEADLINE, "no daemon answers");
		(void)snprintf(hint, MSD_HINT_MAX,
			       "check host, port and firewalls, or give more time "
			       "with --connect-timeout");
		return;
	default:
		break;
	}
	(void)msd_diag_set(d, MSD_IO, "%s", strerror(error));
	(void)snprintf(hint, MSD_HINT_MAX,
		       "check that modserd is running and its address");
}

msd_err msd_cause_of(const struct msd_address *a, int error,
		     char ret_hint[static MSD_HINT_MAX], struct msd_diag *d)
{
	char address[MSD_ADDRESS_TEXT_MAX];
	struct msd_diag cause = {0};

	(void)msd_address_format(a, address);
	explain(a, error, address, ret_hint, &cause);
	msd_err err = msd_diag_set(d, cause.code, "connect to %s: %s", address,
				   msd_diag_text(&cause));
	msd_diag_finish(&cause);
	return err;
}

msd_err msd_cause_of_name(const struct msd_address *a, int failed,
			  char ret_hint[static MSD_HINT_MAX], struct msd_diag *d)
{
	char address[MSD_ADDRESS_TEXT_MAX];

	(void)snprintf(ret_hint, MSD_HINT_MAX, "check the host's name, %s", a->host);
	return msd_diag_set(d, MSD_IO, "connect to %s: %s",
			    msd_address_format(a, address), gai_strerror(failed));
}

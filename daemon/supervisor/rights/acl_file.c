#include "daemon/supervisor/rights/acl_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/supervisor/rights/acl_read.h"
#include "proto/base/errno_text.h"
#include "proto/base/fd_read.h"

static msd_err check_file(const char *path, int fd, struct msd_diag *d)
{
	struct stat st;
	char text[MSD_ERRNO_TEXT_BYTES];

	if (fstat(fd, &st) != 0) {
		return msd_diag_set(d, MSD_IO, "--acl %s: %s", path,
				    msd_errno_text(errno, text));
	}
	if (!S_ISREG(st.st_mode))
		return msd_diag_set(d, MSD_REFUSED, "--acl %s: expected a file", path);
	if ((st.st_mode & S_IWOTH) != 0) {
		return msd_diag_set(d, MSD_REFUSED,
				    "--acl %s: every user may write to this file and "
				    "so get all rights: run chmod o-w on it",
				    path);
	}
	return MSD_OK;
}

msd_err msd_acl_read(const char *path, struct msd_acl **ret, struct msd_diag *d)
{
	/* O_NONBLOCK: a FIFO at this path would block the daemon. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char text[MSD_ERRNO_TEXT_BYTES];
	struct msd_buf b = {0};

	if (fd < 0) {
		return msd_diag_set(d, MSD_IO, "--acl %s: %s", path,
				    msd_errno_text(errno, text));
	}
	msd_err err = check_file(path, fd, d);
	if (err == MSD_OK) {
		err = msd_fd_read(fd, MSD_ACL_FILE_MAX, &b);
		if (err == MSD_NOMEM)
			(void)msd_diag_no_memory(d);
		if (err == MSD_IO) {
			(void)msd_diag_set(d, err, "--acl %s: %s", path,
					   msd_errno_text(errno, text));
		}
	}
	if (err == MSD_OK || err == MSD_TOO_LARGE) /* the parser reports the latter */
		err = msd_acl_parse(path, (struct msd_span){b.p, b.n}, ret, d);
	msd_buf_finish(&b);
	(void)close(fd);
	return err;
}

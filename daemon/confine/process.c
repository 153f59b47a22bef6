#include "daemon/confine/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#define FIRST_HIDDEN_FD 100

/* When memory runs out, the kernel should kill the module that used it, not the
 * daemon. */
static void die_first(void)
{
	static const char score[] = "500";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	ssize_t n = write(fd, score, sizeof(score) - 1);
	(void)n; /* errors are ignored */
	(void)close(fd);
}

/*
 * If the supervisor died before this process set its death signal, the other end of
 * the channel is closed. Otherwise code that never returns would keep an orphan for
 * ever.
 */
static bool is_orphan(void)
{
	struct pollfd channel = {.fd = MSD_CONFINE_FIRST_FD, .events = POLLRDHUP};

	return poll(&channel, 1, 0) > 0 &&
	       (channel.revents & (POLLRDHUP | POLLHUP)) != 0;
}

/* Its limits must hold for everything that follows. The supervisor does not move the
 * process, because that may take the kernel 20 ms. */
static msd_err join_group(int fd, struct msd_diag *d)
{
	if (write(fd, "0", 1) == 1)
		return MSD_OK;
	return msd_diag_set(d, MSD_IO, "its control group cannot be joined: %s",
			    strerror(errno));
}

msd_err msd_confine_begin(bool is_kept, int group_fd, unsigned n_fds,
			  struct msd_diag *d)
{
	/* The process works even if these fail: the end of the channel also ends it.
	 */
	if (!is_kept)
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (is_orphan())
		return msd_diag_set(d, MSD_IO, "the supervisor has gone");
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)signal(SIGPIPE, SIG_IGN);
	die_first();
	const msd_err err = group_fd >= 0 ? join_group(group_fd, d) : MSD_OK;
	if (err == MSD_OK)
		(void)close_range(MSD_CONFINE_FIRST_FD + n_fds, UINT_MAX, 0);
	return err;
}

msd_err msd_confine_move_up(int fd, int *ret, struct msd_diag *d)
{
	*ret = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_HIDDEN_FD);
	if (*ret < 0) {
		return msd_diag_set(
			d, MSD_IO,
			"descriptor %d: %s (only modserd can start this program)", fd,
			strerror(errno));
	}
	return MSD_OK;
}

/* Foreign code that writes to or closes low descriptors hits /dev/null, not the
 * descriptors of the channel, the loop or a segment. */
msd_err msd_confine_fill_low(struct msd_diag *d)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return msd_diag_set(d, MSD_IO, "/dev/null: %s", strerror(errno));
	for (int fd = MSD_CONFINE_FIRST_FD; fd < FIRST_HIDDEN_FD; fd++) {
		if (fd != null && dup3(null, fd, O_CLOEXEC) < 0) {
			return msd_diag_set(d, MSD_IO, "descriptor %d: %s", fd,
					    strerror(errno));
		}
	}
	return MSD_OK;
}

void msd_confine_exit(int status)
{
#ifdef __SANITIZE_ADDRESS__
	__lsan_do_leak_check(); /* _exit() skips it */
#endif
	_exit(status);
}

#include "daemon/worker/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

/* Where the supervisor put them. */
#define CHANNEL_FD 3
#define ARTIFACT_FD 4
#define GROUP_FD 5
#define FIRST_HIDDEN_FD 100

static msd_err move_up(int fd, int *ret, struct msd_diag *d)
{
	*ret = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_HIDDEN_FD);
	if (*ret < 0) {
		return msd_diag_set(
			d, MSD_IO,
			"descriptor %d: %s (modserd starts its workers itself)", fd,
			strerror(errno));
	}
	return MSD_OK;
}

/* Code that writes to or closes small descriptors that are not its own meets /dev/null
 * and not the channel, the loop's or a segment's. */
static msd_err fill_low(struct msd_diag *d)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return msd_diag_set(d, MSD_IO, "/dev/null: %s", strerror(errno));
	for (int fd = CHANNEL_FD; fd < FIRST_HIDDEN_FD; fd++) {
		if (fd != null && dup3(null, fd, O_CLOEXEC) < 0) {
			return msd_diag_set(d, MSD_IO, "descriptor %d: %s", fd,
					    strerror(errno));
		}
	}
	return MSD_OK;
}

/* When memory runs out the kernel shall choose the module that took it, not the daemon.
 */
static void die_first(void)
{
	static const char score[] = "500";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	ssize_t n = write(fd, score, sizeof(score) - 1);
	(void)n; /* nothing depends on it */
	(void)close(fd);
}

/* A supervisor that died before this process asked to die with it left the channel's
 * other end closed; code that never comes back would keep an orphan for ever. */
static bool is_orphan(void)
{
	struct pollfd channel = {.fd = CHANNEL_FD, .events = POLLRDHUP};

	return poll(&channel, 1, 0) > 0 &&
	       (channel.revents & (POLLRDHUP | POLLHUP)) != 0;
}

/* Its limits are to hold for all that follows. The supervisor does not move it, for
 * that may take the kernel 20 ms. */
static msd_err join_group(struct msd_diag *d)
{
	if (write(GROUP_FD, "0", 1) == 1)
		return MSD_OK;
	return msd_diag_set(d, MSD_IO, "its control group cannot be joined: %s",
			    strerror(errno));
}

msd_err msd_process_prepare(bool has_group, int *ret_channel_fd, int *ret_artifact_fd,
			    struct msd_diag *d)
{
	msd_err err;

	/* A failure of these leaves a worker that works: the end of the channel ends
	 * it, too. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (is_orphan())
		return msd_diag_set(d, MSD_IO, "the supervisor has gone");
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)signal(SIGPIPE, SIG_IGN);
	die_first();
	if (has_group && (err = join_group(d)) != MSD_OK)
		return err;
	(void)close_range(ARTIFACT_FD + 1, UINT_MAX, 0);
	err = move_up(CHANNEL_FD, ret_channel_fd, d);
	if (err == MSD_OK)
		err = move_up(ARTIFACT_FD, ret_artifact_fd, d);
	if (err == MSD_OK)
		err = fill_low(d);
	return err;
}

void msd_worker_exit(int status)
{
#ifdef __SANITIZE_ADDRESS__
	__lsan_do_leak_check(); /* _exit() skips it */
#endif
	_exit(status);
}

/*
 * Happy path: the process is set to end with its supervisor, or by its lifeline. It
 * joins its control group, and its descriptors are moved away from foreign code.
 * Failures: if a step fails, it does not start.
 */
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

#include "daemon/segments/ledger.h"
#include "proto/base/errno_text.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

/* Numbers set by the supervisor. */
#define CHANNEL_FD 3
#define ARTIFACT_FD 4
#define FIRST_MORE_FD 5
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

/* Foreign code that writes to or closes low descriptors hits /dev/null, not the
 * descriptors of the channel, the loop or a segment. */
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
	struct pollfd channel = {.fd = CHANNEL_FD, .events = POLLRDHUP};

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

/* The kernel kills this process and its group when the other end is closed in all
 * processes, whatever code runs here. */
static msd_err hang_on(int lifeline, struct msd_diag *d)
{
	struct pollfd other = {.fd = lifeline};
	char text[MSD_ERRNO_TEXT_BYTES];

	if (fcntl(lifeline, F_SETSIG, SIGKILL) != 0 ||
	    fcntl(lifeline, F_SETOWN, -getpgrp()) != 0 ||
	    fcntl(lifeline, F_SETFL, O_ASYNC | O_NONBLOCK) != 0) {
		return msd_diag_set(d, MSD_IO, "its lifeline cannot be watched: %s",
				    msd_errno_text(errno, text));
	}
	if (poll(&other, 1, 0) > 0)
		return msd_diag_set(d, MSD_IO, "the supervisor has gone");
	return MSD_OK;
}

/* A sandbox lets the worker wait only on certain descriptors. Reserve the numbers of
 * direct peers now, with copies of an open descriptor. */
static msd_err keep_numbers(struct msd_process_given *given, struct msd_diag *d)
{
	given->first_guest_fd = given->channel_fd + 1;
	for (unsigned i = 0; i < MSD_MAX_GUESTS; i++) {
		const int fd = given->first_guest_fd + (int)i;

		if (dup3(given->artifact_fd, fd, O_CLOEXEC) < 0) {
			return msd_diag_set(d, MSD_IO, "descriptor %d: %s", fd,
					    strerror(errno));
		}
	}
	return MSD_OK;
}

/* A process that may outlive its supervisor does not die with it. */
static msd_err outlive(struct msd_process_given *given, struct msd_diag *d)
{
	int lifeline;
	msd_err err = move_up(FIRST_MORE_FD, &given->door_fd, d);

	if (err == MSD_OK)
		err = move_up(FIRST_MORE_FD + 1, &lifeline, d);
	return err == MSD_OK ? hang_on(lifeline, d) : err;
}

msd_err msd_process_prepare(struct msd_process_given *given, struct msd_diag *d)
{
	const int group_fd = FIRST_MORE_FD + (given->is_kept ? 2 : 0);
	msd_err err = MSD_OK;

	/* The worker works even if these fail: the end of the channel also ends it. */
	if (!given->is_kept)
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (is_orphan())
		return msd_diag_set(d, MSD_IO, "the supervisor has gone");
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)signal(SIGPIPE, SIG_IGN);
	die_first();
	if (given->has_group)
		err = join_group(group_fd, d);
	if (err != MSD_OK)
		return err;
	(void)close_range((unsigned)FIRST_MORE_FD + (given->is_kept ? 2u : 0u),
			  UINT_MAX, 0);
	given->door_fd = -1;
	if (given->is_kept)
		err = outlive(given, d);
	if (err == MSD_OK)
		err = move_up(ARTIFACT_FD, &given->artifact_fd, d);
	if (err == MSD_OK)
		err = move_up(CHANNEL_FD, &given->channel_fd, d);
	if (err == MSD_OK)
		err = keep_numbers(given, d);
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

/*
 * Happy path: the process ends with its supervisor, or by its lifeline; it goes into
 * its group, its descriptors go out of the way of foreign code. Failures: a step of
 * these cannot be done, and it does not start.
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

#include "daemon/wire/ledger.h"
#include "proto/errno_text.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

/* Where the supervisor put them. */
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
static msd_err join_group(int fd, struct msd_diag *d)
{
	if (write(fd, "0", 1) == 1)
		return MSD_OK;
	return msd_diag_set(d, MSD_IO, "its control group cannot be joined: %s",
			    strerror(errno));
}

/* The kernel kills this process and its group when nobody has the other end any more,
 * whatever code runs here. */
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

/* A sandbox lets the worker wait for certain descriptors alone: those that guests will
 * have are taken now, by what is open anyhow. */
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

/* Whoever may outlive its supervisor does not die with it. */
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

	/* A failure of these leaves a worker that works: the end of the channel ends
	 * it, too. */
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

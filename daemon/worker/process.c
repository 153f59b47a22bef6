/*
 * Happy path: the process is set to end with its supervisor, or by its lifeline. It
 * joins its control group, and its descriptors are moved away from foreign code.
 * Failures: if a step fails, it does not start.
 */
#include "daemon/worker/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "daemon/confine/process.h"
#include "daemon/segments/ledger.h"
#include "proto/base/errno_text.h"

/* Numbers set by the supervisor. */
#define CHANNEL_FD MSD_CONFINE_FIRST_FD
#define ARTIFACT_FD 4
#define FIRST_MORE_FD 5

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
	msd_err err = msd_confine_move_up(FIRST_MORE_FD, &given->door_fd, d);

	if (err == MSD_OK)
		err = msd_confine_move_up(FIRST_MORE_FD + 1, &lifeline, d);
	return err == MSD_OK ? hang_on(lifeline, d) : err;
}

msd_err msd_process_prepare(struct msd_process_given *given, struct msd_diag *d)
{
	const int group_fd = FIRST_MORE_FD + (given->is_kept ? 2 : 0);
	const unsigned n_fds = 2u + (given->is_kept ? 2u : 0u);
	msd_err err = msd_confine_begin(given->is_kept,
					given->has_group ? group_fd : -1, n_fds, d);

	if (err != MSD_OK)
		return err;
	given->door_fd = -1;
	if (given->is_kept)
		err = outlive(given, d);
	if (err == MSD_OK)
		err = msd_confine_move_up(ARTIFACT_FD, &given->artifact_fd, d);
	if (err == MSD_OK)
		err = msd_confine_move_up(CHANNEL_FD, &given->channel_fd, d);
	if (err == MSD_OK)
		err = keep_numbers(given, d);
	if (err == MSD_OK)
		err = msd_confine_fill_low(d);
	return err;
}

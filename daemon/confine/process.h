#ifndef MSD_CONFINE_PROCESS_H
#define MSD_CONFINE_PROCESS_H
/*
 * Prepares a process that the supervisor started, before foreign code runs in it:
 * begin, then move up each descriptor that it uses, then fill the low numbers.
 */
#include <stdbool.h>

#include "proto/base/diag.h"

#define MSD_CONFINE_FIRST_FD 3 /* the first descriptor from the supervisor */

/**
 * Die with the parent, unless @is_kept. Gain no privileges, join the control group of
 * @group_fd (-1: none), and close all descriptors behind the first @n_fds of the
 * supervisor's. Errors: MSD_IO (the supervisor has gone: the other end of the first
 * descriptor is closed; the group cannot be joined).
 */
MSD_MUST_CHECK msd_err msd_confine_begin(bool is_kept, int group_fd, unsigned n_fds,
					 struct msd_diag *d);
/** Give @fd a high number. Errors: MSD_IO. */
MSD_MUST_CHECK msd_err msd_confine_move_up(int fd, int *ret, struct msd_diag *d);
/**
 * Make all low numbers from MSD_CONFINE_FIRST_FD on /dev/null, as protection from
 * foreign code that closes or writes to descriptors it does not own. Errors: MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_confine_fill_low(struct msd_diag *d);
/** End the process without running destructors of foreign code. */
_Noreturn void msd_confine_exit(int status);

#endif

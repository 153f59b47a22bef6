#ifndef MSD_CLIENT_QUIET_H
#define MSD_CLIENT_QUIET_H
/*
 * Writing by who says no MSG_NOSIGNAL, as libssl: a SIGPIPE of it is none of the
 * process's, whose signals are its own.
 */
#include <signal.h>

struct msd_quiet {
	sigset_t before, waiting;
};

void msd_quiet_begin(struct msd_quiet *ret);
/** errno is of what was written last, and stays. */
void msd_quiet_end(const struct msd_quiet *q);

#endif

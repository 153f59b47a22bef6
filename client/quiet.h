#ifndef MSD_CLIENT_QUIET_H
#define MSD_CLIENT_QUIET_H
/* SIGPIPE guard for code that writes without MSG_NOSIGNAL, such as libssl. The guard
 * hides that SIGPIPE from the process and keeps the process's own signals. */
#include <signal.h>

struct msd_quiet {
	sigset_t before, waiting;
};

void msd_quiet_begin(struct msd_quiet *ret);
/** Expects the errno of the last write, and keeps it. */
void msd_quiet_end(const struct msd_quiet *q);

#endif

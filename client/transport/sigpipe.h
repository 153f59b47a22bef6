#ifndef MSD_CLIENT_SIGPIPE_H
#define MSD_CLIENT_SIGPIPE_H
/* SIGPIPE guard for code that writes without MSG_NOSIGNAL, such as libssl. The guard
 * hides that SIGPIPE from the process and keeps the process's own signals. */
#include <signal.h>

struct msd_sigpipe {
	sigset_t before, waiting;
};

void msd_sigpipe_begin(struct msd_sigpipe *ret);
/** Expects the errno of the last write, and keeps it. */
void msd_sigpipe_end(const struct msd_sigpipe *q);

#endif

#ifndef MSD_WORKER_REFUSAL_H
#define MSD_WORKER_REFUSAL_H
/*
 * System calls that this process, and all that comes of it, is refused from some moment
 * on, for good: a deny-list (seccomp). What drivers and libraries may want stays; what
 * changes the machine, looks into other processes or opens ways around the other parts
 * of the sandbox goes.
 */
#include <stdbool.h>

enum msd_refused_sockets {
	MSD_REFUSED_ALL_SOCKETS, /* and waiting for any but the worker's channel */
	MSD_REFUSED_NETWORK      /* but for what stays on the machine: drivers' */
};

struct msd_refusal {
	enum msd_refused_sockets sockets;
	/* The worker's own, for which it goes on waiting: those from the channel's on.
	 */
	int loop_fd, channel_fd, last_fd;
	bool others_signals; /* signals to any other process, its own children too */
};

/** Refuse from here on; a call that is refused fails with EPERM. False: the kernel does
 * not let it, and nothing is refused. The thread must be the process's only one. */
bool msd_refusal_enter(const struct msd_refusal *r);

#endif

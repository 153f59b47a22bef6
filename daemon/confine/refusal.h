#ifndef MSD_CONFINE_REFUSAL_H
#define MSD_CONFINE_REFUSAL_H
/*
 * A permanent deny-list of system calls (seccomp) for this process and its
 * descendants. Calls that drivers and libraries may need stay allowed. Calls that
 * change the machine, inspect other processes or bypass other parts of the sandbox
 * are refused.
 */
#include <stdbool.h>

enum msd_refused_sockets {
	MSD_REFUSED_ALL_SOCKETS, /* and epoll on other descriptors */
	MSD_REFUSED_NETWORK      /* except local sockets, which drivers need */
};

struct msd_refusal {
	enum msd_refused_sockets sockets;
	/* The worker's own descriptors, which it may still wait on: channel_fd to
	 * last_fd. */
	int loop_fd, channel_fd, last_fd;
	bool others_signals; /* signals to other processes, also its children */
};

/**
 * Enter the filter; a refused call fails with EPERM. False if the kernel does not
 * support it; nothing is refused. The thread must be the process's only one.
 */
bool msd_refusal_enter(const struct msd_refusal *r);

#endif

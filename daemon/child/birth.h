#ifndef MSD_CHILD_BIRTH_H
#define MSD_CHILD_BIRTH_H
/*
 * How a thread makes a process, and what it is told and tells. The thread has a table
 * of descriptors of its own, with next to nothing in it, and waits for each child until
 * its program has begun; whom it works for (starter.h) waits for nothing.
 *
 * Until its exec the child has the daemon's memory: no page tables are copied. It
 * begins a session of its own, without the daemon's handling of signals, and where that
 * is allowed (CAP_SYS_ADMIN) an IPC namespace of its own: shared memory, semaphores and
 * queues belong to no process and would stay when who made them is gone, and the kernel
 * does not tell of all of them who that was. In /dev/shm are files, which stay.
 *
 * Where a table can be had only with its copies (Linux before 5.9, without
 * close_range()), the thread shares the daemon's. Children get the same then; what they
 * do not get is copied and closed.
 */
#include <stdbool.h>
#include <sys/types.h>

#include "proto/err.h"

#define MSD_BIRTH_FDS 8u

struct msd_child_user;

struct msd_birth_how {
	char **argv;            /* the program's path first; NULL at the end */
	char **environment;     /* likewise */
	int fds[MSD_BIRTH_FDS]; /* there from 0 on. -1: /dev/null */
	unsigned n_fds;
	const struct msd_child_user *user; /* whose it is; NULL: the daemon's */
};

/* The thread's from msd_birth_ask() until its answer, which is one byte. */
struct msd_birth {
	struct msd_birth_how how;
	pid_t born; /* written by the kernel, before the child runs; 0: none yet */
	/* With the answer. */
	pid_t pid; /* of a child that is to be waited for; -1: there is none */
	int error; /* 0: it is its program */
};

/* What the thread is given: no longer than it is beginning. */
struct msd_birth_room {
	int channel;       /* its end of a socket pair of packets */
	pid_t thread_id;   /* written before it says that it is ready */
	bool shares_table; /* likewise: the channel's end stays the daemon's to close */
};

/** The thread: it sends one byte that is 1 when it is ready and 0 when it cannot be,
 * and serves until the other end of its channel is shut down. */
void *msd_birth_serve(void *room);
/** Pass @b and its descriptors, from the other end @fd. Returns 0, or an errno. */
MSD_MUST_CHECK int msd_birth_ask(int fd, struct msd_birth *b);

#endif

#ifndef MSD_CHILD_SPAWN_THREAD_H
#define MSD_CHILD_SPAWN_THREAD_H
/*
 * How a thread makes a process, and its requests and replies. The thread has its own
 * descriptor table with almost nothing in it, and waits for each child until its
 * program has begun. Its client (starter.h) does not wait.
 *
 * Until its exec the child shares the daemon's memory: no page tables are copied. It
 * begins a session of its own, with default signal handling. If allowed
 * (CAP_SYS_ADMIN) it gets its own IPC namespace: shared memory, semaphores and queues
 * belong to no process, and would outlive their creator, which the kernel does not
 * always report. Files in /dev/shm are not covered.
 *
 * Where a separate table needs copies (Linux before 5.9, without close_range()), the
 * thread shares the daemon's table. Children still get the same descriptors; the
 * others are copied and closed.
 */
#include <stdbool.h>
#include <sys/types.h>

#include "proto/base/err.h"

#define MSD_SPAWN_THREAD_FDS 8u

struct msd_child_user;

struct msd_spawn_thread_how {
	char **argv;                   /* the program's path first; NULL at the end */
	char **environment;            /* NULL at the end */
	int fds[MSD_SPAWN_THREAD_FDS]; /* numbered from 0 in the child. -1: /dev/null */
	unsigned n_fds;
	const struct msd_child_user *user; /* user of the process; NULL: the daemon's */
};

/* The thread owns it from msd_spawn_thread_ask() until its reply, which is one byte. */
struct msd_spawn_thread {
	struct msd_spawn_thread_how how;
	pid_t born; /* written by the kernel, before the child runs; 0: none yet */
	/* Valid with the reply. */
	pid_t pid; /* child to wait for; -1: none */
	int error; /* 0: it runs its program */
};

/* Arguments of the thread; valid only during its start. */
struct msd_spawn_thread_room {
	int channel;       /* its end of a socket pair of packets */
	pid_t thread_id;   /* written before it reports that it is ready */
	bool shares_table; /* written before it is ready: the daemon must close the
			      channel's end */
};

/**
 * Thread function. It sends one byte, 1 if it is ready and 0 if not, and serves until
 * the other end of its channel is shut down.
 */
void *msd_spawn_thread_serve(void *room);
/** Send @b and its descriptors over the other end @fd. Returns 0, or an errno. */
MSD_MUST_CHECK int msd_spawn_thread_ask(int fd, struct msd_spawn_thread *b);

#endif

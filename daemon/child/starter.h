#ifndef MSD_CHILD_STARTER_H
#define MSD_CHILD_STARTER_H
/*
 * Starts processes on a thread with a table of descriptors of its own, which has next
 * to nothing in it. A new process has a copy of its starter's table, and its exec
 * closes the copies, while the starter waits: what a peer has passed, a file on FUSE,
 * may be closed as slowly as the peer likes. So what a child is to have is passed to
 * the thread, as it would be to another process, and nothing else of the daemon's is
 * ever in a child, whether it has FD_CLOEXEC or not.
 *
 * Until its exec the child has the daemon's memory: no page tables are copied, and only
 * the thread waits for it. It begins a session of its own, without the daemon's
 * handling of signals, and where that is allowed (CAP_SYS_ADMIN) an IPC namespace of
 * its own: shared memory, semaphores and queues belong to no process and would stay
 * when who made them is gone, and the kernel does not tell of all of them who that was.
 * In /dev/shm are files, which stay.
 *
 * Where a table can be had only with its copies (Linux before 5.9, without
 * close_range()), the thread shares the daemon's. Children get the same then; what they
 * do not get is copied and closed.
 */
#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#define MSD_STARTER_FDS 8u
#define MSD_STARTER_PATIENCE_MS 10000

struct msd_child_user;

struct msd_start_how {
	char **argv;              /* the program's path first; NULL at the end */
	char **environment;       /* likewise */
	int fds[MSD_STARTER_FDS]; /* borrowed; there from 0 on. -1: /dev/null */
	unsigned n_fds;
	const struct msd_child_user *user; /* whose it is; NULL: the daemon's */
};

struct msd_starter {
	pid_t thread_id; /* read-only: to the kernel it is the parent of all; 0: there
			    is none */
	/* private */
	pthread_t thread;
	int to_thread; /* -1: there is no thread */
	int thread_end;
	int error; /* why not */
	int patience_ms;
	bool shares_table;
};

/** Start the thread: before anybody can have passed a descriptor, and after the daemon
 * has given up what its children shall not have. If that fails, each
 * msd_starter_start() will say why. */
void msd_starter_open(struct msd_starter *s);
/** Start a process; when this returns it is @ret's program, a child of the daemon that
 * is still to be waited for. Returns 0, or an errno, with no process left. ETIMEDOUT:
 * its exec was not done after MSD_STARTER_PATIENCE_MS, for its program's disk is away,
 * or somebody keeps it with a lease; one that cannot be killed is waited for. One
 * thread at a time. */
int msd_starter_start(struct msd_starter *s, const struct msd_start_how *how,
		      pid_t *ret);
/** End the thread. Children stay the daemon's. Legal when it could not be opened. */
void msd_starter_close(struct msd_starter *s);

#endif

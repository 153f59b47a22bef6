#ifndef MSD_CHILD_STARTER_H
#define MSD_CHILD_STARTER_H
/*
 * Starts processes, on a thread with a table of descriptors of its own (birth.h). A new
 * process has a copy of its starter's table, and its exec closes the copies, while the
 * starter waits: what a peer has passed, a file on FUSE, may be closed as slowly as the
 * peer likes. So what a child is to have is passed to the thread, as it would be to
 * another process, and nothing else of the daemon's is ever in a child, whether it has
 * FD_CLOEXEC or not.
 *
 * The loop waits for no start: one is with the thread, the others are in a line, and
 * how each went comes as an event. One that has no program after
 * MSD_STARTER_PATIENCE_MS is killed; while one that was killed has not ended, none can
 * be started, and all that wait fail.
 *
 *   msd_starter_begin() --> (in line) --> (with the thread) --> on_begun
 */
#include <pthread.h>
#include <uv.h>

#include "daemon/child/birth.h"

#define MSD_STARTER_PATIENCE_MS 10000

struct msd_start;

struct msd_starter {
	pid_t thread_id; /* read-only: to the kernel it is the parent of all; 0: there
			    is none */
	/* private */
	pthread_t thread;
	int to_thread; /* -1: there is no thread */
	int thread_end;
	int error;                       /* why not */
	struct msd_start *first, **last; /* owned: the line; the first is with it */
	uv_poll_t heard;
	uv_timer_t late;
	uv_timer_t soon; /* for who was cancelled */
	uint64_t patience_ms;
	bool is_stuck; /* the first was killed, and has not ended */
};

/**
 * It went so: with @error 0, @pid is a child of the daemon, its program, that is still
 * to be waited for; else an errno, and no process is left. ETIMEDOUT: its exec was not
 * done in time, for its program's disk is away, or somebody keeps it with a lease.
 * EBUSY: an earlier start cannot be ended. Begin others here as you like.
 */
typedef void (*msd_start_fn)(void *user, pid_t pid, int error);

/** Start the thread: before anybody can have passed a descriptor, and after the daemon
 * has given up what its children shall not have. If that fails, each
 * msd_starter_begin() will say why. Its handles do not keep @loop running. */
void msd_starter_open(struct msd_starter *s, uv_loop_t *loop);
/** Start a process as @how says, which is copied, descriptors too. @on_begun comes
 * once, on a later turn. Returns 0, or an errno: then it does not come. */
MSD_MUST_CHECK int msd_starter_begin(struct msd_starter *s,
				     const struct msd_birth_how *how,
				     msd_start_fn on_begun, void *user,
				     struct msd_start **ret);
/** The number of its process, from before that runs; 0: there is none yet. Any thread.
 */
pid_t msd_start_born(const struct msd_start *start);
/** It is wanted no more: on_begun comes soon, on a later turn. In the line it is
 * ECANCELED; one that is with the thread is killed, and may have become its program. */
void msd_starter_cancel(struct msd_starter *s, struct msd_start *start);
/** Nobody waits for it any more: on_begun does not come, and what it made is killed. */
void msd_starter_give_up(struct msd_starter *s, struct msd_start *start);
/** End the thread, and close the handles; no start is waited for any more. One that
 * cannot be killed is left. Children stay the daemon's. Legal when it could not be
 * opened. */
void msd_starter_close(struct msd_starter *s);

#endif

#ifndef MSD_CHILD_STARTER_H
#define MSD_CHILD_STARTER_H
/*
 * Starts processes, on a thread with its own descriptor table (spawn_thread.h). A new
 * process gets a copy of its starter's table. Its exec closes the copies while the
 * starter waits. A peer can make such a close as slow as it likes, for example with a
 * passed file on FUSE. So descriptors for a child are passed to the thread as to
 * another process. No other descriptor of the daemon is ever in a child, with or
 * without FD_CLOEXEC. So this is no thread of daemon/loop/work.h: those have the
 * daemon's table, and a thread cannot return to it.
 *
 * The loop waits for no start: the thread handles one, the rest are queued, and an
 * event reports each result. A start without a program after MSD_STARTER_PATIENCE_MS
 * is killed. While a killed one has not ended, none can be started, and all queued
 * starts fail.
 *
 *   msd_starter_begin() --> (queued) --> (on the thread) --> on_begun
 */
#include <pthread.h>
#include <uv.h>

#include "daemon/child/spawn_thread.h"

#define MSD_STARTER_PATIENCE_MS 10000

struct msd_start;

struct msd_starter {
	pid_t thread_id; /* read-only: for the kernel it is the parent of all children;
			    0: no thread */
	/* private */
	pthread_t thread;
	int to_thread; /* -1: no thread */
	int thread_end;
	int error; /* the cause */
	struct msd_start *first,
		**last; /* owned: the queue; the thread handles the first */
	uv_poll_t heard;
	uv_timer_t late;
	uv_timer_t soon; /* for cancelled starts */
	uint64_t patience_ms;
	bool is_stuck; /* the first was killed, and has not ended */
};

/**
 * Result of a start. @error 0: @pid is a child of the daemon that runs its program,
 * and must be waited for. Otherwise an errno, and no process is left. ETIMEDOUT: its
 * exec did not finish in time, because its disk does not answer, or a process holds a
 * lease on the file. EBUSY: an earlier start cannot be killed. The callback may begin
 * other starts.
 */
typedef void (*msd_start_fn)(void *user, pid_t pid, int error);

/**
 * Start the thread. Call it before any peer can pass a descriptor, and after the
 * daemon has dropped what its children must not have. If it fails, each
 * msd_starter_begin() returns the cause. Its handles do not keep @loop running.
 */
void msd_starter_open(struct msd_starter *s, uv_loop_t *loop);
/**
 * Start a process as @how says, which is copied, with its descriptors. @on_begun is
 * called once, in a later loop iteration. Returns 0, or an errno: then it is not
 * called.
 */
MSD_MUST_CHECK int msd_starter_begin(struct msd_starter *s,
				     const struct msd_spawn_thread_how *how,
				     msd_start_fn on_begun, void *user,
				     struct msd_start **ret);
/** The process id, set before the process runs; 0: none yet. Any thread. */
pid_t msd_start_born(const struct msd_start *start);
/**
 * Cancel the start: on_begun is called soon, in a later loop iteration. A queued
 * start gets ECANCELED. A start on the thread is killed, and may have executed its
 * program.
 */
void msd_starter_cancel(struct msd_starter *s, struct msd_start *start);
/** Drop the start: on_begun is not called, and its process is killed. */
void msd_starter_give_up(struct msd_starter *s, struct msd_start *start);
/**
 * End the thread and close the handles; waits for no start. A process that cannot be
 * killed is left. Children stay the daemon's. Legal if the open failed.
 */
void msd_starter_close(struct msd_starter *s);

#endif

#ifndef MSD_CHILD_REAPER_H
#define MSD_CHILD_REAPER_H
/*
 * Finds, kills and reaps processes that the daemon's children leave behind. A process
 * whose parent is gone becomes a child of the daemon (a subreaper), in any group and
 * session. Each child takes a mark of its own (daemon/mark.h), which its descendants
 * inherit, so the mark identifies the child that a process belongs to. A process that
 * changed its mark is hiding, and is killed when found.
 *
 * Processes with the daemon's own mark were not started by a child of it: they
 * existed before, or entered the container from outside. They are only reaped.
 *
 *   (watched) --msd_reaper_bury()--> (dead, descendants are killed) --> on_alone
 *
 * All calls on the loop's thread, which is the process's first.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "daemon/child/starter.h"
#include "daemon/mark.h"
#include "proto/base/err.h"

/* A watched child. Embedded by its owner; the fields are private. */
struct msd_ward {
	struct msd_ward *next;
	pid_t pid;               /* 0: it is being started */
	struct msd_start *start; /* the pending start; NULL: it has begun */
	struct msd_mark mark;
	bool is_dead, is_waiting, has_heirs;
	uint64_t died_ms; /* value of msd_reaper.looked_ms */
	/**
	 * It has exited and was waited for: @status is that of waitpid(). The owner
	 * must still call msd_reaper_bury(). NULL: the owner waits for the process
	 * itself.
	 */
	void (*on_ended)(struct msd_ward *w, int status);
	/** It has exited, and no process that it started is left. May forget it. */
	void (*on_alone)(struct msd_ward *w);
};

struct msd_reaper_left;

struct msd_reaper {
	uv_loop_t *loop;
	struct msd_starter starter; /* starts its children */
	/* private */
	struct msd_ward *wards;
	struct msd_reaper_left *left; /* owned: children that outlive the daemon */
	struct msd_mark unmarked;     /* the daemon's own */
	uint64_t n_marked;
	bool has_strays; /* the last scan killed processes with an unknown mark */
	uv_signal_t sigchld;
	uv_timer_t again;
	/*
	 * Files in /proc: the children of the first thread, which gets orphans, and
	 * of the starter's thread, which gets processes that a child has made its
	 * siblings.
	 */
	int list_fds[2];
	uint64_t next_ms; /* no scan before this time, to limit the loop's time */
	/* Total scan time; waits for a processor do not count. */
	uint64_t looked_ms, last_ms;
	uint64_t give_up_ms; /* after a death; a test may change it */
};

/**
 * Become a subreaper, add handles to @loop that keep it running while a child with
 * on_ended() lives, and open the starter.
 */
void msd_reaper_init(struct msd_reaper *r, uv_loop_t *loop);
/** Make a mark for a child, which must take it before anything else. */
struct msd_mark msd_reaper_new_mark(struct msd_reaper *r);
/** Watch the child @pid, whose mark is @mark. */
void msd_reaper_watch(struct msd_reaper *r, struct msd_ward *w, pid_t pid,
		      struct msd_mark mark);
/**
 * Register the child that @start makes, whose mark will be @mark. Valid until
 * msd_reaper_on_begun(), or msd_reaper_forget(), which drops the start.
 */
void msd_reaper_await(struct msd_reaper *r, struct msd_ward *w, struct msd_start *start,
		      struct msd_mark mark);
/**
 * The start has made the child @pid, which is watched now; on_ended() may be called
 * before this returns.
 */
void msd_reaper_on_begun(struct msd_reaper *r, struct msd_ward *w, pid_t pid);
/**
 * The child has exited and was waited for: kill its descendants, then call on_alone,
 * perhaps before this returns. Processes that cannot be killed are given up after
 * five seconds of scans.
 */
void msd_reaper_bury(struct msd_reaper *r, struct msd_ward *w);
/** Stop watching it. Legal if it was never watched. */
void msd_reaper_forget(struct msd_reaper *r, struct msd_ward *w);
/**
 * Stop watching it, and let it and its descendants outlive the daemon. MSD_NOMEM: it
 * is still watched. Legal if it was never watched.
 */
MSD_MUST_CHECK msd_err msd_reaper_leave(struct msd_reaper *r, struct msd_ward *w);
/**
 * Kill all children and their descendants, and close the handles and the starter; the
 * loop must have ended. Waits for them for a limited time.
 */
void msd_reaper_close(struct msd_reaper *r);

#endif

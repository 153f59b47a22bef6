#ifndef MSD_CHILD_REAPER_H
#define MSD_CHILD_REAPER_H
/*
 * What the daemon's children leave behind is found, killed and reaped. A process whose
 * parent is gone becomes a child of the daemon (a subreaper), whatever its group and
 * session. Whose it was tells the mark (daemon/mark.h) that each child takes, one of
 * its own, and all that it starts inherits. Whoever changed it hides, and is killed at
 * sight.
 *
 * What has the daemon's own mark was not started by a child of it (it was there
 * before, or came into the container from outside) and is only reaped.
 *
 *   (watched) --msd_reaper_bury()--> (dead, its heirs are killed) --> on_alone
 *
 * All calls on the loop's thread, which is the process's first.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "daemon/child/starter.h"
#include "daemon/mark.h"
#include "proto/err.h"

/* A child that is watched. Embedded by what has it; the fields are private. */
struct msd_ward {
	struct msd_ward *next;
	pid_t pid;               /* 0: it is being started */
	struct msd_start *start; /* the same; NULL: it has begun */
	struct msd_mark mark;
	bool is_dead, is_waiting, has_heirs;
	uint64_t died_ms; /* of msd_reaper.looked_ms */
	/** It has exited, and was waited for: @status is that of waitpid(). Its
	 * msd_reaper_bury() is still to come. NULL: who watches it waits for it. */
	void (*on_ended)(struct msd_ward *w, int status);
	/** It has exited, and nothing that it started is left. May forget it. */
	void (*on_alone)(struct msd_ward *w);
};

struct msd_reaper_left;

struct msd_reaper {
	uv_loop_t *loop;
	struct msd_starter starter; /* of its children */
	/* private */
	struct msd_ward *wards;
	struct msd_reaper_left *left; /* owned: who outlives the daemon */
	struct msd_mark unmarked;     /* the daemon's own */
	uint64_t n_marked;
	bool has_strays; /* the last look killed some that have nobody's mark */
	uv_signal_t sigchld;
	uv_timer_t again;
	/* Of /proc: the children of the first thread, to which orphans come, and of the
	 * starter's, to which those come that a child has made its siblings. */
	int list_fds[2];
	uint64_t next_ms; /* no look before it: looking costs the loop little */
	/* How long it has been looking; a wait for a processor does not count. */
	uint64_t looked_ms, last_ms;
	uint64_t give_up_ms; /* after a death; a test may change it */
};

/** Become a subreaper, with handles on @loop that keep it running while a child with
 * on_ended() lives, and open the starter. */
void msd_reaper_init(struct msd_reaper *r, uv_loop_t *loop);
/** A mark for a child, which is to take it before anything else. */
struct msd_mark msd_reaper_new_mark(struct msd_reaper *r);
/** Watch the child @pid, whose mark is @mark. */
void msd_reaper_watch(struct msd_reaper *r, struct msd_ward *w, pid_t pid,
		      struct msd_mark mark);
/** Know the child that @start makes, whose mark will be @mark, until
 * msd_reaper_on_begun() or msd_reaper_forget(), which gives the start up. */
void msd_reaper_await(struct msd_reaper *r, struct msd_ward *w, struct msd_start *start,
		      struct msd_mark mark);
/** It is the child @pid, and is watched; on_ended() may come before this returns. */
void msd_reaper_on_begun(struct msd_reaper *r, struct msd_ward *w, pid_t pid);
/** The child has exited and was waited for: end what it started, then on_alone, perhaps
 * before this returns. What cannot be killed is given up after five seconds of
 * looking. */
void msd_reaper_bury(struct msd_reaper *r, struct msd_ward *w);
/** It is watched no more. Legal when it never was. */
void msd_reaper_forget(struct msd_reaper *r, struct msd_ward *w);
/** It is watched no more, and shall live on when the daemon ends, as all that it has
 * started. MSD_NOMEM: it is watched still. Legal when it never was. */
MSD_MUST_CHECK msd_err msd_reaper_leave(struct msd_reaper *r, struct msd_ward *w);
/** Kill all that is left of all children, the children included, and close the handles
 * and the starter; the loop has ended. Waits for them, but not for long. */
void msd_reaper_close(struct msd_reaper *r);

#endif

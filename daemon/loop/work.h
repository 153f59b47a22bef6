#ifndef MSD_WIRE_WORK_H
#define MSD_WIRE_WORK_H
/*
 * One pool of threads for work that takes longer than the loop can wait. It does not
 * use libuv's pool: libuv makes that at the first use, and aborts the process if it
 * cannot. Threads belong to a class, and no job of a class waits for another class:
 *
 *   INTERACTIVE  short work that a client waits for: JSON, steps of TLS handshakes,
 *                memory for the tensors of a call
 *   BULK         work in proportion to a file's bytes, or that waits for a disk:
 *                hashing 45 MiB takes a tenth of a second. Its threads have
 *                MSD_WORK_NICE: at the loop's priority, one call in fifty waited 3 ms
 *                for such a thread.
 *   RELEASE      frees our own memory and files, which always ends
 *   CLOSE        closes descriptors of peers, which may sleep. A sleep that a signal
 *                ends (SO_LINGER, a serial line) ends after MSD_WORK_WAKE_US.
 *
 * A lane holds jobs of one kind, and limits how many of them are on threads. So jobs
 * that hang cost the threads of their lane, never those of others; a lane of one
 * thread runs its jobs in order. Lanes of a class take turns; owners take turns in a
 * lane, independent of their numbers of jobs.
 *
 *   msd_work_begin() --> (waits) --thread--> run() --loop--> done(), once, later
 *   msd_work_submit() --> (waits) --thread--> run(), which may free the job
 *
 * msd_work_open() makes the permanent threads of a class. So all its work is done even
 * if the user has no thread left. A class adds threads while its own are busy, up to
 * its limit. Extra threads end when there is no work.
 */
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/loop/list.h"
#include "proto/base/err.h"

enum msd_work_class {
	MSD_WORK_INTERACTIVE,
	MSD_WORK_BULK,
	MSD_WORK_RELEASE,
	MSD_WORK_CLOSE,
	MSD_WORK_CLASSES
};

struct msd_work_lane {
	enum msd_work_class class;
	unsigned most;   /* jobs at a time, until their done(); 0: no limit */
	unsigned of_one; /* jobs of one owner on threads; 0: no limit */
	/* Private. */
	struct msd_list link;    /* in its class while jobs wait */
	struct msd_list waiting; /* msd_work.link, ordered by round */
	struct msd_list running;
	unsigned n_waiting, n_running;
	uint64_t turn; /* round of the last started job */
};

/* Initial value of the static lane @l; others use msd_work_lane_init(). */
#define MSD_WORK_LANE(l, CLASS, MOST, OF_ONE)                                          \
	{                                                                              \
		.class = (CLASS), .most = (MOST), .of_one = (OF_ONE),                  \
		.link = {&(l).link, &(l).link},                                        \
		.waiting = {&(l).waiting, &(l).waiting},                               \
		.running = {&(l).running, &(l).running},                               \
	}

/* Embedded in the object that needs the work. */
struct msd_work {
	void (*run)(struct msd_work *w);  /* called on a thread */
	void (*done)(struct msd_work *w); /* called on the loop; may free @w */
	struct msd_work_lane *lane;       /* must outlive the job */
	uint64_t owner;                   /* number of a peer; 0: the daemon itself */
	bool is_begun; /* read-only, loop's thread: from msd_work_begin() until done()
			*/
	/* Private. */
	bool is_waiting;
	struct msd_list link;
	uint64_t turn;
};

void msd_work_lane_init(struct msd_work_lane *lane, enum msd_work_class class,
			unsigned most);
/**
 * Make @n_stay permanent threads of @class, which may have @n_more extra ones. Returns
 * 0, or an errno if the system refuses a thread. Call it before any work. Without it,
 * as in tests, a class makes threads on demand.
 */
MSD_MUST_CHECK int msd_work_open(enum msd_work_class class, unsigned n_stay,
				 unsigned n_more);
/**
 * Close the handle on the loop, which must not be busy. Threads stay for the next
 * loop.
 */
void msd_work_close(void);
/**
 * Queue @w, whose public fields are set. It must not move until done(), which is
 * called on @loop, and may queue it again. Loop's thread only.
 */
void msd_work_begin(uv_loop_t *loop, struct msd_work *w);
/** Queue @w, whose done() is not set: run() is the last use of it. Any thread. */
void msd_work_submit(struct msd_work *w);
/** A thread for @lane may have been refused: try again if one is missing. Any thread.
 */
void msd_work_retry(struct msd_work_lane *lane);
/**
 * Remove @w from the queue: its done() is not called. False if a thread has it, and
 * done() follows. True, too, if it was not begun. Loop's thread only.
 */
bool msd_work_cancel(struct msd_work *w);
/**
 * The owner of @w no longer waits: @dropped is called in place of done(), at once if
 * no thread has it. Loop's thread only.
 */
void msd_work_leave(struct msd_work *w, void (*dropped)(struct msd_work *w));
/** True if jobs are begun and not done: the loop may not be closed. */
bool msd_work_is_busy(void);

#define MSD_WORK_STAY_INTERACTIVE 6u /* two each for JSON, handshakes and segments */
#define MSD_WORK_STAY_BULK 4u
#define MSD_WORK_STAY_RELEASE 1u
#define MSD_WORK_MOST_RELEASE 8u
#define MSD_WORK_MOST_CLOSE 40u /* daemon/loop/closer.h */
#define MSD_WORK_NICE 10        /* added to the process's nice value */
#define MSD_WORK_WAKE_US 500u

#endif

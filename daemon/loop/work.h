#ifndef MSD_WIRE_WORK_H
#define MSD_WIRE_WORK_H
/*
 * Thread pools for work that takes longer than the loop can wait. They do not use
 * libuv's pool: libuv makes that at the first use, and aborts the process if it
 * cannot. There are two pools, and no job of one waits for a job of the other:
 *
 *   PROMPT  short work that a client waits for: JSON, steps of TLS handshakes, memory
 *           for the tensors of a call
 *   BULK    work in proportion to a file's bytes, or that waits for a disk: hashing
 *           45 MiB takes a tenth of a second. Its threads have MSD_WORK_NICE: at the
 *           loop's priority, one call in fifty waited 3 ms for such a thread.
 *
 *   (begun) --thread--> run() --loop--> done() is called once, in a later iteration
 *
 * msd_work_open() makes MSD_WORK_STAY permanent threads in each pool. So all work is
 * done even if the user has no thread left. A pool adds threads while all of its own
 * are busy, up to the limit of msd_work_open(). Extra threads end when there is no
 * work.
 *
 * Owners share a pool fairly. One owner has at most MSD_WORK_OF_ONE jobs on threads
 * of a pool. MSD_WORK_OWN, the daemon itself, may use all threads.
 */
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/loop/list.h"
#include "proto/base/err.h"

enum msd_work_pool { MSD_WORK_PROMPT, MSD_WORK_BULK, MSD_WORK_POOLS };

/* Embedded in the object that needs the work. */
struct msd_work {
	void (*run)(struct msd_work *w);  /* called on a thread */
	void (*done)(struct msd_work *w); /* called on the loop; may free @w */
	enum msd_work_pool pool;
	uint64_t owner; /* number of a peer, or a value below */
	/* Private. */
	struct msd_list link;
	uint64_t turn;
};

#define MSD_WORK_OWN UINT64_MAX            /* the daemon's own work */
#define MSD_WORK_SEGMENTS (UINT64_MAX - 1) /* memory for calls, of all modules */

/**
 * Make the permanent threads; done() is called on @loop. BULK may have @n_more extra
 * threads. Returns 0, or an errno if the system refuses a thread. Call it on the
 * loop's thread, before any work. Without it, as in tests, a pool makes threads on
 * demand.
 */
MSD_MUST_CHECK int msd_work_open(uv_loop_t *loop, unsigned n_more);
/**
 * Close the handle on the loop, which must not be busy. Threads stay for the next
 * loop.
 */
void msd_work_close(void);
/**
 * Queue @w, whose public fields are all set; owners are scheduled fairly. @w must not
 * move until done(), where it may be queued again. Loop's thread only.
 */
void msd_work_begin(uv_loop_t *loop, struct msd_work *w);
/** True if jobs are unfinished: the loop may not be closed. Loop's thread only. */
bool msd_work_is_busy(void);

#define MSD_WORK_STAY_PROMPT 6u /* two each for JSON, handshakes and segments */
#define MSD_WORK_STAY_BULK 4u
#define MSD_WORK_OF_ONE 2u
#define MSD_WORK_NICE 10 /* added to the process's nice value */

#endif

#ifndef MSD_WIRE_WORK_H
#define MSD_WIRE_WORK_H
/*
 * Threads for work that takes longer than the loop can wait. They have nothing to do
 * with libuv's pool: libuv makes that at the first use, and aborts the process if it
 * cannot. There are two pools, and no job of one waits for a job of the other:
 *
 *   PROMPT  short work that a client waits for: JSON, steps of TLS handshakes, memory
 *           for the tensors of a call
 *   BULK    work in proportion to a file's bytes, or that waits for a disk: hashing
 *           45 MiB takes a tenth of a second. Its threads have MSD_WORK_NICE: at the
 *           loop's priority, one call in fifty waited 3 ms for such a thread.
 *
 *   (begun) --thread--> run() --loop--> done() is called, once, on a later turn
 *
 * msd_work_open() makes MSD_WORK_STAY threads of each pool, and these live as long as
 * the process: a user without a thread left still has all work done. A pool adds
 * threads while all of its own are busy, as far as msd_work_open() allows, and these
 * end when there is nothing to do.
 *
 * Owners take turns. One owner has MSD_WORK_OF_ONE jobs on threads of a pool at a time;
 * MSD_WORK_OWN, the daemon itself, has as many as there are threads.
 */
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/wire/list.h"
#include "proto/err.h"

enum msd_work_pool { MSD_WORK_PROMPT, MSD_WORK_BULK, MSD_WORK_POOLS };

/* Embedded in the object that needs the work. */
struct msd_work {
	void (*run)(struct msd_work *w);  /* on a thread */
	void (*done)(struct msd_work *w); /* on the loop; it may free @w */
	enum msd_work_pool pool;
	uint64_t owner; /* a number that stands for a peer, or one of these below */
	/* Private. */
	struct msd_list link;
	uint64_t turn;
};

#define MSD_WORK_OWN UINT64_MAX            /* the daemon's own work */
#define MSD_WORK_SEGMENTS (UINT64_MAX - 1) /* memory for calls, of all modules */

/**
 * Make the threads that stay; done() is called on @loop. BULK may have @n_more threads
 * beside them. Returns 0, or an errno: the system refuses a thread. The loop's thread,
 * before any work. Without it, as in tests, a pool makes threads when it has work.
 */
MSD_MUST_CHECK int msd_work_open(uv_loop_t *loop, unsigned n_more);
/** Close the handle on the loop, which is not busy. Threads stay for the next loop. */
void msd_work_close(void);
/** Do @w, of which all public fields are set, in its owner's turn; @w stays where it is
 * until done(), where it may be begun again. The loop's thread. */
void msd_work_begin(uv_loop_t *loop, struct msd_work *w);
/** Some that were begun are not done: the loop may not be closed. Its thread. */
bool msd_work_is_busy(void);

#define MSD_WORK_STAY_PROMPT 6u /* two each for JSON, handshakes and segments */
#define MSD_WORK_STAY_BULK 4u
#define MSD_WORK_OF_ONE 2u
#define MSD_WORK_NICE 10 /* more than the process */

#endif

#ifndef MSD_SUPERVISOR_KEEPER_H
#define MSD_SUPERVISOR_KEEPER_H
/*
 * The daemon's store, behind its loop: whatever touches the disk is a job, done on a
 * thread (work.h), one after the other, so that a disk that hangs stops nobody but who
 * waits for it.
 *
 * Happy path of a job: submitted, worked on, done.
 * Failures: a job that had not begun when the daemon ends is done with MSD_DRAINING.
 */
#include <uv.h>

#include "daemon/wire/list.h"
#include "daemon/wire/work.h"
#include "store/store.h"

struct msd_keeper;

/* Embedded by who wants something done, and its again in done(). */
struct msd_keeper_job {
	/** On a thread; nothing else touches the store meanwhile. It fills err and d.
	 */
	void (*work)(struct msd_keeper_job *job, struct msd_keeper *k);
	/** On the loop, once. */
	void (*done)(struct msd_keeper_job *job, struct msd_keeper *k);
	msd_err err;
	struct msd_diag d;    /* the job's; done() finishes it */
	struct msd_list link; /* msd_keeper.jobs */
};

struct msd_keeper {
	uv_loop_t *loop;
	struct msd_store store;
	uint64_t max_bytes;   /* of all that is stored */
	struct msd_list jobs; /* msd_keeper_job.link: the first one is worked on */
	struct msd_work work; /* of the first one */
	bool is_open, is_working;
	/** Nothing is left to do. */
	void (*on_idle)(struct msd_keeper *k);
};

/** Open the store in the folder @path, of at most @max_bytes (0: any), before the loop
 * runs: the one time that it is waited for. Errors: those of msd_store_open(). */
MSD_MUST_CHECK msd_err msd_keeper_open(struct msd_keeper *k, uv_loop_t *loop,
				       const char *path, uint64_t max_bytes,
				       struct msd_diag *d);
/** Take @job, behind those that are there. */
void msd_keeper_submit(struct msd_keeper *k, struct msd_keeper_job *job);
/** Whether a job is left. */
bool msd_keeper_is_busy(const struct msd_keeper *k);
/** Drop what was not begun, wait for what was, close the store. Legal when it was never
 * opened. */
void msd_keeper_close(struct msd_keeper *k);

#endif

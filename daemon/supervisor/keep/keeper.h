#ifndef MSD_SUPERVISOR_KEEPER_H
#define MSD_SUPERVISOR_KEEPER_H

/*
 * The daemon's store, decoupled from the loop. Each disk access is a job on a thread
 * (work.h), one job at a time. A hanging disk blocks only the requests that wait for
 * it.
 *
 * Happy path of a job: submitted, run, done. Failures: a job that has not started
 * when the daemon stops is done with MSD_DRAINING.
 */

#include <uv.h>

#include "daemon/loop/list.h"
#include "daemon/loop/work.h"
#include "proto/base/bytes.h"
#include "proto/limits.h"
#include "store/store.h"

struct msd_keeper;
struct msd_keeper_job;

typedef void (*msd_keeper_call)(struct msd_keeper_job *job, struct msd_keeper *k);

/* Embedded by the caller; done() returns it to the caller. */
struct msd_keeper_job {
	msd_err err;
	struct msd_diag d; /* of the job; done() frees it */
	/* Private. */
	msd_keeper_call work, done;
	struct msd_keeper *keeper;
	struct msd_list link; /* msd_keeper.jobs */
	struct msd_work step;
};

struct msd_keeper {
	uv_loop_t *loop;
	struct msd_store store;
	uint64_t max_bytes;        /* size limit of the store */
	struct msd_list jobs;      /* msd_keeper_job.link: unfinished, in order */
	struct msd_work_lane lane; /* runs one at a time */
	bool is_open;
	/** The queue is empty. */
	void (*on_idle)(struct msd_keeper *k);
};

/**
 * Open the store in the folder @path, with at most @max_bytes (0: unlimited), before
 * the loop runs. It is the only function here that blocks on the disk. Errors: those
 * of msd_store_open().
 */
MSD_MUST_CHECK msd_err msd_keeper_open(struct msd_keeper *k, uv_loop_t *loop,
				       const char *path, uint64_t max_bytes,
				       struct msd_diag *d);
/**
 * Append @job to the queue. @work runs on a thread with exclusive access to the store,
 * and sets err and d. Then @done runs on the loop, once.
 */
void msd_keeper_submit(struct msd_keeper *k, struct msd_keeper_job *job,
		       msd_keeper_call work, msd_keeper_call done);
/** True if the queue is not empty. */
bool msd_keeper_is_busy(const struct msd_keeper *k);
/**
 * Drop jobs that have not started, wait for the running one, close the store. Allowed
 * if it was never opened.
 */
void msd_keeper_close(struct msd_keeper *k);

/* Administrative jobs on the store: list, verify, collect, pin. They run in the
 * keeper's queue between other jobs. */

enum msd_store_maintenance_what {
	MSD_STORE_MAINTENANCE_LIST,    /* a page of the editions after `name` */
	MSD_STORE_MAINTENANCE_VERIFY,  /* the files of the first module after `name` */
	MSD_STORE_MAINTENANCE_COLLECT, /* remove unused files */
	MSD_STORE_MAINTENANCE_PIN,     /* the module `name` */
	MSD_STORE_MAINTENANCE_UNPIN
};

/* Embedded by the caller. */
struct msd_store_maintenance {
	struct msd_keeper_job job; /* its err and d are the result */
	enum msd_store_maintenance_what what;
	char name[MSD_MAX_NAME_BYTES + 1]; /* module; empty: before the first one */
	struct msd_buf result; /* one msgpack object (store/inventory.h); owner frees */
};

/**
 * Submit the job; @done is called after success, or with the errors of
 * store/inventory.h.
 */
void msd_store_maintenance(struct msd_keeper *keeper,
			   struct msd_store_maintenance *care, msd_keeper_call done);

#endif

#ifndef MSD_SUPERVISOR_BACKGROUND_JOB_H
#define MSD_SUPERVISOR_BACKGROUND_JOB_H
/*
 * Background jobs: long work that needs nothing from the loop runs on threads
 * (work.h). At most one job per connection runs at a time, and at most two of each
 * kind, so that other jobs find a thread, too. The queue is fair between peers,
 * independent of their number of connections; the jobs of one peer run in order of
 * arrival.
 */
#include <uv.h>

#include "daemon/loop/list.h"
#include "daemon/loop/work.h"
#include "daemon/supervisor/request/peer_id.h"

struct msd_background_jobs {
	uv_loop_t *loop;
	struct msd_list waiting; /* msd_background_job.link, sorted by slot */
	uint64_t turn;           /* slot of the last job that started */
	unsigned n_running;
};

/* Embedded in the object that it works on, which must live until it is done. */
struct msd_background_job {
	struct msd_list link;
	struct msd_background_jobs *all;
	struct msd_work work;
	/** Runs on a thread. */
	void (*run)(struct msd_background_job *c);
	/** Runs on the loop when run() has finished. */
	void (*on_done)(struct msd_background_job *c);
	bool is_busy; /* until on_done */
	struct msd_peer_id who;
	uint64_t turn;
};

void msd_background_jobs_init(struct msd_background_jobs *all, uv_loop_t *loop);
/** Queue @c for @who; run and on_done must be set. */
void msd_background_job_begin(struct msd_background_jobs *all,
			      struct msd_background_job *c, struct msd_peer_id who);
/** True if it is on a thread, and its on_done has not run yet. */
bool msd_background_job_is_running(const struct msd_background_job *c);
/**
 * Remove it from the queue if it waits there; its on_done is not called. It must not
 * be running.
 */
void msd_background_job_leave(struct msd_background_job *c);

#endif

#ifndef MSD_SUPERVISOR_WAITERS_H
#define MSD_SUPERVISOR_WAITERS_H
/*
 * Requests that wait for the same event: more log text, a call, a READY module. When
 * it happens they are answered one at a time: the first at once, the rest by a task. A
 * peer may have hundreds of thousands of waiting requests, and other clients need not
 * wait until all of them are answered.
 */
#include "daemon/supervisor/request/request.h"

struct msd_waiters {
	struct msd_list waiting; /* msd_req.link */
	struct msd_list told;    /* msd_req.link: requests whose event has happened */
	struct msd_tasks *tasks;
	struct msd_task next; /* queued while `told` may not be empty */
	/** Answer and free @r, or let it wait again with msd_waiters_wait(). */
	void (*tell)(struct msd_waiters *f, struct msd_req *r);
	/** `told` is empty: called only by the loop, and may free @f. Optional. */
	void (*on_told)(struct msd_waiters *f);
};

void msd_waiters_init(struct msd_waiters *f, struct msd_tasks *tasks,
		      void (*tell)(struct msd_waiters *f, struct msd_req *r));
/** Call it when no request waits; no callback runs after this. */
void msd_waiters_finish(struct msd_waiters *f);
/** Add @r, which is taken, to the waiting requests. */
void msd_waiters_wait(struct msd_waiters *f, struct msd_req *r);
/** The event has happened: answer all waiting requests. */
void msd_waiters_tell(struct msd_waiters *f);
/** True if a request waits or is not answered yet. */
static inline bool msd_waiters_are_there(const struct msd_waiters *f)
{
	return !msd_list_is_empty(&f->waiting) || !msd_list_is_empty(&f->told);
}
/** True if some requests may not be answered yet; on_told() is called when they are. */
static inline bool msd_waiters_are_behind(const struct msd_waiters *f)
{
	return msd_task_is_queued(&f->next);
}

#endif

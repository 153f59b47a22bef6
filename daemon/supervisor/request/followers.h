#ifndef MSD_SUPERVISOR_FOLLOWERS_H
#define MSD_SUPERVISOR_FOLLOWERS_H
/*
 * Requests that wait for the same to happen: more of a log, a call, a module that is
 * there. When it does they are told one at a time, the first at once and the others by
 * a deadline of no time: who has deadlines shares a turn of the loop with the others,
 * by time. A peer may have hundreds of thousands waiting, and nobody else waits for all
 * of them to be answered.
 */
#include "daemon/supervisor/request/request.h"

struct msd_followers {
	struct msd_list waiting; /* msd_req.link */
	struct msd_list told;    /* likewise: for whom it has happened */
	struct msd_deadlines *deadlines;
	struct msd_deadline next; /* set while some may be left in `told` */
	/** Answer and free @r, or let it wait on: msd_followers_wait(). */
	void (*tell)(struct msd_followers *f, struct msd_req *r);
	/** Nobody is left in `told`: run by the loop alone, and may free @f. Optional.
	 */
	void (*on_told)(struct msd_followers *f);
};

void msd_followers_init(struct msd_followers *f, struct msd_deadlines *deadlines,
			void (*tell)(struct msd_followers *f, struct msd_req *r));
/** Nobody waits, and nothing is told any more. */
void msd_followers_finish(struct msd_followers *f);
/** @r waits from here on; it is taken. */
void msd_followers_wait(struct msd_followers *f, struct msd_req *r);
/** It has happened: whoever waits is told. */
void msd_followers_tell(struct msd_followers *f);
/** There is somebody: it waits, or has not been told yet. */
static inline bool msd_followers_are_there(const struct msd_followers *f)
{
	return !msd_list_is_empty(&f->waiting) || !msd_list_is_empty(&f->told);
}
/** Some may not have been told yet; on_told() will say when they are. */
static inline bool msd_followers_are_behind(const struct msd_followers *f)
{
	return msd_deadline_is_set(&f->next);
}

#endif

#ifndef MSD_WORKER_BUSY_POLL_H
#define MSD_WORKER_BUSY_POLL_H
/*
 * Busy polling for the next request of a direct peer: while proto/base/spin.h allows
 * it, the loop runs without sleeping, and handles all other events as usual. Used only
 * after a direct peer's request: requests from the supervisor have wake-ups there
 * anyway, and the supervisor needs a processor itself.
 */
#include "daemon/worker/worker.h"

/** Call before the other functions; polling is off at first. */
void msd_busy_poll_init(struct msd_worker *w, uv_loop_t *loop);
/**
 * Allow polling for up to @most_us per wait, if the process has more than one
 * processor. It reads files for that, so call it before the sandbox hides them.
 */
void msd_busy_poll_allow(struct msd_worker *w, uint64_t most_us);
/** A request runs, @is_guests if from a direct peer: the wait is over. */
static inline void msd_busy_poll_run(struct msd_worker *w, bool is_guests)
{
	if (!msd_spin_is_on(&w->spinning.spin))
		return;
	msd_spin_end(&w->spinning.spin, w->last_pause_ns);
	w->spinning.has_run = true;
	w->spinning.is_guests = is_guests;
}
/** All work is done, and the loop is about to wait. */
void msd_busy_poll_wait(struct msd_worker *w);

#endif

#ifndef MSD_WORKER_SPINNING_H
#define MSD_WORKER_SPINNING_H
/*
 * How the worker waits for a guest's next request: while proto/spin.h says so, its loop
 * goes round without sleeping, and looks at all that it looks at anyhow, so that
 * nothing is late for it. Only behind a guest's: what comes through the supervisor has
 * its wake-ups there, and the supervisor wants a processor itself.
 */
#include "daemon/worker/worker.h"

/** Before any other of these; it always sleeps. */
void msd_spinning_init(struct msd_worker *w, uv_loop_t *loop);
/** From now on it may look for @most_us of a wait, where more than one processor is its
 * own: read from files, so before those are out of reach. */
void msd_spinning_allow(struct msd_worker *w, uint64_t most_us);
/** A request is run, a guest's or not: whoever waited for one waits no more. */
static inline void msd_spinning_run(struct msd_worker *w, bool is_guests)
{
	if (!msd_spin_is_on(&w->spinning.spin))
		return;
	msd_spin_end(&w->spinning.spin, w->last_pause_ns);
	w->spinning.has_run = true;
	w->spinning.is_guests = is_guests;
}
/** All is done that can be, and the loop is about to wait. */
void msd_spinning_wait(struct msd_worker *w);

#endif

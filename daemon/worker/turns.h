#ifndef MSD_WORKER_TURNS_H
#define MSD_WORKER_TURNS_H
/*
 * Whose request is next. Peers take turns, in rounds: however many of each wait, the
 * first of each comes before the second of any; the supervisor speaks for many, and so
 * has several turns in a guest's one. Of one peer requests keep their order.
 *
 * Turns are not saved up: who had nothing to ask for, or was passed over because it
 * reads no answers, goes on in the round that is now.
 */
#include "daemon/worker/worker.h"

/** @r, which is in no list, waits. */
void msd_turns_put(struct msd_worker *w, struct msd_request *r);
/** @r, which waits, is the one that runs: its round is now. */
void msd_turns_begin(struct msd_worker *w, const struct msd_request *r);
/** @r waits no more and was not run: its turn is its peer's next one's. */
void msd_turns_give_back(const struct msd_request *r);
/** Whose turn it is, or NULL: nobody's that reads its answers. */
struct msd_request *msd_turns_next(struct msd_worker *w);

#endif

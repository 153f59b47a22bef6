#ifndef MSD_WORKER_BATCH_H
#define MSD_WORKER_BATCH_H
/*
 * Calls that run as one. A module that was opened with a batch gets calls of one
 * function joined: their tensors are laid behind each other along the first extent, the
 * function runs once, and each call is answered with its own rows of the result.
 *
 *   alone       what is no call of a function whose tensors all begin with the same
 *               unknown extent (msd_signature_has_batch()), which returns its results
 *   joined      the first calls of the queue that are of one such function, with
 * tensors of the same dtypes and further extents, while their rows are not too many
 *   waiting     the same, as long as nothing else is in the queue, for `within`
 *
 * A call with a deadline takes no more rows behind it than are expected to be done with
 * it in half of the time that is left, for they may have to run apart then. It is the
 * one that overruns when they take longer, for which the worker is ended and its client
 * barred (daemon/supervisor/module/bars.h), and they are others'.
 *
 * The order of requests stays: nothing is taken from behind what cannot be joined. A
 * joined call that fails is run again as the calls that it was made of, and a function
 * whose results do not have as many rows as its arguments is not joined again.
 */
#include "daemon/worker/worker.h"

/** Make the timer. Nothing is joined until @w->batch.most_rows says how much. */
void msd_batch_init(struct msd_worker *w, uv_loop_t *loop, uv_timer_cb on_due);
/** Where calls wait for others: whether the queue, which is not empty, is to wait for
 * more of what it has; then its timer is set. */
MSD_MUST_CHECK bool msd_batch_waits(struct msd_worker *w);
/** Where calls are joined: run the first requests of the queue as one, answer them, and
 * take them out of it; false: the first is to be run alone. */
MSD_MUST_CHECK bool msd_batch_run(struct msd_worker *w);
/** The first request @r, which was to be run alone, took @ns, and was answered. */
void msd_batch_learn(struct msd_worker *w, const struct msd_request *r, uint64_t ns);

#endif

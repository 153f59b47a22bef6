#ifndef MSD_WORKER_BATCH_H
#define MSD_WORKER_BATCH_H
/*
 * Joined calls. In a module that was opened with a batch, calls of one function run
 * together: their tensors are concatenated along the first extent, the function runs
 * once, and each reply gets its rows of the result.
 *
 *   alone       a call of a function without a common unknown first extent in all
 *               tensors (msd_signature_has_batch()), or without returned results
 *   joined      the first calls of the queue, of one such function, with tensors of
 *               the same dtypes and further extents, up to the limit of rows
 *   waiting     such calls, as long as nothing else is in the queue, for `within`
 *
 * A call with a deadline is joined only with as many rows as are expected to finish
 * in half of the time left, because the calls may then have to run separately. If the
 * joint run takes longer, that call overruns: its worker is ended and its client
 * barred (daemon/supervisor/module/queue/bans.h), although the rows belong to other
 * clients.
 *
 * The order of requests is kept: no request overtakes one that cannot be joined. If a
 * joint run fails, its calls run again separately. A function whose results do not
 * have as many rows as its arguments is not joined again.
 */
#include "daemon/worker/worker.h"

/** Make the timer. No calls are joined until @w->batch.most_rows is set. */
void msd_batch_init(struct msd_worker *w, uv_loop_t *loop, uv_timer_cb on_due);
/**
 * If calls may wait to be joined: true if the queue of @first, the next request, must
 * wait for more calls; then its timer is set.
 */
MSD_MUST_CHECK bool msd_batch_waits(struct msd_worker *w, struct msd_request *first);
/**
 * If calls may be joined: run @first, the next request, and those behind it as one,
 * answer and remove them. False: run the first one alone.
 */
MSD_MUST_CHECK bool msd_batch_run(struct msd_worker *w, struct msd_request *first);
/** The first request @r, which was to run alone, took @ns and was answered. */
void msd_batch_learn(struct msd_worker *w, const struct msd_request *r, uint64_t ns);

#endif

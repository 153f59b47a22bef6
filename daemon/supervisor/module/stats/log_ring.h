#ifndef MSD_SUPERVISOR_LOG_RING_H
#define MSD_SUPERVISOR_LOG_RING_H
/*
 * The latest output of a module's workers to standard output and error, kept in
 * msd_module.log. Every byte has a position, counted from the first byte ever
 * written. A client that follows the log names the position to continue from.
 */
#include "daemon/supervisor/module/life/module.h"

/** Append output of a worker, and answer the followers. */
void msd_log_ring_put(struct msd_module *m, const char *p, size_t n);
/**
 * Append the kept output from position @from on; 0: all of it. Returns the position
 * of its first byte, which is later if older output is lost. A @from beyond the end
 * means the end.
 */
uint64_t msd_log_ring_read(const struct msd_module *m, uint64_t from,
			   struct msd_buf *out);
/** Append the answer for a follower at @from: {text, from, next}. */
void msd_log_ring_put_answer(const struct msd_module *m, uint64_t from,
			     struct msd_buf *out);
/**
 * Answer @r when there is output beyond the current end, or after @wait_ms with none.
 * Takes @r. False: out of memory, and the caller keeps @r.
 */
MSD_MUST_CHECK bool msd_log_ring_follow(struct msd_module *m, struct msd_req *r,
					uint64_t wait_ms);
/** Callback of msd_module.followers. */
void msd_log_ring_tell(struct msd_waiters *f, struct msd_req *r);

#endif

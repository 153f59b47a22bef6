#ifndef MSD_SUPERVISOR_LOG_RING_H
#define MSD_SUPERVISOR_LOG_RING_H
/*
 * What a module's workers have written to standard output and error: the last of it is
 * kept in msd_module.log. Every byte has a place, counted from the first that ever
 * came, so that who follows the log says from where on.
 */
#include "daemon/supervisor/module/module.h"

/** Keep what a worker wrote; who follows is answered. */
void msd_log_ring_put(struct msd_module *m, const char *p, size_t n);
/** Append what is kept from the place @from on, all of it for 0; returns the place of
 * its first byte, which is later when that is lost. A @from beyond the end is the end.
 */
uint64_t msd_log_ring_read(const struct msd_module *m, uint64_t from,
			   struct msd_buf *out);
/** The answer to who follows from @from: {text, from, next}. */
void msd_log_ring_put_answer(const struct msd_module *m, uint64_t from,
			     struct msd_buf *out);
/** Answer @r when there is more than the end of now, or after @wait_ms; what is there
 * then is nothing. Takes @r; false: out of memory, and it is the caller's. */
MSD_MUST_CHECK bool msd_log_ring_follow(struct msd_module *m, struct msd_req *r,
					uint64_t wait_ms);
/** What msd_module.followers are told. */
void msd_log_ring_tell(struct msd_followers *f, struct msd_req *r);

#endif

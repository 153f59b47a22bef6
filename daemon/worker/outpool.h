#ifndef MSD_WORKER_OUTPOOL_H
#define MSD_WORKER_OUTPOOL_H
/*
 * The worker's *out* segments: where results lie until the other side has taken them.
 * A slot is all zeros when compiled code gets it: that need not fill its outputs, and
 * what an earlier call of another client left there must not travel. Clearing is done
 * after the release, between calls, so that no call waits for it; only a slot that is
 * wanted again at once is cleared at the call, and one that its user fills is not.
 */
#include "daemon/wire/list.h"
#include "daemon/wire/segpool.h"

struct msd_outpool {
	struct msd_segpool pool;
	struct msd_list live;  /* live_slot.link */
	struct msd_list dirty; /* live_slot.link: released, not cleared */
	uint32_t n_dirty;
	struct msd_list spare; /* live_slot.link: records for reuse */
};

/** @tell as in msd_segpool_init(). */
void msd_outpool_init(struct msd_outpool *p, uint64_t max_bytes,
		      msd_segment_teller tell, void *ctx);
void msd_outpool_finish(struct msd_outpool *p);
enum msd_outpool_as {
	MSD_OUT_ZEROS, /* all of it is 0 */
	MSD_OUT_FILLED /* whoever wants it writes all of it before it travels */
};
/** Reserve @bytes. Errors: MSD_NO_SPACE (with the sizes), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_outpool_alloc(struct msd_outpool *p, uint64_t bytes,
					 enum msd_outpool_as as, struct msd_slot *ret,
					 struct msd_diag *d);
/** Give a slot back. False when no such slot is live: the peer's mistake. */
MSD_MUST_CHECK bool msd_outpool_free(struct msd_outpool *p, uint16_t segment,
				     uint64_t offset);
/** Clear a little of what was released; true while there is more. */
bool msd_outpool_clean(struct msd_outpool *p);
/** Warm memory kept by msd_outpool_trim(), or all that the pool may have: results up to
 * this size meet no page fault. */
#define MSD_OUTPOOL_KEEP_BYTES (64u << 20)
/** It may have something to trim. */
bool msd_outpool_is_large(const struct msd_outpool *p);
/** Give memory that no slot uses back to the system. */
void msd_outpool_trim(struct msd_outpool *p);

#endif

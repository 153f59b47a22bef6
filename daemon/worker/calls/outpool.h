#ifndef MSD_WORKER_OUTPOOL_H
#define MSD_WORKER_OUTPOOL_H
/*
 * The worker's *out* segments: hold results until the other side has read them. A
 * slot is all zeros when compiled code gets it, because that may not fill its
 * outputs, and bytes of another client's call must not leak. Slots are cleared after
 * their release, between calls, so that no call waits for it. A slot that is reused
 * at once is cleared at the call; a slot that its user fills completely is not
 * cleared.
 */
#include "daemon/loop/list.h"
#include "daemon/segments/segpool.h"

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
	MSD_OUT_ZEROS, /* all zeros */
	MSD_OUT_FILLED /* the caller overwrites all of it before it is sent */
};
/** Reserve @bytes. Errors: MSD_NO_SPACE (with the sizes), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_outpool_alloc(struct msd_outpool *p, uint64_t bytes,
					 enum msd_outpool_as as, struct msd_slot *ret,
					 struct msd_diag *d);
/** Free a slot. False if no such slot is live: an error of the peer. */
MSD_MUST_CHECK bool msd_outpool_free(struct msd_outpool *p, uint16_t segment,
				     uint64_t offset);
/** Clear a part of the released memory; true while there is more. */
bool msd_outpool_clean(struct msd_outpool *p);
/**
 * Memory kept by msd_outpool_trim(), or the pool's limit if lower: results up to this
 * size cause no page fault.
 */
#define MSD_OUTPOOL_KEEP_BYTES (64u << 20)
/** True if there may be memory to trim. */
bool msd_outpool_is_large(const struct msd_outpool *p);
/** Return unused memory to the system. */
void msd_outpool_trim(struct msd_outpool *p);

#endif

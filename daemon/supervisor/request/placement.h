#ifndef MSD_SUPERVISOR_PLACEMENT_H
#define MSD_SUPERVISOR_PLACEMENT_H
/*
 * The memory of a request: the slot of its argument bytes, and the tensor memory that
 * they and its declared outputs take together. The slot is in a pool whose segments
 * the worker maps, too. So a tensor that was inline in the client's frame is in a
 * shared segment and is not copied again.
 */
#include "daemon/segments/segpool.h"
#include "daemon/supervisor/request/budget.h"
#include "proto/base/bytes.h"

struct msd_placement {
	uint64_t wanted_bytes;     /* arguments and declared outputs */
	uint64_t missing_bytes;    /* released for now, in addition to wanted_bytes */
	struct msd_budget *budget; /* NULL: nothing is claimed */
	struct msd_segpool *pool;  /* of the slot; NULL: no slot */
	struct msd_slot slot;      /* the payload */
};

/**
 * Claim p->wanted_bytes of @budget, and a slot for @payload_bytes of @pool; no slot
 * if 0. MSD_WAIT: no room now; retry when other requests have released memory, or, if
 * the bytes are claimed, when the pool has grown. Final errors: MSD_NO_SPACE (more
 * than the whole budget, or the machine's memory), MSD_NOMEM. After any error,
 * msd_placement_end() releases the claim.
 */
MSD_MUST_CHECK msd_err msd_placement_reserve(struct msd_placement *p,
					     struct msd_budget *budget,
					     struct msd_segpool *pool,
					     uint64_t payload_bytes,
					     struct msd_diag *d);
/**
 * Release the claim and the slot except the first @keep_bytes: the payload has no
 * bytes after them yet. No effect if memory is short.
 */
void msd_placement_reduce(struct msd_placement *p, uint64_t keep_bytes);
/**
 * Claim the released bytes again, and get a slot for all @payload_bytes, of which the
 * first @came_bytes have arrived. p->slot may change, unless @stays. Errors: MSD_WAIT
 * and the errors of msd_placement_reserve(); nothing has changed then.
 */
MSD_MUST_CHECK msd_err msd_placement_restore(struct msd_placement *p,
					     uint64_t payload_bytes,
					     uint64_t came_bytes, bool stays,
					     struct msd_diag *d);
/**
 * Set the ext data @tensor of an inline tensor to its bytes at @offset of the
 * payload.
 */
void msd_placement_point(const struct msd_placement *p, uint8_t *tensor,
			 uint64_t offset);
/**
 * Copy the payload to a slot of @pool, and release the old slot. The tensors of
 * @params that lie in the old slot are pointed to the new one. Errors, with nothing
 * changed: MSD_WAIT (a payload of more than 1 MiB, or no room now), MSD_NO_SPACE,
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_placement_move(struct msd_placement *p,
					  struct msd_segpool *pool,
					  struct msd_buf *params, struct msd_diag *d);
/** Release the slot and the claim. */
void msd_placement_release(struct msd_placement *p);
/** Release slot and claim, if any. The caller must not write to the slot any more. */
static inline void msd_placement_end(struct msd_placement *p)
{
	if (p->budget != NULL) /* a slot requires a claim */
		msd_placement_release(p);
}

#endif

#ifndef MSD_SUPERVISOR_PLACEMENT_H
#define MSD_SUPERVISOR_PLACEMENT_H
/*
 * Where the argument bytes of a request lie, and what tensor memory they and its
 * declared outputs take together. The bytes are in a slot of a pool whose segments the
 * worker maps, too: so a tensor that was inline in the client's frame becomes one in a
 * segment, and is not copied again.
 */
#include "daemon/supervisor/request/budget.h"
#include "daemon/wire/segpool.h"

struct msd_placement {
	uint64_t wanted_bytes;     /* arguments and declared outputs */
	uint64_t missing_bytes;    /* of these, beside wanted_bytes: were given back */
	struct msd_budget *budget; /* NULL: nothing is claimed */
	struct msd_segpool *pool;  /* of the slot; NULL: it has none */
	struct msd_slot slot;      /* the payload */
};

/**
 * Claim p->wanted_bytes of @budget, and of @pool a slot for @payload_bytes of them,
 * none for 0. MSD_WAIT: no room now, ask again when others have given theirs back, or,
 * once the bytes are claimed, when the pool has grown.
 * Other errors are final: MSD_NO_SPACE (more than the whole budget, or the machine's
 * memory), MSD_NOMEM. What was claimed is given back by msd_placement_end() after each
 * of them.
 */
MSD_MUST_CHECK msd_err msd_placement_take(struct msd_placement *p,
					  struct msd_budget *budget,
					  struct msd_segpool *pool,
					  uint64_t payload_bytes, struct msd_diag *d);
/**
 * Give back all but @keep_bytes of the claim, the end of the slot with it: nothing of
 * the payload has come behind its first @keep_bytes. No effect when memory is short.
 */
void msd_placement_reduce(struct msd_placement *p, uint64_t keep_bytes);
/**
 * Claim again what was given back, and have a slot for all @payload_bytes, of which the
 * first @came_bytes are there; p->slot may be another one then, unless @stays. MSD_WAIT
 * and other errors as msd_placement_take(): nothing has changed.
 */
MSD_MUST_CHECK msd_err msd_placement_restore(struct msd_placement *p,
					     uint64_t payload_bytes,
					     uint64_t came_bytes, bool stays,
					     struct msd_diag *d);
/** Point an inline tensor's ext data @tensor to its bytes, @offset into the payload. */
void msd_placement_point(const struct msd_placement *p, uint8_t *tensor,
			 uint64_t offset);
/** Give back what it has. */
void msd_placement_give_back(struct msd_placement *p);
/** Give slot and claim back, if it has any. Nobody writes to the slot any more. */
static inline void msd_placement_end(struct msd_placement *p)
{
	if (p->budget != NULL) /* without a claim there is no slot */
		msd_placement_give_back(p);
}

#endif

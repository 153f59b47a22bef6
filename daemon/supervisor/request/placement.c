#include "daemon/supervisor/request/placement.h"

#include <stdlib.h>

#include "proto/value.h"

static msd_err claim(struct msd_placement *p, struct msd_budget *budget,
		     struct msd_diag *d)
{
	if (p->wanted_bytes > budget->max_bytes) {
		return msd_diag_set(
			d, MSD_NO_SPACE,
			"arguments and outputs of %llu bytes are over the limit of "
			"%llu (max-memory)",
			(unsigned long long)p->wanted_bytes,
			(unsigned long long)budget->max_bytes);
	}
	if (!msd_budget_claim(budget, p->wanted_bytes))
		return MSD_WAIT;
	p->budget = budget;
	return MSD_OK;
}

msd_err msd_placement_take(struct msd_placement *p, struct msd_budget *budget,
			   struct msd_segpool *pool, uint64_t payload_bytes,
			   struct msd_diag *d)
{
	if (p->wanted_bytes == 0)
		return MSD_OK;
	msd_err err = p->budget == NULL ? claim(p, budget, d) : MSD_OK;
	if (err != MSD_OK || payload_bytes == 0)
		return err;
	err = msd_segpool_alloc(pool, payload_bytes, &p->slot, d);
	if (err == MSD_OK)
		p->pool = pool;
	return err;
}

void msd_placement_point(const struct msd_placement *p, uint8_t *tensor,
			 uint64_t offset)
{
	msd_wire_tensor_patch(tensor, MSD_AT_SEGMENT, p->slot.segment,
			      p->slot.offset + offset);
}

void msd_placement_give_back(struct msd_placement *p)
{
	if (p->pool != NULL &&
	    !msd_segpool_free(p->pool, p->slot.segment, p->slot.offset))
		abort(); /* our own allocator and our own slot */
	p->pool = NULL;
	if (p->budget != NULL)
		msd_budget_release(p->budget, p->wanted_bytes);
	p->budget = NULL;
}

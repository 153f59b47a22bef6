/*
 * Happy path: claim the bytes of the budget, then a slot of the pool; release both.
 * Failures: no room now, and the caller waits; a payload that is too long to move.
 */
#include "daemon/supervisor/request/placement.h"

#include <stdlib.h>
#include <string.h>

#include "proto/body.h"
#include "proto/value.h"

#define MOST_MOVED (1u << 20) /* bytes of a payload: copying them takes 0.1 ms */

static msd_err claim(struct msd_placement *p, struct msd_budget *budget,
		     struct msd_diag *d)
{
	if (p->wanted_bytes > budget->max_bytes) {
		return msd_diag_set(
			d, MSD_NO_SPACE,
			"arguments and outputs of %llu bytes are over the limit of "
			"%llu (--max-memory)",
			(unsigned long long)p->wanted_bytes,
			(unsigned long long)budget->max_bytes);
	}
	if (!msd_budget_claim(budget, p->wanted_bytes))
		return MSD_WAIT;
	p->budget = budget;
	return MSD_OK;
}

msd_err msd_placement_reserve(struct msd_placement *p, struct msd_budget *budget,
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

void msd_placement_reduce(struct msd_placement *p, uint64_t keep_bytes)
{
	if (keep_bytes >= p->wanted_bytes)
		return;
	if (p->pool != NULL && !msd_segpool_cut(p->pool, &p->slot, keep_bytes))
		return;
	const uint64_t back = p->wanted_bytes - keep_bytes;
	p->missing_bytes += back;
	p->wanted_bytes = keep_bytes;
	msd_budget_release(p->budget, back);
}

/* Extend the slot in place, or, if few bytes have arrived, move to a larger slot. */
static msd_err widen(struct msd_placement *p, uint64_t payload_bytes,
		     uint64_t came_bytes, bool stays, struct msd_diag *d)
{
	struct msd_slot other;

	if (p->pool == NULL || msd_segpool_widen(p->pool, &p->slot, payload_bytes))
		return MSD_OK;
	if (stays || came_bytes > MOST_MOVED)
		return MSD_WAIT;
	const msd_err err = msd_segpool_alloc(p->pool, payload_bytes, &other, d);
	if (err != MSD_OK)
		return err;
	memcpy(other.p, p->slot.p, came_bytes);
	if (!msd_segpool_free(p->pool, p->slot.segment, p->slot.offset))
		abort(); /* cannot happen: our own allocator and our own slot */
	p->slot = other;
	return MSD_OK;
}

msd_err msd_placement_restore(struct msd_placement *p, uint64_t payload_bytes,
			      uint64_t came_bytes, bool stays, struct msd_diag *d)
{
	if (p->missing_bytes > p->budget->max_bytes - p->budget->used_bytes)
		return MSD_WAIT;
	const msd_err err = widen(p, payload_bytes, came_bytes, stays, d);
	if (err != MSD_OK)
		return err;
	if (!msd_budget_claim(p->budget, p->missing_bytes))
		abort(); /* it was checked above */
	p->wanted_bytes += p->missing_bytes;
	p->missing_bytes = 0;
	return MSD_OK;
}

void msd_placement_point(const struct msd_placement *p, uint8_t *tensor,
			 uint64_t offset)
{
	msd_wire_tensor_patch(tensor, MSD_AT_SEGMENT, p->slot.segment,
			      p->slot.offset + offset);
}

/* Two slots of one payload. */
struct shift {
	const struct msd_slot *from, *to;
	uint8_t *params;
};

static msd_err shift_ext(void *ctx, int8_t type, size_t at, size_t n,
			 struct msd_diag *d)
{
	const struct shift *x = ctx;
	struct msd_wire_tensor t;

	if (type != MSD_EXT_TENSOR)
		return MSD_OK;
	const msd_err err = msd_wire_tensor_read(x->params + at, n, &t, d);
	if (err == MSD_OK && t.where == MSD_AT_SEGMENT &&
	    t.segment == x->from->segment && t.offset >= x->from->offset &&
	    t.offset - x->from->offset < x->from->bytes) {
		msd_wire_tensor_patch(x->params + at, MSD_AT_SEGMENT, x->to->segment,
				      t.offset - x->from->offset + x->to->offset);
	}
	return err;
}

msd_err msd_placement_move(struct msd_placement *p, struct msd_segpool *pool,
			   struct msd_buf *params, struct msd_diag *d)
{
	struct msd_slot to;

	if (p->pool == NULL)
		return MSD_OK;
	if (p->slot.bytes > MOST_MOVED)
		return MSD_WAIT;
	msd_err err = msd_segpool_alloc(pool, p->slot.bytes, &to, d);
	if (err != MSD_OK)
		return err;
	memcpy(to.p, p->slot.p, p->slot.bytes);
	struct shift x = {.from = &p->slot, .to = &to, .params = params->p};
	struct msd_ext_visitor visitor = {.visit = shift_ext, .ctx = &x};
	size_t used;
	if (params->n > 0) {
		err = msd_scan_object((struct msd_span){params->p, params->n}, &visitor,
				      &used, d);
	}
	if (err != MSD_OK ||
	    !msd_segpool_free(p->pool, p->slot.segment, p->slot.offset))
		abort(); /* the parameters were scanned before, and the slot is ours */
	p->slot = to;
	p->pool = pool;
	return MSD_OK;
}

void msd_placement_release(struct msd_placement *p)
{
	if (p->pool != NULL &&
	    !msd_segpool_free(p->pool, p->slot.segment, p->slot.offset))
		abort(); /* our own allocator and our own slot */
	p->pool = NULL;
	if (p->budget != NULL)
		msd_budget_release(p->budget, p->wanted_bytes);
	p->budget = NULL;
}

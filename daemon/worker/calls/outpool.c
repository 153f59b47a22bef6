/*
 * Out slots: memory for results in segments that the supervisor reads. Slots are
 * zeroed after their release, between calls, so that no client sees another client's
 * bytes.
 */
#include "daemon/worker/calls/outpool.h"

#include <stdlib.h>
#include <string.h>

#include "proto/limits.h"

/* About 100 microseconds of clearing: the maximum delay of a call that arrives in
 * that time. */
#define CLEAN_STEP_BYTES (1u << 20)
/* Small slots are cleared at once if this many wait for it. Only a few are checked
 * for a fitting size: most calls' results have one size. */
#define SMALL_BYTES 4096u
#define MANY_DIRTY 64u
#define LOOKS 8u

/* One slot from its allocation until it is cleared. */
struct live_slot {
	struct msd_list link; /* msd_outpool.live, .dirty or .spare */
	struct msd_slot slot;
	bool is_out;      /* not released yet */
	uint64_t used;    /* bytes that may be nonzero */
	uint64_t cleared; /* cleared bytes of these, from the front */
};

static struct live_slot *slot_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct live_slot, link);
}

void msd_outpool_init(struct msd_outpool *p, uint64_t max_bytes,
		      msd_segment_teller tell, void *ctx)
{
	p->n_dirty = 0;
	msd_segpool_init(&p->pool, max_bytes, tell, ctx);
	msd_list_init(&p->live);
	msd_list_init(&p->dirty);
	msd_list_init(&p->spare);
}

static void free_all(struct msd_list *list)
{
	MSD_LIST_EACH_SAFE (it, list) {
		free(slot_of(it));
	}
	msd_list_init(list);
}

void msd_outpool_finish(struct msd_outpool *p)
{
	free_all(&p->live);
	free_all(&p->dirty);
	free_all(&p->spare);
	msd_segpool_finish(&p->pool);
}

static void move_to(struct msd_list *list, struct live_slot *s)
{
	msd_list_remove(&s->link);
	msd_list_append(list, &s->link);
}

/* Clear at most @limit bytes of @s; true if it is all zeros. */
static bool clear_some(struct live_slot *s, uint64_t limit)
{
	uint64_t n = s->used - s->cleared;

	if (n > limit)
		n = limit;
	memset(s->slot.p + s->cleared, 0, n);
	s->cleared += n;
	return s->cleared == s->used;
}

static void clear_and_free(struct msd_outpool *p, struct live_slot *s)
{
	(void)clear_some(s, UINT64_MAX);
	/* Always live: the list and the pool change together. */
	(void)!msd_segpool_free(&p->pool, s->slot.segment, s->slot.offset);
	move_to(&p->spare, s);
}

static void free_dirty(struct msd_outpool *p, struct live_slot *s)
{
	p->n_dirty--;
	clear_and_free(p, s);
}

/* Reuse a released slot of the same size: consecutive calls of a client get the same
 * warm memory, and the pool does not grow. */
static struct live_slot *take_dirty(struct msd_outpool *p, uint64_t bytes)
{
	unsigned looks = LOOKS;

	MSD_LIST_EACH (it, &p->dirty) {
		struct live_slot *s = slot_of(it);
		if (s->slot.bytes >= bytes && s->slot.bytes - bytes < MSD_TENSOR_ALIGN)
			return s;
		if (--looks == 0)
			break;
	}
	return NULL;
}

/* Reuse a slot for @bytes; bytes behind them may still be nonzero. */
static void use_again(struct msd_outpool *p, struct live_slot *s, uint64_t bytes,
		      enum msd_outpool_as as)
{
	if (as == MSD_OUT_ZEROS)
		(void)clear_some(s, UINT64_MAX);
	if (as == MSD_OUT_ZEROS || s->used < bytes)
		s->used = bytes;
	p->n_dirty--;
}

static struct live_slot *take_spare(struct msd_outpool *p)
{
	struct msd_list *it = msd_list_first(&p->spare);

	if (it != NULL) {
		msd_list_remove(it);
		return slot_of(it);
	}
	struct live_slot *s = calloc(1, sizeof(*s));
	if (s != NULL)
		msd_list_init(&s->link);
	return s;
}

static msd_err alloc_clear(struct msd_outpool *p, uint64_t bytes, struct msd_slot *ret,
			   struct msd_diag *d)
{
	msd_err err = msd_segpool_alloc(&p->pool, bytes, ret, d);

	if (err == MSD_OK || msd_list_is_empty(&p->dirty))
		return err;
	while (!msd_list_is_empty(&p->dirty))
		free_dirty(p, slot_of(p->dirty.next));
	return msd_segpool_alloc(&p->pool, bytes, ret, d);
}

msd_err msd_outpool_alloc(struct msd_outpool *p, uint64_t bytes, enum msd_outpool_as as,
			  struct msd_slot *ret, struct msd_diag *d)
{
	struct live_slot *s = take_dirty(p, bytes);

	if (s != NULL) {
		use_again(p, s, bytes, as);
	} else {
		s = take_spare(p);
		if (s == NULL)
			return msd_diag_no_memory(d);
		msd_err err = alloc_clear(p, bytes, &s->slot, d);
		if (err != MSD_OK) {
			msd_list_append(&p->spare, &s->link);
			return err;
		}
		s->used = bytes;
		*msd_segpool_owner(&p->pool, s->slot.segment, s->slot.offset) = s;
	}
	s->cleared = 0;
	s->is_out = true;
	move_to(&p->live, s);
	*ret = s->slot;
	return MSD_OK;
}

bool msd_outpool_free(struct msd_outpool *p, uint16_t segment, uint64_t offset)
{
	void **owner = msd_segpool_owner(&p->pool, segment, offset);
	struct live_slot *s = owner != NULL ? *owner : NULL;

	if (s == NULL || !s->is_out)
		return false;
	s->is_out = false;
	if (s->used <= SMALL_BYTES && p->n_dirty >= MANY_DIRTY) {
		clear_and_free(p, s);
	} else {
		move_to(&p->dirty, s);
		p->n_dirty++;
	}
	return true;
}

bool msd_outpool_clean(struct msd_outpool *p)
{
	struct msd_list *it = msd_list_first(&p->dirty);

	if (it == NULL)
		return false;
	if (clear_some(slot_of(it), CLEAN_STEP_BYTES))
		free_dirty(p, slot_of(it));
	return !msd_list_is_empty(&p->dirty);
}

/* A direct peer may exceed its share only while it needs it. */
static uint64_t keeps(const struct msd_outpool *p)
{
	return p->pool.max_bytes < MSD_OUTPOOL_KEEP_BYTES ? p->pool.max_bytes
							  : MSD_OUTPOOL_KEEP_BYTES;
}

bool msd_outpool_is_large(const struct msd_outpool *p)
{
	return p->pool.total_bytes > keeps(p);
}

void msd_outpool_trim(struct msd_outpool *p)
{
	msd_segpool_trim(&p->pool, keeps(p));
}

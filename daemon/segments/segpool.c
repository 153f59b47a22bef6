/*
 * Shared memory for tensors, on the allocating side.
 *
 * Happy path: alloc finds the first gap that is large enough, or makes a segment: a
 * memfd, sized, sealed, reserved, mapped, and announced to the other side before its
 * first slot. Free joins gaps. Trim takes unused segments back.
 *
 * Failures:
 *   - a large segment takes long to reserve: a thread reserves it, and the caller asks
 *     again when it is ready
 *   - no gap is large enough and the pool is at its limit: unused segments are taken
 *     back, then free pages between used slots are given up, as many as the slot
 *     needs. They are reserved again before a slot uses them
 *   - memory is missing: alloc returns an error; there is never a later SIGBUS
 */
#include "daemon/segments/segpool.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/loop/closer.h"
#include "daemon/segments/reserve.h"
#include "daemon/segments/segment.h"
#include "proto/base/grow.h"
#include "proto/limits.h"

#define SEGMENT_NAME "modserd-segment"

/* Amount that may still be added to @used. */
static uint64_t room(uint64_t most, uint64_t used)
{
	return used < most ? most - used : 0;
}

void msd_segpool_init(struct msd_segpool *p, uint64_t max_bytes,
		      msd_segment_teller tell, void *ctx)
{
	*p = (struct msd_segpool){.max_bytes = max_bytes, .tell = tell, .ctx = ctx};
}

void msd_segpool_grow_aside(struct msd_segpool *p, uv_loop_t *loop,
			    void (*on_grown)(void *ctx))
{
	p->loop = loop;
	p->on_grown = on_grown;
}

void msd_segpool_finish(struct msd_segpool *p)
{
	msd_reserve_leave(p->growing);
	p->growing = NULL;
	for (uint32_t i = 0; i < p->n_segments; i++)
		msd_segment_close(&p->segments[i]);
	free(p->segments);
	p->segments = NULL;
	p->n_segments = 0;
	p->total_bytes = p->warm_bytes = p->used_bytes = 0;
}

/* Maximum size of a new segment. */
static uint64_t growth_room(const struct msd_segpool *p)
{
	const uint64_t pages = room(p->max_bytes, p->warm_bytes);
	const uint64_t addresses =
		room(msd_segpool_most_addresses(p->max_bytes), p->total_bytes);

	return pages < addresses ? pages : addresses;
}

/* Make a new segment at least as large as all existing ones: few segments, few first
 * touches. */
static uint64_t next_segment_bytes(const struct msd_segpool *p, uint64_t need)
{
	const uint64_t huge_page = 2u << 20;
	uint64_t bytes = p->total_bytes > MSD_MIN_SEGMENT_BYTES ? p->total_bytes
								: MSD_MIN_SEGMENT_BYTES;
	if (bytes > (64u << 20))
		bytes = 64u << 20;
	if (bytes < need) {
		bytes = msd_round_up(need, need > huge_page ? huge_page
							    : MSD_MIN_SEGMENT_BYTES);
	}
	return bytes <= growth_room(p) ? bytes : msd_round_up(need, MSD_PAGE_BYTES);
}

/* Return the first empty entry, or add one; NULL if memory is short. */
static struct msd_segment *empty_place(struct msd_segpool *p)
{
	for (uint32_t i = 0; i < p->n_segments; i++) {
		if (p->segments[i].map == NULL)
			return &p->segments[i];
	}
	if (!msd_grow(&p->segments, p->n_segments, sizeof(*p->segments)))
		return NULL;
	p->segments[p->n_segments] = (struct msd_segment){.fd = -1};
	return &p->segments[p->n_segments++];
}

static bool can_grow(const struct msd_segpool *p, uint64_t bytes)
{
	bool has_place = p->n_segments < MSD_MAX_SEGMENTS;

	for (uint32_t i = 0; i < p->n_segments && !has_place; i++)
		has_place = p->segments[i].map == NULL;
	return has_place && bytes <= growth_room(p);
}

static void say(const struct msd_segpool *p, const struct msd_segment *s, int fd,
		uint64_t bytes)
{
	if (p->tell != NULL)
		p->tell(p->ctx, (uint16_t)(s - p->segments), fd, bytes);
}

/* Make a segment of the reserved *@fd, which becomes -1 when it is taken. */
static msd_err add_segment(struct msd_segpool *p, int *fd, uint64_t bytes,
			   struct msd_diag *d)
{
	struct msd_segment *s = empty_place(p);

	if (s == NULL)
		return msd_diag_no_memory(d);
	msd_err err = msd_segment_open(s, *fd, bytes, d);
	if (err != MSD_OK)
		return err;
	*fd = -1;
	p->total_bytes += bytes;
	p->warm_bytes += bytes;
	say(p, s, s->fd, bytes);
	return MSD_OK;
}

static void on_reserved(struct msd_reserve *r)
{
	struct msd_segpool *p = r->user;

	p->growing = NULL;
	if (r->fd < 0) {
		p->grow_error = r->error;
	} else if (add_segment(p, &r->fd, r->bytes, NULL) != MSD_OK) {
		p->grow_error = ENOMEM;
	}
	p->on_grown(p->ctx);
}

/* Of all modules. A call waits for it, so it does not queue behind uploads and disks.
 */
static struct msd_work_lane growth = MSD_WORK_LANE(growth, MSD_WORK_INTERACTIVE, 2, 0);

static msd_err pool_grow(struct msd_segpool *p, uint64_t need, struct msd_diag *d)
{
	const uint64_t bytes = next_segment_bytes(p, need);

	if (!can_grow(p, bytes)) {
		return msd_diag_set(
			d, MSD_NO_SPACE,
			"%llu bytes of tensors do not fit: %llu of %llu in use",
			(unsigned long long)need, (unsigned long long)p->used_bytes,
			(unsigned long long)p->max_bytes);
	}
	if (p->loop != NULL && bytes > MSD_MIN_SEGMENT_BYTES) {
		const struct msd_reserve_how how = {
			.name = SEGMENT_NAME, .bytes = bytes, .lane = &growth};
		p->growing = msd_reserve_begin(p->loop, &how, on_reserved, p);
		return p->growing != NULL ? MSD_WAIT : msd_diag_no_memory(d);
	}
	int fd = msd_reserve_now(SEGMENT_NAME, bytes);
	if (fd < 0)
		return msd_segment_missing(bytes, errno, d);
	msd_err err = add_segment(p, &fd, bytes, d);
	msd_closer_close(fd);
	return err;
}

static void take_back(struct msd_segpool *p, struct msd_segment *s)
{
	say(p, s, -1, 0); /* users of the pages undo their registrations */
	p->total_bytes -= s->bytes;
	p->warm_bytes -= s->warm_bytes;
	msd_segment_close(s);
}

/* Give up unused memory until the pool can grow by @bytes, or no more is left. */
static void make_room(struct msd_segpool *p, uint64_t bytes)
{
	for (uint32_t i = 0; i < p->n_segments && !can_grow(p, bytes); i++) {
		if (p->segments[i].map != NULL && p->segments[i].n_live == 0)
			take_back(p, &p->segments[i]);
	}
	for (uint32_t i = 0; i < p->n_segments && !p->is_pinned && !can_grow(p, bytes);
	     i++) {
		struct msd_segment *s = &p->segments[i];
		if (s->map == NULL)
			continue;
		p->warm_bytes -= s->warm_bytes;
		msd_segment_cool(s);
		p->warm_bytes += s->warm_bytes;
	}
}

/* Bytes of pages that may still be added. A segment that a thread is reserving counts
 * as used. */
static uint64_t page_room(const struct msd_segpool *p)
{
	const uint64_t growing = p->growing != NULL ? p->growing->bytes : 0;

	return room(p->max_bytes, p->warm_bytes + growing);
}

static bool pool_alloc(struct msd_segpool *p, uint64_t bytes, struct msd_slot *ret)
{
	for (uint32_t i = 0; i < p->n_segments; i++) {
		struct msd_segment *s = &p->segments[i];
		const uint64_t was_warm = s->warm_bytes;
		const struct msd_block *b = msd_segment_alloc(s, bytes, page_room(p));
		p->warm_bytes += s->warm_bytes - was_warm;
		if (b == NULL)
			continue;
		p->used_bytes += bytes;
		*ret = (struct msd_slot){.segment = (uint16_t)i,
					 .offset = b->offset,
					 .bytes = bytes,
					 .p = s->map + b->offset};
		return true;
	}
	return false;
}

msd_err msd_segpool_alloc(struct msd_segpool *p, uint64_t bytes, struct msd_slot *ret,
			  struct msd_diag *d)
{
	if (bytes > p->max_bytes) {
		return msd_diag_set(d, MSD_NO_SPACE,
				    "%llu bytes of tensors are over the limit of %llu",
				    (unsigned long long)bytes,
				    (unsigned long long)p->max_bytes);
	}
	bytes = msd_round_up(bytes > 0 ? bytes : 1, MSD_TENSOR_ALIGN);
	if (pool_alloc(p, bytes, ret))
		return MSD_OK;
	if (p->growing != NULL)
		return MSD_WAIT;
	if (p->grow_error != 0) { /* error of an earlier MSD_WAIT: reported once */
		const int error = p->grow_error;
		p->grow_error = 0;
		return msd_segment_missing(bytes, error, d);
	}
	if (!can_grow(p, next_segment_bytes(p, bytes))) {
		make_room(p, msd_round_up(bytes, MSD_PAGE_BYTES));
		if (pool_alloc(p, bytes, ret)) /* pages may be reserved again now */
			return MSD_OK;
	}
	msd_err err = pool_grow(p, bytes, d);
	if (err == MSD_OK && !pool_alloc(p, bytes, ret))
		err = msd_diag_no_memory(d);
	return err;
}

void msd_segpool_announce(const struct msd_segpool *p, msd_segment_teller tell,
			  void *ctx)
{
	for (uint32_t i = 0; i < p->n_segments; i++) {
		if (p->segments[i].map != NULL)
			tell(ctx, (uint16_t)i, p->segments[i].fd, p->segments[i].bytes);
	}
}

bool msd_segpool_free(struct msd_segpool *p, uint16_t segment, uint64_t offset)
{
	if (segment >= p->n_segments)
		return false; /* no block is found in a segment that was taken back */
	struct msd_segment *s = &p->segments[segment];
	const uint64_t bytes = msd_segment_free(s, offset);
	if (bytes == 0)
		return false;
	p->used_bytes -= bytes;
	if (s->n_live == 0 && s->has_holes) /* a segment without holes is better */
		take_back(p, s);
	return true;
}

bool msd_segpool_cut(struct msd_segpool *p, struct msd_slot *slot, uint64_t bytes)
{
	bytes = msd_round_up(bytes > 0 ? bytes : 1, MSD_TENSOR_ALIGN);
	if (bytes >= slot->bytes)
		return true;
	if (!msd_segment_cut(&p->segments[slot->segment], slot->offset, bytes))
		return false;
	p->used_bytes -= slot->bytes - bytes;
	slot->bytes = bytes;
	return true;
}

bool msd_segpool_widen(struct msd_segpool *p, struct msd_slot *slot, uint64_t bytes)
{
	struct msd_segment *s = &p->segments[slot->segment];
	const uint64_t was_warm = s->warm_bytes;

	bytes = msd_round_up(bytes, MSD_TENSOR_ALIGN);
	if (bytes <= slot->bytes)
		return true;
	const bool is_wide = msd_segment_widen(s, slot->offset, bytes, page_room(p));
	p->warm_bytes += s->warm_bytes - was_warm;
	if (!is_wide)
		return false;
	p->used_bytes += bytes - slot->bytes;
	slot->bytes = bytes;
	return true;
}

void **msd_segpool_owner(const struct msd_segpool *p, uint16_t segment, uint64_t offset)
{
	struct msd_block *b =
		segment < p->n_segments
			? msd_blocks_live_at(&p->segments[segment].blocks, offset)
			: NULL;

	return b != NULL ? &b->owner : NULL;
}

uint8_t *msd_segpool_map(const struct msd_segpool *p, uint16_t index,
			 uint64_t *ret_bytes)
{
	*ret_bytes = p->segments[index].bytes;
	return p->segments[index].map;
}

void msd_segpool_trim(struct msd_segpool *p, uint64_t keep_bytes)
{
	uint64_t kept = 0;

	for (uint32_t i = 0; i < p->n_segments && !p->is_pinned; i++) {
		struct msd_segment *s = &p->segments[i];
		kept += s->warm_bytes;
		if (s->map != NULL && s->n_live == 0 && kept > keep_bytes) {
			kept -= s->warm_bytes;
			take_back(p, s);
		}
	}
}

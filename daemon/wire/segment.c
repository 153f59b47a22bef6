/*
 * Shared memory for tensors, the allocating side.
 *
 * Happy path: alloc finds the first gap that is large enough, else makes a segment: a
 * memfd, sized, sealed, reserved, mapped, told to the other side before its first slot
 * is. Free joins gaps. Trim takes unused segments back.
 *
 * Failures:
 *  - no gap is large enough and the pool has what it may have: unused segments are
 *    taken back, then the free pages between used slots are given up, as many as the
 *    slot needs; they are reserved again before a slot has them
 *  - memory that is not there is an error of alloc, never a SIGBUS later
 */
#include "daemon/wire/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/wire/aside.h"
#include "proto/limits.h"

/*
 * One segment's free space: address-ordered blocks covering it without gaps. Slots are
 * few (requests in flight), so a first-fit walk from the last hit is short.
 */
struct block {
	struct block *prev, *next;
	uint64_t offset;
	uint64_t bytes;
	bool is_live;
};

struct msd_segment {
	int fd;
	uint8_t *map; /* NULL: there is none of this index */
	uint64_t bytes;
	uint64_t warm_bytes; /* as many as may have pages */
	bool has_holes;      /* pages were given up: reserve them before use */
	struct block *first;
	uint32_t n_live;
};

#define PAGE_BYTES 4096u

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static uint64_t round_down(uint64_t n, uint64_t to)
{
	return n / to * to;
}

/* What may still be added to @used. */
static uint64_t room(uint64_t most, uint64_t used)
{
	return used < most ? most - used : 0;
}

void msd_segpool_init(struct msd_segpool *p, uint64_t max_bytes,
		      msd_segment_teller tell, void *ctx)
{
	*p = (struct msd_segpool){.max_bytes = max_bytes, .tell = tell, .ctx = ctx};
}

static void segment_finish(struct msd_segment *s)
{
	while (s->first != NULL) {
		struct block *b = s->first;
		s->first = b->next;
		free(b);
	}
	if (s->map != NULL)
		msd_aside_discard(s->map, s->bytes);
	msd_aside_close(s->fd);
	*s = (struct msd_segment){.fd = -1};
}

void msd_segpool_finish(struct msd_segpool *p)
{
	for (uint32_t i = 0; i < p->n_segments; i++)
		segment_finish(&p->segments[i]);
	free(p->segments);
	p->segments = NULL;
	p->n_segments = 0;
	p->total_bytes = p->warm_bytes = p->used_bytes = 0;
}

/* The seals keep the other side from truncating what we have mapped, which would turn
 * our next access into a SIGBUS. */
static msd_err segment_create(struct msd_segment *s, uint64_t bytes, struct msd_diag *d)
{
	*s = (struct msd_segment){.fd = -1, .bytes = bytes, .warm_bytes = bytes};
	s->first = calloc(1, sizeof(*s->first));
	if (s->first == NULL)
		return msd_diag_no_memory(d);
	s->first->bytes = bytes;
	s->fd = memfd_create("modserd-segment", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (s->fd < 0 || ftruncate(s->fd, (off_t)bytes) != 0 ||
	    fallocate(s->fd, 0, 0, (off_t)bytes) != 0)
		goto fail;
	if (fcntl(s->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		goto fail;
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (map == MAP_FAILED)
		goto fail;
	s->map = map;
	return MSD_OK;
fail:
	(void)msd_diag_set(d, MSD_NO_SPACE, "segment of %llu bytes: %s",
			   (unsigned long long)bytes, strerror(errno));
	segment_finish(s);
	return MSD_NO_SPACE;
}

/* How large a new segment may be. */
static uint64_t growth_room(const struct msd_segpool *p)
{
	const uint64_t pages = room(p->max_bytes, p->warm_bytes);
	const uint64_t addresses =
		room(msd_segpool_most_addresses(p->max_bytes), p->total_bytes);

	return pages < addresses ? pages : addresses;
}

/* A new segment at least as big as everything there is: few segments, few first
 * touches. */
static uint64_t next_segment_bytes(const struct msd_segpool *p, uint64_t need)
{
	const uint64_t huge_page = 2u << 20;
	uint64_t bytes = p->total_bytes > MSD_MIN_SEGMENT_BYTES ? p->total_bytes
								: MSD_MIN_SEGMENT_BYTES;
	if (bytes > (64u << 20))
		bytes = 64u << 20;
	if (bytes < need) {
		bytes = round_up(need,
				 need > huge_page ? huge_page : MSD_MIN_SEGMENT_BYTES);
	}
	return bytes <= growth_room(p) ? bytes : round_up(need, PAGE_BYTES);
}

/* A place for one more, the first that is empty; NULL when memory is short. */
static struct msd_segment *empty_place(struct msd_segpool *p)
{
	for (uint32_t i = 0; i < p->n_segments; i++) {
		if (p->segments[i].map == NULL)
			return &p->segments[i];
	}
	struct msd_segment *more =
		realloc(p->segments, (p->n_segments + 1) * sizeof(*more));
	if (more == NULL)
		return NULL;
	p->segments = more;
	more[p->n_segments] = (struct msd_segment){.fd = -1};
	return &more[p->n_segments++];
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
	struct msd_segment *s = empty_place(p);
	if (s == NULL)
		return msd_diag_no_memory(d);
	msd_err err = segment_create(s, bytes, d);
	if (err != MSD_OK)
		return err;
	p->total_bytes += bytes;
	p->warm_bytes += bytes;
	say(p, s, s->fd, bytes);
	return MSD_OK;
}

static void take_back(struct msd_segpool *p, struct msd_segment *s)
{
	say(p, s, -1, 0); /* who has made something of the pages undoes it */
	p->total_bytes -= s->bytes;
	p->warm_bytes -= s->warm_bytes;
	segment_finish(s);
}

/* Give up the pages that lie in free blocks alone. */
static void cool(struct msd_segpool *p, struct msd_segment *s)
{
	uint64_t warm = s->bytes;

	for (const struct block *b = s->first; b != NULL; b = b->next) {
		const uint64_t from = round_up(b->offset, PAGE_BYTES);
		const uint64_t to = round_down(b->offset + b->bytes, PAGE_BYTES);
		if (!b->is_live && from < to &&
		    fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      (off_t)from, (off_t)(to - from)) == 0)
			warm -= to - from;
	}
	p->warm_bytes -= s->warm_bytes - warm;
	s->warm_bytes = warm;
	s->has_holes = warm < s->bytes;
}

/* Give up what nobody uses until the pool can grow by @bytes, or there is no more. */
static void make_room(struct msd_segpool *p, uint64_t bytes)
{
	for (uint32_t i = 0; i < p->n_segments && !can_grow(p, bytes); i++) {
		if (p->segments[i].map != NULL && p->segments[i].n_live == 0)
			take_back(p, &p->segments[i]);
	}
	for (uint32_t i = 0; i < p->n_segments && !p->is_pinned && !can_grow(p, bytes);
	     i++) {
		if (p->segments[i].map != NULL)
			cool(p, &p->segments[i]);
	}
}

/* Cut @bytes from the front of free block @b; the rest stays free. */
static bool block_claim(struct block *b, uint64_t bytes)
{
	if (b->bytes > bytes) {
		struct block *rest = calloc(1, sizeof(*rest));
		if (rest == NULL)
			return false;
		rest->offset = b->offset + bytes;
		rest->bytes = b->bytes - bytes;
		rest->prev = b;
		rest->next = b->next;
		if (b->next != NULL)
			b->next->prev = rest;
		b->next = rest;
		b->bytes = bytes;
	}
	b->is_live = true;
	return true;
}

/* Reserve the pages of a range again that may have been given up. */
static bool warm(struct msd_segpool *p, struct msd_segment *s, uint64_t offset,
		 uint64_t bytes)
{
	const uint64_t from = round_down(offset, PAGE_BYTES);
	uint64_t more = round_up(offset + bytes, PAGE_BYTES) - from;

	if (!s->has_holes)
		return true;
	const uint64_t to = from + more;
	if (more > s->bytes - s->warm_bytes)
		more = s->bytes - s->warm_bytes;
	if (more > room(p->max_bytes, p->warm_bytes) ||
	    fallocate(s->fd, 0, (off_t)from, (off_t)(to - from)) != 0)
		return false;
	s->warm_bytes += more;
	p->warm_bytes += more;
	return true;
}

static struct block *segment_alloc(struct msd_segpool *p, struct msd_segment *s,
				   uint64_t bytes)
{
	for (struct block *b = s->first; b != NULL; b = b->next) {
		if (b->is_live || b->bytes < bytes)
			continue;
		if (!warm(p, s, b->offset, bytes) || !block_claim(b, bytes))
			return NULL;
		s->n_live++;
		return b;
	}
	return NULL;
}

static bool pool_alloc(struct msd_segpool *p, uint64_t bytes, struct msd_slot *ret)
{
	for (uint32_t i = 0; i < p->n_segments; i++) {
		struct msd_segment *s = &p->segments[i];
		const struct block *b = segment_alloc(p, s, bytes);
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
	bytes = round_up(bytes > 0 ? bytes : 1, MSD_TENSOR_ALIGN);
	if (pool_alloc(p, bytes, ret))
		return MSD_OK;
	if (!can_grow(p, next_segment_bytes(p, bytes))) {
		make_room(p, round_up(bytes, PAGE_BYTES));
		if (pool_alloc(p, bytes, ret)) /* where pages may be reserved again */
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

/* Join @b with a free block after it. */
static void block_join_next(struct block *b)
{
	struct block *gone = b->next;

	if (gone == NULL || gone->is_live || b->is_live)
		return;
	b->bytes += gone->bytes;
	b->next = gone->next;
	if (gone->next != NULL)
		gone->next->prev = b;
	free(gone);
}

bool msd_segpool_free(struct msd_segpool *p, uint16_t segment, uint64_t offset)
{
	if (segment >= p->n_segments)
		return false; /* of one that was taken back no block is found */
	struct msd_segment *s = &p->segments[segment];
	struct block *b = s->first;
	while (b != NULL && b->offset < offset)
		b = b->next;
	if (b == NULL || b->offset != offset || !b->is_live)
		return false;
	b->is_live = false;
	p->used_bytes -= b->bytes;
	s->n_live--;
	block_join_next(b);
	if (b->prev != NULL)
		block_join_next(b->prev);
	if (s->n_live == 0 && s->has_holes) /* a whole one is better */
		take_back(p, s);
	return true;
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

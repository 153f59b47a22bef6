/*
 * Shared memory for tensors, the allocating and the mapping side.
 *
 * Happy path: alloc finds the first gap that is large enough, else makes a segment: a
 * memfd, sized, sealed, reserved, mapped, told to the other side before its first slot
 * is. Free joins gaps. Trim gives the pages of unused segments back; they are reserved
 * again before the next slot.
 *
 * Failures: memory that is not there is an error of alloc, never a SIGBUS later; what
 * the other side passes is mapped only when its seals and size are what was said.
 */
#include "daemon/wire/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
	uint8_t *map;
	uint64_t bytes;
	struct block *first;
	uint32_t n_live;
	bool is_cold; /* pages were given back: reserve them before use */
};

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

void msd_segpool_init(struct msd_segpool *p, uint64_t max_bytes,
		      void (*on_new)(void *ctx, uint16_t index, int fd, uint64_t bytes),
		      void *ctx)
{
	*p = (struct msd_segpool){.max_bytes = max_bytes, .on_new = on_new, .ctx = ctx};
}

static void segment_finish(struct msd_segment *s)
{
	while (s->first != NULL) {
		struct block *b = s->first;
		s->first = b->next;
		free(b);
	}
	if (s->map != NULL)
		msd_aside_unmap(s->map, s->bytes);
	msd_aside_close(s->fd);
}

void msd_segpool_finish(struct msd_segpool *p)
{
	for (uint32_t i = 0; i < p->n_segments; i++)
		segment_finish(&p->segments[i]);
	free(p->segments);
	p->segments = NULL;
	p->n_segments = 0;
	p->total_bytes = p->used_bytes = 0;
}

/* The seals keep the other side from truncating what we have mapped, which would turn
 * our next access into a SIGBUS. */
static msd_err segment_create(struct msd_segment *s, uint64_t bytes, struct msd_diag *d)
{
	*s = (struct msd_segment){.fd = -1, .bytes = bytes};
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
	if (bytes > p->max_bytes - p->total_bytes)
		bytes = round_up(need, 4096);
	return bytes;
}

static msd_err pool_grow(struct msd_segpool *p, uint64_t need, struct msd_diag *d)
{
	struct msd_segment *more;
	uint64_t bytes = next_segment_bytes(p, need);

	if (p->n_segments >= MSD_MAX_SEGMENTS ||
	    bytes > p->max_bytes - p->total_bytes) {
		return msd_diag_set(
			d, MSD_NO_SPACE,
			"%llu bytes of tensors do not fit: %llu of %llu in use",
			(unsigned long long)need, (unsigned long long)p->used_bytes,
			(unsigned long long)p->max_bytes);
	}
	more = realloc(p->segments, (p->n_segments + 1) * sizeof(*more));
	if (more == NULL)
		return msd_diag_no_memory(d);
	p->segments = more;
	msd_err err = segment_create(&more[p->n_segments], bytes, d);
	if (err != MSD_OK)
		return err;
	p->total_bytes += bytes;
	p->n_segments++;
	if (p->on_new != NULL) {
		p->on_new(p->ctx, (uint16_t)(p->n_segments - 1),
			  more[p->n_segments - 1].fd, bytes);
	}
	return MSD_OK;
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

static bool segment_warm(struct msd_segment *s)
{
	if (!s->is_cold)
		return true;
	if (fallocate(s->fd, 0, 0, (off_t)s->bytes) != 0)
		return false;
	s->is_cold = false;
	return true;
}

static struct block *segment_alloc(struct msd_segment *s, uint64_t bytes)
{
	for (struct block *b = s->first; b != NULL; b = b->next) {
		if (b->is_live || b->bytes < bytes)
			continue;
		if (!segment_warm(s) || !block_claim(b, bytes))
			return NULL;
		s->n_live++;
		return b;
	}
	return NULL;
}

msd_err msd_segpool_alloc(struct msd_segpool *p, uint64_t bytes, struct msd_slot *ret,
			  struct msd_diag *d)
{
	struct block *b = NULL;
	uint32_t i = 0;

	if (bytes > p->max_bytes) {
		return msd_diag_set(d, MSD_NO_SPACE,
				    "%llu bytes of tensors are over the limit of %llu",
				    (unsigned long long)bytes,
				    (unsigned long long)p->max_bytes);
	}
	bytes = round_up(bytes > 0 ? bytes : 1, MSD_TENSOR_ALIGN);
	for (; i < p->n_segments && b == NULL; i++)
		b = segment_alloc(&p->segments[i], bytes);
	if (b == NULL) {
		msd_err err = pool_grow(p, bytes, d);
		if (err != MSD_OK)
			return err;
		i = p->n_segments;
		b = segment_alloc(&p->segments[i - 1], bytes);
		if (b == NULL)
			return msd_diag_no_memory(d);
	}
	p->used_bytes += bytes;
	*ret = (struct msd_slot){.segment = (uint16_t)(i - 1),
				 .offset = b->offset,
				 .bytes = bytes,
				 .p = p->segments[i - 1].map + b->offset};
	return MSD_OK;
}

void msd_segpool_announce(const struct msd_segpool *p,
			  void (*tell)(void *ctx, uint16_t index, int fd,
				       uint64_t bytes),
			  void *ctx)
{
	for (uint32_t i = 0; i < p->n_segments; i++)
		tell(ctx, (uint16_t)i, p->segments[i].fd, p->segments[i].bytes);
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
		return false;
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
	uint64_t warm = 0;

	for (uint32_t i = 0; i < p->n_segments; i++) {
		struct msd_segment *s = &p->segments[i];
		if (s->is_cold)
			continue;
		warm += s->bytes;
		if (s->n_live == 0 && warm > keep_bytes &&
		    fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			      (off_t)s->bytes) == 0) {
			s->is_cold = true;
			warm -= s->bytes;
		}
	}
}

void msd_segmap_init(struct msd_segmap *m, uint64_t max_bytes)
{
	*m = (struct msd_segmap){.max_bytes = max_bytes};
}

void msd_segmap_finish(struct msd_segmap *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->maps[i].p != NULL)
			msd_aside_unmap(m->maps[i].p, m->maps[i].bytes);
	}
	free(m->maps);
	*m = (struct msd_segmap){0};
}

/* Pages that are not there would become ours when we read them. */
static msd_err segmap_check_limit(const struct msd_segmap *m, uint16_t index,
				  const struct stat *st, struct msd_diag *d)
{
	const uint64_t bytes = (uint64_t)st->st_size;

	if (bytes > m->max_bytes - m->total_bytes) {
		return msd_diag_set(
			d, MSD_PROTOCOL,
			"segment %u of %llu bytes is over the limit: %llu of %llu are "
			"mapped",
			index, (unsigned long long)bytes,
			(unsigned long long)m->total_bytes,
			(unsigned long long)m->max_bytes);
	}
	if ((uint64_t)st->st_blocks * 512 < bytes)
		return msd_diag_set(d, MSD_PROTOCOL, "segment %u has holes", index);
	return MSD_OK;
}

static msd_err segmap_check(const struct msd_segmap *m, uint16_t index, int fd,
			    uint64_t bytes, struct msd_diag *d)
{
	const int wanted = F_SEAL_SHRINK | F_SEAL_GROW;
	struct stat st;

	if (fd < 0) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "segment %u came without a descriptor", index);
	}
	if (index >= MSD_MAX_SEGMENTS || (index < m->n && m->maps[index].p != NULL)) {
		return msd_diag_set(d, MSD_PROTOCOL, "segment index %u is not free",
				    index);
	}
	int seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & wanted) != wanted)
		return msd_diag_set(d, MSD_PROTOCOL, "segment %u is not sealed", index);
	if (fstat(fd, &st) != 0 || bytes == 0 || (uint64_t)st.st_size != bytes) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "segment %u has not the %llu bytes it claims",
				    index, (unsigned long long)bytes);
	}
	return m->max_bytes > 0 ? segmap_check_limit(m, index, &st, d) : MSD_OK;
}

msd_err msd_segmap_add(struct msd_segmap *m, uint16_t index, int fd, uint64_t bytes,
		       bool writable, struct msd_diag *d)
{
	msd_err err = segmap_check(m, index, fd, bytes, d);
	void *map = MAP_FAILED;

	if (err == MSD_OK && index >= m->n) {
		struct msd_segmap_entry *more =
			realloc(m->maps, (index + 1u) * sizeof(*more));
		if (more == NULL) {
			err = msd_diag_no_memory(d);
		} else {
			memset(more + m->n, 0, (index + 1u - m->n) * sizeof(*more));
			m->maps = more;
			m->n = index + 1u;
		}
	}
	if (err == MSD_OK) {
		map = mmap(NULL, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ,
			   MAP_SHARED, fd, 0);
		if (map == MAP_FAILED) {
			err = msd_diag_set(d, MSD_NO_SPACE, "segment %u: mmap: %s",
					   index, strerror(errno));
		}
	}
	if (err != MSD_OK) { /* nobody knows what it is, or how much it frees */
		msd_aside_close(fd);
	} else {
		(void)close(fd);
		m->maps[index] = (struct msd_segmap_entry){.p = map, .bytes = bytes};
		m->total_bytes += bytes;
	}
	return err;
}

uint8_t *msd_segmap_at(const struct msd_segmap *m, uint16_t index, uint64_t offset,
		       uint64_t bytes)
{
	if (index >= m->n || m->maps[index].p == NULL ||
	    offset > m->maps[index].bytes || bytes > m->maps[index].bytes - offset)
		return NULL;
	return m->maps[index].p + offset;
}

const uint8_t *msd_segmap_hold(struct msd_segmap *m, uint16_t index, uint64_t offset,
			       uint64_t bytes)
{
	const uint8_t *p = msd_segmap_at(m, index, offset, bytes);

	if (p != NULL)
		m->maps[index].n_held++;
	return p;
}

void msd_segmap_let_go(struct msd_segmap *m, uint16_t index)
{
	m->maps[index].n_held--;
}

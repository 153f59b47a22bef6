#include "daemon/segments/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>

#include "daemon/loop/closer.h"
#include "proto/base/errno_text.h"

static uint64_t round_down(uint64_t n, uint64_t to)
{
	return n / to * to;
}

msd_err msd_segment_missing(uint64_t bytes, int error, struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];

	return msd_diag_set(d, MSD_NO_SPACE, "segment of %llu bytes: %s",
			    (unsigned long long)bytes, msd_errno_text(error, text));
}

/* The seals keep the other side from truncating a segment that we have mapped.
 * Otherwise our next access would be a SIGBUS. */
msd_err msd_segment_open(struct msd_segment *ret, int fd, uint64_t bytes,
			 struct msd_diag *d)
{
	struct msd_blocks whole;

	if (!msd_blocks_init(&whole, bytes))
		return msd_diag_no_memory(d);
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		goto fail;
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		goto fail;
	*ret = (struct msd_segment){.fd = fd,
				    .map = map,
				    .bytes = bytes,
				    .warm_bytes = bytes,
				    .blocks = whole};
	return MSD_OK;
fail:
	msd_blocks_finish(&whole);
	return msd_segment_missing(bytes, errno, d);
}

void msd_segment_close(struct msd_segment *s)
{
	msd_blocks_finish(&s->blocks);
	if (s->map != NULL)
		msd_closer_discard(s->map, s->bytes);
	msd_closer_close(s->fd);
	*s = (struct msd_segment){.fd = -1};
}

void msd_segment_cool(struct msd_segment *s)
{
	s->warm_bytes = s->bytes;
	for (const struct msd_block *b = s->blocks.first; b != NULL; b = b->next) {
		const uint64_t from = msd_round_up(b->offset, MSD_PAGE_BYTES);
		const uint64_t to = round_down(b->offset + b->bytes, MSD_PAGE_BYTES);
		if (!b->is_live && from < to &&
		    fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      (off_t)from, (off_t)(to - from)) == 0)
			s->warm_bytes -= to - from;
	}
	s->has_holes = s->warm_bytes < s->bytes;
}

/* Reserve the pages of a range again if they may have been given up. */
static bool warm(struct msd_segment *s, uint64_t offset, uint64_t bytes, uint64_t room)
{
	const uint64_t from = round_down(offset, MSD_PAGE_BYTES);
	uint64_t more = msd_round_up(offset + bytes, MSD_PAGE_BYTES) - from;

	if (!s->has_holes)
		return true;
	const uint64_t to = from + more;
	if (more > s->bytes - s->warm_bytes)
		more = s->bytes - s->warm_bytes;
	if (more > room || fallocate(s->fd, 0, (off_t)from, (off_t)(to - from)) != 0)
		return false;
	s->warm_bytes += more;
	return true;
}

struct msd_block *msd_segment_alloc(struct msd_segment *s, uint64_t bytes,
				    uint64_t room)
{
	struct msd_block *b = msd_blocks_fit(&s->blocks, bytes);

	if (b == NULL || !warm(s, b->offset, bytes, room) ||
	    !msd_block_claim(&s->blocks, b, bytes))
		return NULL;
	s->n_live++;
	return b;
}

uint64_t msd_segment_free(struct msd_segment *s, uint64_t offset)
{
	struct msd_block *b = msd_blocks_live_at(&s->blocks, offset);

	if (b == NULL)
		return 0;
	const uint64_t bytes = b->bytes;
	s->n_live--;
	msd_block_free(&s->blocks, b);
	return bytes;
}

bool msd_segment_cut(struct msd_segment *s, uint64_t offset, uint64_t bytes)
{
	struct msd_block *b = msd_blocks_live_at(&s->blocks, offset);

	return b != NULL && msd_block_cut(&s->blocks, b, bytes);
}

bool msd_segment_widen(struct msd_segment *s, uint64_t offset, uint64_t bytes,
		       uint64_t room)
{
	struct msd_block *b = msd_blocks_live_at(&s->blocks, offset);

	if (b == NULL || b->next == NULL || b->next->is_live ||
	    b->bytes + b->next->bytes < bytes)
		return false;
	return warm(s, b->next->offset, bytes - b->bytes, room) &&
	       msd_block_widen(&s->blocks, b, bytes);
}

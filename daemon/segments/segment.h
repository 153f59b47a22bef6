#ifndef MSD_WIRE_SEGMENT_H
#define MSD_WIRE_SEGMENT_H
/*
 * One segment of shared memory, on the side that allocates. It is a memfd whose size
 * is sealed before it is mapped, and whose pages are all reserved before use. Pages
 * that lie entirely in free blocks can be given up, and are reserved again before
 * reuse. segpool.h manages the number and size of segments.
 */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/segments/block.h"
#include "proto/base/diag.h"

#define MSD_PAGE_BYTES 4096u

struct msd_segment {
	int fd;
	uint8_t *map; /* NULL: no segment has this index */
	uint64_t bytes;
	uint64_t warm_bytes; /* bytes that may have pages */
	bool has_holes;      /* pages were given up: reserve them before use */
	struct msd_blocks blocks;
	uint32_t n_live;
};

/** Round @n up to a multiple of @to. */
static inline uint64_t msd_round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}
/** MSD_NO_SPACE: a segment of @bytes could not be made, because of errno @error. */
msd_err msd_segment_missing(uint64_t bytes, int error, struct msd_diag *d);
/**
 * Make a segment of the memfd @fd, which has @bytes, all reserved: seal it, map it,
 * one free block. Takes @fd on success. *@ret is written only on success.
 */
MSD_MUST_CHECK msd_err msd_segment_open(struct msd_segment *ret, int fd, uint64_t bytes,
					struct msd_diag *d);
/** Unmap and close it; its blocks become invalid. A closed segment is allowed. */
void msd_segment_close(struct msd_segment *s);
/**
 * Allocate a block of @bytes in the first gap that is large enough. Pages that were
 * given up are reserved again, at most @room bytes of them. NULL if no gap is large
 * enough, or memory is short.
 */
struct msd_block *msd_segment_alloc(struct msd_segment *s, uint64_t bytes,
				    uint64_t room);
/** Free the block at @offset. Returns its size, or 0 if no live block begins there. */
MSD_MUST_CHECK uint64_t msd_segment_free(struct msd_segment *s, uint64_t offset);
/** Shrink the live block at @offset to its first @bytes. False if memory is short. */
bool msd_segment_cut(struct msd_segment *s, uint64_t offset, uint64_t bytes);
/**
 * Grow the live block at @offset in place to @bytes; reserves pages like
 * msd_segment_alloc(). False if it cannot.
 */
bool msd_segment_widen(struct msd_segment *s, uint64_t offset, uint64_t bytes,
		       uint64_t room);
/** Give up the pages that lie entirely in free blocks. */
void msd_segment_cool(struct msd_segment *s);

#endif

#ifndef MSD_WIRE_SEGMENT_H
#define MSD_WIRE_SEGMENT_H
/*
 * One segment of shared memory, on the side that allocates: a memfd whose size is
 * sealed before it is mapped, reserved in full before use, and what is used of it.
 * Pages that lie in free blocks alone can be given up; they are reserved again before
 * somebody gets them. How many segments there are, and how large, is segpool.h's.
 */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/wire/block.h"
#include "proto/diag.h"

#define MSD_PAGE_BYTES 4096u

struct msd_segment {
	int fd;
	uint8_t *map; /* NULL: there is none of this index */
	uint64_t bytes;
	uint64_t warm_bytes; /* as many as may have pages */
	bool has_holes;      /* pages were given up: reserve them before use */
	struct msd_blocks blocks;
	uint32_t n_live;
};

/** A multiple of @to, at least @n. */
static inline uint64_t msd_round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}
/** MSD_NO_SPACE: a segment of @bytes was not to be had, says the errno @error. */
msd_err msd_segment_missing(uint64_t bytes, int error, struct msd_diag *d);
/** Of the memfd @fd, which has @bytes, all reserved, and is taken on success: sealed,
 * mapped, one free block. *@ret is written on success alone. */
MSD_MUST_CHECK msd_err msd_segment_open(struct msd_segment *ret, int fd, uint64_t bytes,
					struct msd_diag *d);
/** Unmap and close it; its blocks die. What is not open is fine. */
void msd_segment_close(struct msd_segment *s);
/** A live block of @bytes in the first gap that is large enough, its pages reserved
 * where they had been given up, @room bytes of them at most. NULL: there is no such
 * gap, or no memory. */
struct msd_block *msd_segment_alloc(struct msd_segment *s, uint64_t bytes,
				    uint64_t room);
/** Free the block at @offset. Its size; 0: no such block is live. */
MSD_MUST_CHECK uint64_t msd_segment_free(struct msd_segment *s, uint64_t offset);
/** The live block at @offset keeps its first @bytes. False: memory is short. */
bool msd_segment_cut(struct msd_segment *s, uint64_t offset, uint64_t bytes);
/** The live block at @offset grows to @bytes where it lies, as msd_segment_alloc()
 * has pages. False: it cannot. */
bool msd_segment_widen(struct msd_segment *s, uint64_t offset, uint64_t bytes,
		       uint64_t room);
/** Give up the pages that lie in free blocks alone. */
void msd_segment_cool(struct msd_segment *s);

#endif

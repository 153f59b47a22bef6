#ifndef MSD_WIRE_SEGPOOL_H
#define MSD_WIRE_SEGPOOL_H
/*
 * Shared memory for tensors between supervisor and worker: segments (segment.h), and
 * the slots in them. Per worker and direction one side allocates: the supervisor in
 * *in* segments, the worker in *out* segments. The allocator's state is private to that
 * side; the other side only maps (segmap.h).
 *
 * What a pool may have is pages, not addresses: segments that nobody uses are taken
 * back, and free pages between used slots given up, before a slot is refused. So it
 * does not matter for long what the sizes of earlier slots were.
 */
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "proto/diag.h"

#define MSD_MAX_SEGMENTS 1024u
/* The numbers from here on are of segments that clients lend. */
#define MSD_FIRST_LENT MSD_MAX_SEGMENTS
#define MSD_MAX_LENT 1024u /* of all clients together */
#define MSD_MIN_SEGMENT_BYTES (1u << 20)

/* A piece of a segment. */
struct msd_slot {
	uint16_t segment;
	uint64_t offset; /* multiple of MSD_TENSOR_ALIGN */
	uint64_t bytes;  /* reserved: rounded up to MSD_TENSOR_ALIGN */
	uint8_t *p;      /* mapped here */
};

struct msd_reserve;
struct msd_segment;

/* A segment was made: pass @fd (borrowed) to the other side before its first slot. Or
 * it is about to be taken back: @fd is -1, @bytes 0, and @index may come again. */
typedef void (*msd_segment_teller)(void *ctx, uint16_t index, int fd, uint64_t bytes);

/* The allocating side. */
struct msd_segpool {
	struct msd_segment *segments; /* owned array of n_segments, with gaps */
	uint32_t n_segments;
	uint64_t
		total_bytes; /* of all segments; at most msd_segpool_most_addresses() */
	uint64_t warm_bytes; /* of their pages, given up ones apart */
	uint64_t used_bytes; /* of all live slots */
	uint64_t max_bytes;  /* warm_bytes may not grow over this */
	bool is_pinned;      /* a device holds the pages: none are given up */
	msd_segment_teller tell;
	void *ctx;
	uv_loop_t *loop;             /* that is not to wait; NULL: it grows at once */
	void (*on_grown)(void *ctx); /* it has, or could not: ask again */
	struct msd_reserve *growing; /* its next segment */
	int grow_error;              /* an errno; 0: none is to be told */
};

/** How many bytes the segments of a pool of @max_bytes may have together. */
static inline uint64_t msd_segpool_most_addresses(uint64_t max_bytes)
{
	return max_bytes < UINT64_MAX / 2 ? 2 * max_bytes : UINT64_MAX;
}
/** An empty pool of at most @max_bytes; @tell may be NULL. Nothing is allocated yet. */
void msd_segpool_init(struct msd_segpool *p, uint64_t max_bytes,
		      msd_segment_teller tell, void *ctx);
/** Reserve large segments on threads of @loop from here on; @on_grown gets the pool's
 * ctx. */
void msd_segpool_grow_aside(struct msd_segpool *p, uv_loop_t *loop,
			    void (*on_grown)(void *ctx));
/** Unmap and close everything; outstanding slots die. */
void msd_segpool_finish(struct msd_segpool *p);
/**
 * Reserve @bytes (0 is legal). Grows by a new segment when needed. MSD_NO_SPACE when
 * max_bytes or the machine's memory does not allow it: no slot is lost. MSD_WAIT, of
 * one that grows aside: ask again after on_grown.
 */
MSD_MUST_CHECK msd_err msd_segpool_alloc(struct msd_segpool *p, uint64_t bytes,
					 struct msd_slot *ret, struct msd_diag *d);
/** Call @tell for every segment: there is a new other side. */
void msd_segpool_announce(const struct msd_segpool *p, msd_segment_teller tell,
			  void *ctx);
/** Give a slot back. False when no such slot is live (a peer's mistake, not ours). */
MSD_MUST_CHECK bool msd_segpool_free(struct msd_segpool *p, uint16_t segment,
				     uint64_t offset);
/** The live @slot keeps its first @bytes. False: memory is short, nothing has changed.
 */
MSD_MUST_CHECK bool msd_segpool_cut(struct msd_segpool *p, struct msd_slot *slot,
				    uint64_t bytes);
/** The live @slot grows to @bytes where it lies. False: what is behind it is in use, or
 * has no pages; nothing has changed. */
MSD_MUST_CHECK bool msd_segpool_widen(struct msd_segpool *p, struct msd_slot *slot,
				      uint64_t bytes);
/** Where a live slot's user may keep what it knows the slot by, NULL at first. NULL: no
 * such slot is live. */
void **msd_segpool_owner(const struct msd_segpool *p, uint16_t segment,
			 uint64_t offset);
/** Where segment @index is mapped, NULL where none is, and its size. */
uint8_t *msd_segpool_map(const struct msd_segpool *p, uint16_t index,
			 uint64_t *ret_bytes);
/** Take segments without live slots back, keeping @keep_bytes; none that is pinned. */
void msd_segpool_trim(struct msd_segpool *p, uint64_t keep_bytes);

#endif

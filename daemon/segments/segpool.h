#ifndef MSD_WIRE_SEGPOOL_H
#define MSD_WIRE_SEGPOOL_H
/*
 * Shared memory for tensors between supervisor and worker: segments (segment.h), and
 * the slots in them. Per worker and direction one side allocates: the supervisor in
 * *in* segments, the worker in *out* segments. The allocator's state is private to
 * that side; the other side only maps (segmap.h).
 *
 * The limit of a pool counts pages, not addresses. Before a slot is refused, unused
 * segments are taken back and free pages between used slots are given up. So the
 * sizes of earlier slots do not matter for long.
 */
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "proto/base/diag.h"

#define MSD_MAX_SEGMENTS 1024u
/* Numbers from here on are segments that clients share with the daemon. */
#define MSD_FIRST_LENT MSD_MAX_SEGMENTS
#define MSD_MAX_LENT 1024u /* for all clients together */
#define MSD_MIN_SEGMENT_BYTES (1u << 20)

/* A part of a segment. */
struct msd_slot {
	uint16_t segment;
	uint64_t offset; /* multiple of MSD_TENSOR_ALIGN */
	uint64_t bytes;  /* reserved: rounded up to MSD_TENSOR_ALIGN */
	uint8_t *p;      /* mapped in this process */
};

struct msd_reserve;
struct msd_segment;

/* A segment was made: pass @fd (borrowed) to the other side before its first slot. Or
 * it is about to be taken back: @fd is -1, @bytes 0, and @index may be reused. */
typedef void (*msd_segment_teller)(void *ctx, uint16_t index, int fd, uint64_t bytes);

/* The allocating side. */
struct msd_segpool {
	struct msd_segment *segments; /* owned array of n_segments, with gaps */
	uint32_t n_segments;
	uint64_t total_bytes; /* all segments; at most msd_segpool_most_addresses() */
	uint64_t warm_bytes;  /* bytes with pages, without those given up */
	uint64_t used_bytes;  /* all live slots */
	uint64_t max_bytes;   /* limit for warm_bytes */
	bool is_pinned;       /* a device holds the pages: none are given up */
	msd_segment_teller tell;
	void *ctx;
	uv_loop_t *loop; /* loop that must not block; NULL: the pool grows at once */
	void (*on_grown)(void *ctx); /* growing has ended or failed: ask again */
	struct msd_reserve *growing; /* next segment, being reserved */
	int grow_error;              /* an errno to report; 0: none */
};

/** Maximum bytes that the segments of a pool of @max_bytes may have together. */
static inline uint64_t msd_segpool_most_addresses(uint64_t max_bytes)
{
	return max_bytes < UINT64_MAX / 2 ? 2 * max_bytes : UINT64_MAX;
}
/**
 * Make an empty pool of at most @max_bytes; @tell may be NULL. Nothing is allocated
 * yet.
 */
void msd_segpool_init(struct msd_segpool *p, uint64_t max_bytes,
		      msd_segment_teller tell, void *ctx);
/**
 * From now on reserve large segments on threads of @loop. @on_grown gets the pool's
 * ctx.
 */
void msd_segpool_grow_aside(struct msd_segpool *p, uv_loop_t *loop,
			    void (*on_grown)(void *ctx));
/** Unmap and close everything; outstanding slots become invalid. */
void msd_segpool_finish(struct msd_segpool *p);
/**
 * Reserve @bytes (0 is legal). Grows by a new segment if needed. MSD_NO_SPACE if
 * max_bytes or the machine's memory does not allow it; existing slots stay valid.
 * MSD_WAIT, if it grows on a thread: ask again after on_grown.
 */
MSD_MUST_CHECK msd_err msd_segpool_alloc(struct msd_segpool *p, uint64_t bytes,
					 struct msd_slot *ret, struct msd_diag *d);
/** Call @tell for every segment, for a new other side. */
void msd_segpool_announce(const struct msd_segpool *p, msd_segment_teller tell,
			  void *ctx);
/** Free a slot. False if no such slot is live (an error of the peer). */
MSD_MUST_CHECK bool msd_segpool_free(struct msd_segpool *p, uint16_t segment,
				     uint64_t offset);
/**
 * Shrink the live @slot to its first @bytes. False if memory is short; nothing has
 * changed.
 */
MSD_MUST_CHECK bool msd_segpool_cut(struct msd_segpool *p, struct msd_slot *slot,
				    uint64_t bytes);
/**
 * Grow the live @slot in place to @bytes. False if the memory behind it is in use, or
 * has no pages; nothing has changed.
 */
MSD_MUST_CHECK bool msd_segpool_widen(struct msd_segpool *p, struct msd_slot *slot,
				      uint64_t bytes);
/**
 * Where the user of a live slot may store a pointer, NULL at first. NULL if no such
 * slot is live.
 */
void **msd_segpool_owner(const struct msd_segpool *p, uint16_t segment,
			 uint64_t offset);
/** Address and size of segment @index; NULL if it does not exist. */
uint8_t *msd_segpool_map(const struct msd_segpool *p, uint16_t index,
			 uint64_t *ret_bytes);
/** Take back segments without live slots, but keep @keep_bytes; pinned segments stay.
 */
void msd_segpool_trim(struct msd_segpool *p, uint64_t keep_bytes);

#endif

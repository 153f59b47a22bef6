#ifndef MSD_WIRE_SEGMENT_H
#define MSD_WIRE_SEGMENT_H
/*
 * Shared memory for tensors between supervisor and worker. A segment is a memfd whose
 * size is sealed before it is mapped, reserved in full before use. Per worker and
 * direction one side allocates: the supervisor in *in* segments, the worker in *out*
 * segments. The allocator's state is private to that side; the other side only maps.
 */
#include <stdbool.h>
#include <stdint.h>

#include "proto/diag.h"

#define MSD_MAX_SEGMENTS 1024u
#define MSD_MIN_SEGMENT_BYTES (1u << 20)

/* A piece of a segment. */
struct msd_slot {
	uint16_t segment;
	uint64_t offset; /* multiple of MSD_TENSOR_ALIGN */
	uint64_t bytes;  /* reserved: rounded up to MSD_TENSOR_ALIGN */
	uint8_t *p;      /* mapped here */
};

struct msd_segment;

/* The allocating side. */
struct msd_segpool {
	struct msd_segment *segments; /* owned array of n_segments */
	uint32_t n_segments;
	uint64_t total_bytes; /* of all segments */
	uint64_t used_bytes;  /* of all live slots */
	uint64_t max_bytes;   /* total may not grow over this */
	/** Called for each new segment, before its first slot is handed out: pass @fd
	 * (borrowed) to the other side. */
	void (*on_new)(void *ctx, uint16_t index, int fd, uint64_t bytes);
	void *ctx;
};

/** An empty pool of at most @max_bytes; @on_new may be NULL. Nothing is allocated yet.
 */
void msd_segpool_init(struct msd_segpool *p, uint64_t max_bytes,
		      void (*on_new)(void *ctx, uint16_t index, int fd, uint64_t bytes),
		      void *ctx);
/** Unmap and close everything; outstanding slots die. */
void msd_segpool_finish(struct msd_segpool *p);
/**
 * Reserve @bytes (0 is legal). Grows by a new segment when needed. MSD_NO_SPACE when
 * max_bytes or the machine's memory does not allow it: nothing changed.
 */
MSD_MUST_CHECK msd_err msd_segpool_alloc(struct msd_segpool *p, uint64_t bytes,
					 struct msd_slot *ret, struct msd_diag *d);
/** Call @tell, as on_new is called, for every segment: there is a new other side. */
void msd_segpool_announce(const struct msd_segpool *p,
			  void (*tell)(void *ctx, uint16_t index, int fd,
				       uint64_t bytes),
			  void *ctx);
/** Give a slot back. False when no such slot is live (a peer's mistake, not ours). */
MSD_MUST_CHECK bool msd_segpool_free(struct msd_segpool *p, uint16_t segment,
				     uint64_t offset);
/** Where segment @index is mapped, and its size. */
uint8_t *msd_segpool_map(const struct msd_segpool *p, uint16_t index,
			 uint64_t *ret_bytes);
/** Give the pages of segments without live slots back to the system, keeping
 * @keep_bytes warm. The segments stay mapped; their pages are reserved again before
 * reuse. */
void msd_segpool_trim(struct msd_segpool *p, uint64_t keep_bytes);

/* The mapping side. */
struct msd_segmap {
	struct msd_segmap_entry {
		uint8_t *p; /* NULL where absent */
		uint64_t bytes;
		uint32_t n_held; /* msd_segmap_hold() */
	} * maps;                /* owned, by index */
	uint32_t n;
	uint64_t total_bytes; /* of all segments */
	uint64_t max_bytes;
};

/**
 * Nothing is mapped yet. Segments may have @max_bytes together, and must have all of
 * their pages when they come; 0: the other side is believed.
 */
void msd_segmap_init(struct msd_segmap *m, uint64_t max_bytes);
/** Unmap everything. */
void msd_segmap_finish(struct msd_segmap *m);
/**
 * Map @fd (consumed) as segment @index. Checks the seals (SHRINK and GROW), the real
 * size against @bytes, the limit, and that the index is new. MSD_PROTOCOL otherwise.
 */
MSD_MUST_CHECK msd_err msd_segmap_add(struct msd_segmap *m, uint16_t index, int fd,
				      uint64_t bytes, bool writable,
				      struct msd_diag *d);
/** Address of a range, NULL when it is not inside a mapped segment. */
uint8_t *msd_segmap_at(const struct msd_segmap *m, uint16_t index, uint64_t offset,
		       uint64_t bytes);
/** The same of a range that stays in use until msd_segmap_let_go(). */
const uint8_t *msd_segmap_hold(struct msd_segmap *m, uint16_t index, uint64_t offset,
			       uint64_t bytes);
void msd_segmap_let_go(struct msd_segmap *m, uint16_t index);

#endif

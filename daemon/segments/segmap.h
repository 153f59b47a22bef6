#ifndef MSD_WIRE_SEGMAP_H
#define MSD_WIRE_SEGMAP_H
/* Maps the segments (segment.h) that the other side has made. The other side says
 * which ranges are in use, and this side checks them. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/segments/ranges.h"
#include "proto/base/diag.h"

enum msd_segmap_as {
	MSD_MAP_READ,  /* read-only */
	MSD_MAP_WRITE, /* read and write */
	/* Private copy-on-write, for memory that must not be modified: writes stay in
	 * this process. */
	MSD_MAP_APART
};

struct msd_segmap {
	struct msd_segmap_entry {
		uint8_t *p; /* NULL if absent */
		uint64_t bytes;
		bool is_apart;          /* MSD_MAP_APART */
		struct msd_ranges held; /* msd_segmap_hold() */
	} * maps;                       /* owned, by index */
	uint32_t n;
	uint64_t total_bytes; /* sum of all segments */
	uint64_t apart_bytes; /* sum of those mapped MSD_MAP_APART */
	uint64_t max_bytes;
	uint64_t chance; /* shapes the range trees; the other side never sees it */
};

/**
 * Initialize; nothing is mapped yet. Segments may have @max_bytes together, and all
 * of their pages must exist when they arrive. 0: the other side is trusted.
 */
void msd_segmap_init(struct msd_segmap *m, uint64_t max_bytes);
/** Unmap everything. */
void msd_segmap_finish(struct msd_segmap *m);
/**
 * Map @fd (consumed) as segment @index. Checks the seals (SHRINK and GROW), the real
 * size against @bytes, the limit, and that the index is free. MSD_PROTOCOL otherwise;
 * MSD_NO_SPACE, MSD_NOMEM if it is valid and cannot be mapped.
 */
MSD_MUST_CHECK msd_err msd_segmap_add(struct msd_segmap *m, uint16_t index, int fd,
				      uint64_t bytes, enum msd_segmap_as as,
				      struct msd_diag *d);
/**
 * Unmap segment @index, which the other side takes back. MSD_PROTOCOL if it does not
 * exist or a range of it is held.
 */
MSD_MUST_CHECK msd_err msd_segmap_remove(struct msd_segmap *m, uint16_t index,
					 struct msd_diag *d);
/** Address of a range, NULL if it is not inside a mapped segment. */
uint8_t *msd_segmap_at(const struct msd_segmap *m, uint16_t index, uint64_t offset,
		       uint64_t bytes);
/**
 * Get the address of a range and hold it exclusively until msd_segmap_let_go(). @at
 * and @bytes of *@r are set; it must not move while held. MSD_PROTOCOL if it is not
 * inside a mapped segment, or overlaps a held range.
 */
MSD_MUST_CHECK msd_err msd_segmap_hold(struct msd_segmap *m, uint16_t index,
				       struct msd_range *r, const uint8_t **ret,
				       struct msd_diag *d);
void msd_segmap_let_go(struct msd_segmap *m, uint16_t index, const struct msd_range *r);
/** Drop the pages from this process's memory; a read maps them again. */
void msd_segmap_cool(const struct msd_segmap *m);

#endif

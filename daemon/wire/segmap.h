#ifndef MSD_WIRE_SEGMAP_H
#define MSD_WIRE_SEGMAP_H
/*
 * The segments (segment.h) that the other side has made, mapped here. Ranges of them
 * are used as the other side says, which is checked.
 */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/wire/ranges.h"
#include "proto/diag.h"

enum msd_segmap_as {
	MSD_MAP_READ,  /* what is there can be read */
	MSD_MAP_WRITE, /* and written */
	/* What is written stays in this process: of what may not be written there. */
	MSD_MAP_APART
};

struct msd_segmap {
	struct msd_segmap_entry {
		uint8_t *p; /* NULL where absent */
		uint64_t bytes;
		bool is_apart;          /* MSD_MAP_APART */
		struct msd_ranges held; /* msd_segmap_hold() */
	} * maps;                       /* owned, by index */
	uint32_t n;
	uint64_t total_bytes; /* of all segments */
	uint64_t apart_bytes; /* of those that are mapped MSD_MAP_APART */
	uint64_t max_bytes;
	uint64_t chance; /* of the shape of what is held */
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
 * size against @bytes, the limit, and that the index is new. MSD_PROTOCOL otherwise;
 * MSD_NO_SPACE, MSD_NOMEM when it is sound and cannot be mapped.
 */
MSD_MUST_CHECK msd_err msd_segmap_add(struct msd_segmap *m, uint16_t index, int fd,
				      uint64_t bytes, enum msd_segmap_as as,
				      struct msd_diag *d);
/** Unmap segment @index, which the other side takes back. MSD_PROTOCOL when it is not
 * there or a range of it is held. */
MSD_MUST_CHECK msd_err msd_segmap_remove(struct msd_segmap *m, uint16_t index,
					 struct msd_diag *d);
/** Address of a range, NULL when it is not inside a mapped segment. */
uint8_t *msd_segmap_at(const struct msd_segmap *m, uint16_t index, uint64_t offset,
		       uint64_t bytes);
/**
 * The same of a range that is in use until msd_segmap_let_go(), alone: *@r, of which
 * @at and @bytes are set, stays where it is until then. MSD_PROTOCOL when it is not
 * inside a mapped segment, or when a part of it is in use.
 */
MSD_MUST_CHECK msd_err msd_segmap_hold(struct msd_segmap *m, uint16_t index,
				       struct msd_range *r, const uint8_t **ret,
				       struct msd_diag *d);
void msd_segmap_let_go(struct msd_segmap *m, uint16_t index, const struct msd_range *r);
/** Have no page of them in our own memory; they come again when they are read. */
void msd_segmap_cool(const struct msd_segmap *m);

#endif

#ifndef MSD_WIRE_RANGES_H
#define MSD_WIRE_RANGES_H
/*
 * A set of ranges that do not overlap, ordered by their start: the parts of a segment
 * that the other side says are in use. It is a tree with random shape, which the
 * other side cannot predict, so it never gets deep.
 *
 * Ownership: the holder embeds the ranges, and they must not move.
 */
#include <stdbool.h>
#include <stdint.h>

struct msd_range {
	uint64_t at, bytes; /* 0 bytes count as 1 */
	/* private */
	uint64_t rank;
	struct msd_range *before, *after;
};

struct msd_ranges {
	struct msd_range *root; /* NULL: empty */
};

/**
 * Insert @r, whose @at and @bytes are set and whose sum does not overflow. @chance:
 * 64 bits that the other side does not know. False if it overlaps an existing range;
 * nothing has changed.
 */
bool msd_ranges_add(struct msd_ranges *s, struct msd_range *r, uint64_t chance);
/** Remove @r, which must be in the set. */
void msd_ranges_remove(struct msd_ranges *s, const struct msd_range *r);

#endif

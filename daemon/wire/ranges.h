#ifndef MSD_WIRE_RANGES_H
#define MSD_WIRE_RANGES_H
/*
 * Ranges of which no two overlap, found by where they begin: what the other side says
 * is in use of a segment. A tree whose shape is by chance, which the other side cannot
 * foresee, so that none is deep.
 *
 * Ownership: the ranges are embedded by who holds them, and stay where they are.
 */
#include <stdbool.h>
#include <stdint.h>

struct msd_range {
	uint64_t at, bytes; /* 0 bytes take the place of one */
	/* private */
	uint64_t rank;
	struct msd_range *before, *after;
};

struct msd_ranges {
	struct msd_range *root; /* NULL: there are none */
};

/** Take in @r, of which @at and @bytes are set, their sum no overflow. @chance: 64 bits
 * that the other side does not know. False: it overlaps one that is there, and nothing
 * has changed. */
bool msd_ranges_add(struct msd_ranges *s, struct msd_range *r, uint64_t chance);
/** Take out @r, which is in it. */
void msd_ranges_remove(struct msd_ranges *s, const struct msd_range *r);

#endif

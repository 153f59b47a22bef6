#ifndef MSD_RUNTIME_CONTRIB_ORDER_H
#define MSD_RUNTIME_CONTRIB_ORDER_H
/*
 * Sort numbers that carry their original index. The result equals that of TVM's own
 * runtime even where the order is not a strict weak order. A NaN compares as not
 * smaller than any number, so the final positions of NaNs and their neighbours depend
 * on the compared pairs. Therefore both algorithms make the same comparisons as the
 * C++ library of TVM's builds.
 *
 * A descending order is an ascending order of the negated numbers
 * (msd_number_negate()).
 */
#include "runtime/value/element.h"

struct msd_item {
	int64_t index;
	union msd_number v;
};
struct msd_order {
	bool is_float;
	bool by_index; /* equal numbers are ordered by index */
};

/**
 * Negate for a descending order; keeps NaNs. Integers are complemented, which cannot
 * overflow.
 */
union msd_number msd_number_negate(struct msd_order o, union msd_number v);
/** Stable sort. @scratch has room for (n + 1) / 2 items. */
void msd_items_sort(struct msd_order o, struct msd_item *items, size_t n,
		    struct msd_item *scratch);

/* The first k items of a stream in order: a heap of at most k items with the last of
 * them on top. */
struct msd_top {
	struct msd_order order;
	struct msd_item *items; /* room for k + 1 */
	size_t n;
};
/** Make a heap of the first n items. */
void msd_top_start(struct msd_top *t);
/** Offer an item when the heap already holds k. */
void msd_top_offer(struct msd_top *t, struct msd_item item);

#endif

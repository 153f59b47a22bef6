#ifndef MSD_RUNTIME_CONTRIB_ORDER_H
#define MSD_RUNTIME_CONTRIB_ORDER_H
/*
 * Sorting numbers that remember where they stood. The result is that of TVM's own
 * runtime even where the order is not one: NaNs compare as smaller to nothing, so where
 * they and their neighbours end depends on which pairs are compared. Both algorithms
 * therefore make the comparisons that the C++ library of TVM's builds makes.
 *
 * A descending order is an ascending one of the negated numbers
 * (msd_number_negate()).
 */
#include "runtime/value/element.h"

struct msd_item {
	int64_t index;
	union msd_number v;
};
struct msd_order {
	bool is_float;
	bool by_index; /* of equal numbers the one of smaller index is first */
};

/** For a descending order; keeps NaNs. Integers are complemented, which does not
 * overflow. */
union msd_number msd_number_negate(struct msd_order o, union msd_number v);
/** Stable. @scratch has room for (n + 1) / 2 items. */
void msd_items_sort(struct msd_order o, struct msd_item *items, size_t n,
		    struct msd_item *scratch);

/* The first k in order of a stream: at most k items in a heap, the last of them on top.
 */
struct msd_top {
	struct msd_order order;
	struct msd_item *items; /* room for k + 1 */
	size_t n;
};
/** Make a heap of the first n items. */
void msd_top_start(struct msd_top *t);
/** Offer an item once there are k. */
void msd_top_offer(struct msd_top *t, struct msd_item item);

#endif

#ifndef MSD_WIRE_FAIR_LIST_H
#define MSD_WIRE_FAIR_LIST_H
/*
 * A list whose peers take turns: each pop returns an element of the next peer, and
 * the elements of one peer keep their order. A peer is any number. Peers whose numbers
 * have the same hash share a turn, so the list has a fixed size and adding an element
 * cannot fail. An element may leave by msd_list_remove() at any time.
 */
#include <stdint.h>

#include "daemon/loop/list.h"

#define MSD_FAIR_LANES_LOG2 5u
#define MSD_FAIR_LANES (1u << MSD_FAIR_LANES_LOG2)

struct msd_fair_lane {
	struct msd_list turn;     /* in msd_fair_list.turns */
	struct msd_list elements; /* the elements' links */
};

struct msd_fair_list {
	struct msd_list turns; /* msd_fair_lane.turn: all lanes with elements, and
				  perhaps some whose elements left */
	struct msd_fair_lane lanes[MSD_FAIR_LANES];
};

static inline void msd_fair_list_init(struct msd_fair_list *l)
{
	msd_list_init(&l->turns);
	for (unsigned i = 0; i < MSD_FAIR_LANES; i++) {
		msd_list_init(&l->lanes[i].turn);
		msd_list_init(&l->lanes[i].elements);
	}
}

/** Append @element, which is in no list, to the elements of @peer. */
static inline void msd_fair_list_append(struct msd_fair_list *l,
					struct msd_list *element, uint64_t peer)
{
	const uint64_t hash = peer * UINT64_C(0x9e3779b97f4a7c15);
	struct msd_fair_lane *lane = &l->lanes[hash >> (64 - MSD_FAIR_LANES_LOG2)];

	msd_list_append(&lane->elements, element);
	if (msd_list_is_empty(&lane->turn))
		msd_list_append(&l->turns, &lane->turn);
}

/** Remove and return the first element of the next peer; NULL if none is left. */
static inline struct msd_list *msd_fair_list_pop(struct msd_fair_list *l)
{
	struct msd_list *it;

	while ((it = msd_list_first(&l->turns)) != NULL) {
		struct msd_fair_lane *lane =
			MSD_CONTAINER_OF(it, struct msd_fair_lane, turn);
		struct msd_list *element = msd_list_first(&lane->elements);

		msd_list_remove(&lane->turn);
		if (element == NULL)
			continue;
		msd_list_remove(element);
		if (!msd_list_is_empty(&lane->elements))
			msd_list_append(&l->turns, &lane->turn);
		return element;
	}
	return NULL;
}

#endif

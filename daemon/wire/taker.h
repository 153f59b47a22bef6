#ifndef MSD_WIRE_TAKER_H
#define MSD_WIRE_TAKER_H
/*
 * One of those that take turns on a loop: a connection, whatever it speaks. conn.h says
 * how many of one peer's have theirs in one turn of the loop; so whoever has
 * connections of two kinds has no more of it.
 */
#include "daemon/wire/wire.h"

struct msd_account;

struct msd_taker {
	struct msd_list link; /* msd_wire.waiting: for its next turn */
	uint64_t turn;        /* the loop's, when it had its last */
	/* Borrowed; whose parent is its peer's. NULL: it shares with nobody. */
	const struct msd_account *account;
	/** It is its turn; it leaves the list, or is passed over. */
	void (*have_turn)(struct msd_taker *t);
};

/** Those with whom @t shares have had all that they may of this turn: it waits for the
 * next one. Else it is one of them, and in no list. */
bool msd_taker_is_passed_over(struct msd_taker *t, struct msd_wire *w);
/** When the part of @t begins; 0: it is not measured, for it is the first of those. */
uint64_t msd_taker_begins(const struct msd_taker *t, struct msd_wire *w);

#endif

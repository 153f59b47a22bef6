#ifndef MSD_SUPERVISOR_FAIR_SHARE_H
#define MSD_SUPERVISOR_FAIR_SHARE_H
/* Fair shares: how much of a resource one client may use, so that some is left for
 * the next one, whatever the order. */
#include <stdint.h>

/**
 * The share of a client that could have @most alone, while other clients use @others
 * of @all. It gets the fraction @most / @all of the rest, rounded up. If @most is
 * @all, it gets all.
 */
static inline uint64_t msd_fair_share_of(uint64_t all, uint64_t others, uint64_t most)
{
	if (others == 0 || most >= all)
		return most;
	const uint64_t left = others < all ? all - others : 0;
	const double exact = (double)left / (double)all * (double)most;
	const uint64_t whole = (uint64_t)exact;
	return whole + (exact > (double)whole ? 1 : 0);
}

/** The same for a client that may have half of @all when it is the only one. */
static inline uint64_t msd_fair_share_of_few(uint64_t all, uint64_t others)
{
	return msd_fair_share_of(all, others, (all + 1) / 2);
}

#endif

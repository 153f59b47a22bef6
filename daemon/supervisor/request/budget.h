#ifndef MSD_SUPERVISOR_BUDGET_H
#define MSD_SUPERVISOR_BUDGET_H
/* The limit of tensor bytes that all requests hold at a time, including declared
 * outputs; and fair shares: how much of a resource one client may use, so that some is
 * left for the next one, whatever the order. */
#include <stdbool.h>
#include <stdint.h>

struct msd_budget {
	uint64_t max_bytes;
	uint64_t used_bytes;
	/**
	 * Bytes were released: requests that wait for room may retry, in a later loop
	 * iteration.
	 */
	void (*on_room)(struct msd_budget *budget);
};

/** Returns false if there is no room now. */
static inline bool msd_budget_claim(struct msd_budget *budget, uint64_t bytes)
{
	if (bytes > budget->max_bytes - budget->used_bytes)
		return false;
	budget->used_bytes += bytes;
	return true;
}

static inline void msd_budget_release(struct msd_budget *budget, uint64_t bytes)
{
	budget->used_bytes -= bytes;
	budget->on_room(budget);
}

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

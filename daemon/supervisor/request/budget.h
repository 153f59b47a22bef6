#ifndef MSD_SUPERVISOR_BUDGET_H
#define MSD_SUPERVISOR_BUDGET_H
/* The limit of tensor bytes that all requests hold at a time, including declared
 * outputs. */
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

#endif

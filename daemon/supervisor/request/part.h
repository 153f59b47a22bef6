#ifndef MSD_SUPERVISOR_PART_H
#define MSD_SUPERVISOR_PART_H
/* How much of something one of many may have, so that some is left for the next one,
 * whoever came before. */
#include <stdint.h>

/**
 * Of @all, when others have @others of it, for one that might have @most alone: as
 * large a part of what they leave as @most is of all, rounded up. Where @most is all,
 * that.
 */
static inline uint64_t msd_part_of(uint64_t all, uint64_t others, uint64_t most)
{
	if (others == 0 || most >= all)
		return most;
	const uint64_t left = others < all ? all - others : 0;
	const double exact = (double)left / (double)all * (double)most;
	const uint64_t whole = (uint64_t)exact;
	return whole + (exact > (double)whole ? 1 : 0);
}

/** The same of one that may have half of @all alone, and the only one there is. */
static inline uint64_t msd_part_of_few(uint64_t all, uint64_t others)
{
	return msd_part_of(all, others, (all + 1) / 2);
}

#endif

#ifndef MSD_SUPERVISOR_SUPPLY_REST_H
#define MSD_SUPERVISOR_SUPPLY_REST_H
/* The delay before a module's source is polled again. It has random jitter, so that
 * machines that started together do not poll together. */
#include <stdint.h>

#define MSD_SUPPLY_NEVER UINT64_MAX
#define MSD_SUPPLY_MOST_MS 300000u /* maximum back-off */

struct msd_supply_pace {
	uint64_t poll_ms;  /* 0: it is not polled again */
	uint64_t retry_ms; /* initial back-off after a failure */
};

/**
 * The delay after @n_failures in a row; 0: the last poll succeeded. @chance: a
 * uniformly random number.
 */
uint64_t msd_supply_rest(const struct msd_supply_pace *pace, uint32_t n_failures,
			 uint32_t chance);
/** The delay before the first poll of a daemon that serves an edition of the store. */
uint64_t msd_supply_first_rest(const struct msd_supply_pace *pace, uint32_t chance);

#endif

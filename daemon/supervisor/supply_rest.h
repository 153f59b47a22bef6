#ifndef MSD_SUPERVISOR_SUPPLY_REST_H
#define MSD_SUPERVISOR_SUPPLY_REST_H
/* How long a module's source is left alone before it is asked again. Never exactly as
 * long as asked for: many machines that started together do not come back together. */
#include <stdint.h>

#define MSD_SUPPLY_NEVER UINT64_MAX
#define MSD_SUPPLY_MOST_MS 300000u /* however often it has failed */

struct msd_supply_pace {
	uint64_t poll_ms;  /* 0: it is not asked again */
	uint64_t retry_ms; /* what rests after failures begin with */
};

/** After @n_failures in a row, 0: it has answered. @chance is any number, each as
 * likely as any other. */
uint64_t msd_supply_rest(const struct msd_supply_pace *pace, uint32_t n_failures,
			 uint32_t chance);
/** Before it is asked for the first time, by a daemon that serves what it has. */
uint64_t msd_supply_first_rest(const struct msd_supply_pace *pace, uint32_t chance);

#endif

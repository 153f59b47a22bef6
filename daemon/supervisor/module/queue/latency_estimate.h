#ifndef MSD_SUPERVISOR_LATENCY_ESTIMATE_H
#define MSD_SUPERVISOR_LATENCY_ESTIMATE_H
/*
 * Latency estimate: recent run times of a module's functions. They decide whether a
 * call may be sent to a busy worker, and whether it can finish by its deadline. Each
 * row of the module's call statistics has an entry. Functions that share the row for
 * all other functions distort each other's estimate.
 */
#include <stdint.h>

#define MSD_LATENCY_ESTIMATE_PLACES 256u
#define MSD_LATENCY_ESTIMATE_MOST_US 3600000000u /* limit for what a worker reports */

struct msd_latency_estimate {
	/* Moving averages; 0: never seen. A request behind n calls waits for n times
	 * the mean, so the averages rise as fast as they fall. */
	uint32_t us[MSD_LATENCY_ESTIMATE_PLACES];
	/*
	 * How many calls were seen, up to two. The first call of a function is often
	 * a hundred times slower than later ones, so a faster second one replaces it.
	 */
	uint8_t n[MSD_LATENCY_ESTIMATE_PLACES];
};

/** Return the expected microseconds; 0: never seen. */
static inline uint32_t
msd_latency_estimate_expect(const struct msd_latency_estimate *pace, uint8_t place)
{
	return pace->us[place];
}
/** Note a call that took @exec_ns. */
void msd_latency_estimate_note(struct msd_latency_estimate *pace, uint8_t place,
			       uint64_t exec_ns);

#endif

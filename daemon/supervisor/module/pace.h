#ifndef MSD_SUPERVISOR_PACE_H
#define MSD_SUPERVISOR_PACE_H
/*
 * How long a module's functions took lately: whether a call may be sent to a worker
 * that is still busy, and whether one will be done by its deadline. A place for each
 * row of the module's tally; the functions that share the row for all others misjudge
 * each other.
 */
#include <stdint.h>

#define MSD_PACE_PLACES 256u
#define MSD_PACE_MOST_US 3600000000u /* whatever a worker claims */

struct msd_pace {
	/* Moving averages; 0: never seen. What waits for n calls waits for n times the
	 * mean, and no less, so they go up as fast as down. */
	uint32_t us[MSD_PACE_PLACES];
	/* How many were seen, up to two. The first call of a function is often a
	 * hundred times slower than all others: a faster second one takes its place. */
	uint8_t n[MSD_PACE_PLACES];
};

/** Microseconds to expect; 0: it was never seen. */
static inline uint32_t msd_pace_expect(const struct msd_pace *pace, uint8_t place)
{
	return pace->us[place];
}
/** A call took @exec_ns. */
void msd_pace_note(struct msd_pace *pace, uint8_t place, uint64_t exec_ns);

#endif

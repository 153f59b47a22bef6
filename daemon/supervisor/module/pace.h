#ifndef MSD_SUPERVISOR_PACE_H
#define MSD_SUPERVISOR_PACE_H
/*
 * How long a module's functions take, as far as has been seen: whether a call may be
 * sent to a worker that is still busy. One place per hash of a function's name; two
 * names in one place misjudge each other, which costs a wait and nothing else.
 */
#include <stdint.h>

#include "proto/bytes.h"

#define MSD_PACE_PLACES 256u
#define MSD_PACE_UNKNOWN_US 1000000u /* what was never seen counts as slow */

struct msd_pace {
	uint32_t us[MSD_PACE_PLACES]; /* a moving average; 0: never seen */
};

/** The place of "module:function". */
uint8_t msd_pace_place(struct msd_span target);
/** Microseconds to expect, at least 1; MSD_PACE_UNKNOWN_US for what was never seen. */
uint32_t msd_pace_expect(const struct msd_pace *pace, uint8_t place);
/** A call took @exec_ns. */
void msd_pace_note(struct msd_pace *pace, uint8_t place, uint64_t exec_ns);

#endif

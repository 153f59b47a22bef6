#ifndef MSD_SUPERVISOR_MODULE_IDLE_TRACKER_H
#define MSD_SUPERVISOR_MODULE_IDLE_TRACKER_H
/*
 * Idle tracker of a module, a step without a clock. It is polled, so it costs a call
 * nothing. It reports idleness up to a quarter of the time too late, and never too
 * early.
 */
#include <stdbool.h>
#include <stdint.h>

struct msd_idle_tracker {
	uint64_t keep_alive_ms; /* idle after this time; 0: never */
	/* Private. */
	uint64_t since_ms;
	uint64_t n_calls; /* answered calls at that time */
};

/** Begin at @now_ms. */
void msd_idle_tracker_begin(struct msd_idle_tracker *i, uint64_t n_calls,
			    uint64_t now_ms);
/**
 * True if the module is idle. @is_busy: it is in use at this moment. If false, check
 * again after *@ret_again_ms.
 */
bool msd_idle_tracker_look(struct msd_idle_tracker *i, uint64_t n_calls, bool is_busy,
			   uint64_t now_ms, uint64_t *ret_again_ms);

#endif

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
	uint64_t keep_alive_ms; /* idle after this time; 0: only if it is wanted */
	bool is_wanted;         /* idle as soon as it is not busy, if no call comes */
	/* Private. */
	uint64_t since_ms;
	uint64_t n_calls; /* answered calls at that time */
};

/** Begin at @now_ms; idleness is not wanted. */
void msd_idle_tracker_begin(struct msd_idle_tracker *i, uint64_t n_calls,
			    uint64_t now_ms);
/**
 * True if the module is idle. @is_busy: it is in use at this moment. If false, check
 * again after *@ret_again_ms; 0: never.
 */
bool msd_idle_tracker_look(struct msd_idle_tracker *i, uint64_t n_calls, bool is_busy,
			   uint64_t now_ms, uint64_t *ret_again_ms);
/** The rest of the time until it is idle, if it is not busy and no call comes. */
uint64_t msd_idle_tracker_left_ms(const struct msd_idle_tracker *i, uint64_t n_calls,
				  uint64_t now_ms);

#endif

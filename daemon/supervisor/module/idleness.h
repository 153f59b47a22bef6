#ifndef MSD_SUPERVISOR_MODULE_IDLENESS_H
#define MSD_SUPERVISOR_MODULE_IDLENESS_H
/*
 * Since when nobody has called a module: a step without a clock. It is looked at now
 * and then, which costs a call nothing; so it is told up to a quarter of the time too
 * late, and never too early.
 */
#include <stdbool.h>
#include <stdint.h>

struct msd_idleness {
	uint64_t keep_alive_ms; /* it is idle after so long; 0: never */
	/* Its own. */
	uint64_t since_ms;
	uint64_t n_calls; /* that had been answered then */
};

/** Begin at @now_ms. */
void msd_idleness_begin(struct msd_idleness *i, uint64_t n_calls, uint64_t now_ms);
/** Whether it is idle by now; @is_busy: somebody uses it at this moment. If not, look
 * again after *@ret_again_ms. */
bool msd_idleness_look(struct msd_idleness *i, uint64_t n_calls, bool is_busy,
		       uint64_t now_ms, uint64_t *ret_again_ms);

#endif

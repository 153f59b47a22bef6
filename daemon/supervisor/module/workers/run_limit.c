#include "daemon/supervisor/module/workers/run_limit.h"

static uint64_t left_of(uint64_t all, uint64_t gone)
{
	return gone < all ? all - gone : 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Twice the usual time is not the call's fault: to end a worker costs more than that.
 */
static uint64_t grace_left(const struct msd_run_facts *r, uint64_t grace_ms)
{
	const uint64_t own_ms = r->is_over ? 0 : 2 * r->usual_ms;

	return later(left_of(grace_ms, r->left_ms),
		     left_of(grace_ms + own_ms, r->ran_ms));
}

enum msd_run_end msd_run_judge(const struct msd_run_facts *r,
			       const struct msd_run_terms *t, uint64_t *ret_again_ms)
{
	uint64_t again_ms = MSD_RUN_LOOK_MOST_MS;

	if (t->most_ms > 0 && r->ran_ms >= t->most_ms)
		return MSD_RUN_TOO_LONG;
	if (t->most_ms > 0)
		again_ms = sooner(again_ms, t->most_ms - r->ran_ms);
	if (r->is_left) {
		const uint64_t grace_ms = grace_left(r, t->grace_ms);

		if (grace_ms == 0 && r->is_over)
			return MSD_RUN_OVERDUE;
		if (grace_ms == 0 && r->keeps_others)
			return MSD_RUN_IN_WAY;
		again_ms = sooner(again_ms, grace_ms > 0 ? grace_ms : MSD_RUN_LOOK_MS);
	}
	*ret_again_ms = again_ms;
	return MSD_RUN_GOES_ON;
}

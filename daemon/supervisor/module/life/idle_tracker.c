#include "daemon/supervisor/module/life/idle_tracker.h"

void msd_idle_tracker_begin(struct msd_idle_tracker *i, uint64_t n_calls,
			    uint64_t now_ms)
{
	i->n_calls = n_calls;
	i->since_ms = now_ms;
}

bool msd_idle_tracker_look(struct msd_idle_tracker *i, uint64_t n_calls, bool is_busy,
			   uint64_t now_ms, uint64_t *ret_again_ms)
{
	if (is_busy || n_calls != i->n_calls)
		msd_idle_tracker_begin(i, n_calls, now_ms);
	if (now_ms - i->since_ms >= i->keep_alive_ms)
		return true;
	*ret_again_ms = i->keep_alive_ms / 4 + 1;
	return false;
}

#include "daemon/supervisor/module/life/idle_tracker.h"

void msd_idle_tracker_begin(struct msd_idle_tracker *i, uint64_t n_calls,
			    uint64_t now_ms)
{
	i->n_calls = n_calls;
	i->since_ms = now_ms;
	i->is_wanted = false;
}

bool msd_idle_tracker_look(struct msd_idle_tracker *i, uint64_t n_calls, bool is_busy,
			   uint64_t now_ms, uint64_t *ret_again_ms)
{
	if (is_busy || n_calls != i->n_calls)
		msd_idle_tracker_begin(i, n_calls, now_ms);
	if (i->is_wanted)
		return true;
	if (i->keep_alive_ms > 0 && now_ms - i->since_ms >= i->keep_alive_ms)
		return true;
	*ret_again_ms = i->keep_alive_ms > 0 ? i->keep_alive_ms / 4 + 1 : 0;
	return false;
}

uint64_t msd_idle_tracker_left_ms(const struct msd_idle_tracker *i, uint64_t n_calls,
				  uint64_t now_ms)
{
	const uint64_t gone_ms = n_calls == i->n_calls ? now_ms - i->since_ms : 0;

	return gone_ms < i->keep_alive_ms ? i->keep_alive_ms - gone_ms : 0;
}

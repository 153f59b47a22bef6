#include "daemon/supervisor/module/sleep.h"

#include "daemon/supervisor/module/house.h"
#include "daemon/supervisor/module/lane.h"

static bool is_held(const struct msd_lane *lane)
{
	for (unsigned i = 0; i < MSD_HELD_COUNT; i++) {
		if (lane->n_held[i] > 0)
			return true;
	}
	return false;
}

static bool is_busy(const struct msd_module *m)
{
	if (msd_module_in_flight(m) > 0 || !msd_list_is_empty(&m->receiving))
		return true;
	MSD_LIST_EACH (it, &m->crew.all_lanes) {
		if (is_held(MSD_CONTAINER_OF(it, struct msd_lane, all_link)))
			return true;
	}
	return false;
}

bool msd_sleep_begin(struct msd_module *m, uint64_t *ret_again_ms)
{
	if (m->idleness.keep_alive_ms == 0)
		return false;
	msd_idleness_begin(&m->idleness, m->crew.n_calls, uv_now(m->crew.house->loop));
	return !msd_sleep_look(m, ret_again_ms);
}

bool msd_sleep_look(struct msd_module *m, uint64_t *ret_again_ms)
{
	return msd_idleness_look(&m->idleness, m->crew.n_calls, is_busy(m),
				 uv_now(m->crew.house->loop), ret_again_ms);
}

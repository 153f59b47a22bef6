#include "daemon/supervisor/module/sleep.h"

#include "daemon/supervisor/module/house.h"
#include "daemon/supervisor/module/lane.h"
#include "daemon/supervisor/module/life.h"

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

static void on_look(struct msd_deadline *node)
{
	struct msd_module *m = MSD_CONTAINER_OF(node, struct msd_module, idle_timer);
	struct msd_house *house = m->crew.house;
	uint64_t again_ms;

	if (m->life.state != MSD_STATE_READY)
		return; /* it begins anew when it is */
	if (msd_idleness_look(&m->idleness, m->crew.n_calls, is_busy(m),
			      uv_now(house->loop), &again_ms)) {
		msd_module_take_plain(m, MSD_LIFE_SLEEP);
	} else {
		msd_deadline_set(house->deadlines, &m->idle_timer, again_ms);
	}
}

void msd_sleep_begin(struct msd_module *m)
{
	struct msd_house *house = m->crew.house;

	if (m->idleness.keep_alive_ms == 0)
		return;
	msd_idleness_begin(&m->idleness, m->crew.n_calls, uv_now(house->loop));
	m->idle_timer.on_due = on_look;
	msd_deadline_set(house->deadlines, &m->idle_timer,
			 m->idleness.keep_alive_ms / 4 + 1);
}

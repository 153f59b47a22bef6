#include "daemon/supervisor/module/life/sleep.h"

#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/queue/client_queue.h"

#define DIRECT_END_MS 100u /* for channels without a running call */

static bool is_held(const struct msd_client_queue *client_queue)
{
	for (unsigned i = 0; i < MSD_CLIENT_OBJECT_COUNT; i++) {
		if (client_queue->n_held[i] > 0)
			return true;
	}
	return false;
}

static bool is_busy(const struct msd_module *m)
{
	if (msd_module_in_flight(m) > 0 || !msd_list_is_empty(&m->receiving))
		return true;
	MSD_LIST_EACH (it, &m->group.all_client_queues) {
		if (is_held(MSD_CONTAINER_OF(it, struct msd_client_queue, all_link)))
			return true;
	}
	return false;
}

bool msd_sleep_begin(struct msd_module *m, uint64_t *ret_again_ms)
{
	if (m->idleness.keep_alive_ms == 0)
		return false;
	msd_idle_tracker_begin(&m->idleness, m->group.n_calls,
			       uv_now(m->group.registry->loop));
	return !msd_sleep_look(m, ret_again_ms);
}

bool msd_sleep_look(struct msd_module *m, uint64_t *ret_again_ms)
{
	if (!msd_idle_tracker_look(&m->idleness, m->group.n_calls, is_busy(m),
				   uv_now(m->group.registry->loop), ret_again_ms))
		return false;
	/* A call may be arriving on a direct channel: take the channels back first. */
	if (!msd_direct_end_group(&m->group))
		return true;
	*ret_again_ms = DIRECT_END_MS;
	return false;
}

msd_err msd_sleep_want(struct msd_module *m, struct msd_diag *d)
{
	if (m->life.state != MSD_STATE_READY) {
		return msd_diag_set(d, MSD_NOT_READY,
				    "module %s is %s: only a READY module can sleep",
				    m->group.name,
				    msd_module_state_name(m->life.state));
	}
	if (is_busy(m)) {
		return msd_diag_set(d, MSD_BUSY,
				    "module %s is in use: a call is running or "
				    "waiting, or a client holds tensors, instances or "
				    "objects in it",
				    m->group.name);
	}
	msd_idle_tracker_begin(&m->idleness, m->group.n_calls,
			       uv_now(m->group.registry->loop));
	m->idleness.is_wanted = true;
	return MSD_OK;
}

bool msd_sleep_left(const struct msd_module *m, uint64_t *ret_ms)
{
	const struct msd_idle_tracker *i = &m->idleness;

	if (m->life.state != MSD_STATE_READY || i->keep_alive_ms == 0)
		return false;
	*ret_ms = is_busy(m)
			  ? i->keep_alive_ms
			  : msd_idle_tracker_left_ms(i, m->group.n_calls,
						     uv_now(m->group.registry->loop));
	return true;
}

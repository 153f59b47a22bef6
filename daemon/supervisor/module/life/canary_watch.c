#include "daemon/supervisor/module/life/canary_watch.h"

#include "daemon/limits.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/life/repository.h"

static struct msd_canary_facts facts_of(const struct msd_module *m)
{
	const enum msd_module_state state = m->life.state;

	return (struct msd_canary_facts){
		.now_ms = uv_now(m->group.registry->loop),
		.n_calls = msd_worker_group_answered(&m->group),
		.n_failed = m->group.n_failed,
		/* Count deaths by calls of any peer: the previous edition did not die
		 * of such calls. */
		.n_deaths = m->life.n_deaths + m->bars.n_died,
		.is_given_up =
			state == MSD_STATE_FAILED || state == MSD_STATE_QUARANTINED,
		.is_ending = state == MSD_STATE_DRAINING,
	};
}

void msd_module_look(struct msd_module *m)
{
	struct msd_module_registry *registry = m->group.registry;

	if (!m->canary.is_on)
		return;
	const struct msd_canary_facts now = facts_of(m);
	const enum msd_canary_verdict verdict = msd_canary_judge(&m->canary, &now);

	if (verdict == MSD_CANARY_GOES_ON)
		return;
	msd_deadline_clear(registry->deadlines, &m->probation_end);
	registry->repository->ops->watched(registry->repository, m, verdict);
}

static void on_end(struct msd_deadline *node)
{
	msd_module_look(MSD_CONTAINER_OF(node, struct msd_module, probation_end));
}

void msd_module_watch(struct msd_module *m)
{
	const uint64_t for_ms = m->group.registry->limits->watch_ms;
	const struct msd_canary_facts now = facts_of(m);

	msd_canary_begin(&m->canary, for_ms, &now);
	m->probation_end.on_due = on_end;
	msd_deadline_set(m->group.registry->deadlines, &m->probation_end, for_ms);
	msd_module_look(m); /* it may have been given up meanwhile */
}

#include "daemon/supervisor/module/watched.h"

#include "daemon/limits.h"
#include "daemon/supervisor/module/house.h"

static struct msd_probation_facts facts_of(const struct msd_module *m)
{
	const enum msd_module_state state = m->life.state;

	return (struct msd_probation_facts){
		.now_ms = uv_now(m->crew.house->loop),
		.n_calls = msd_crew_answered(&m->crew),
		.n_failed = m->crew.n_failed,
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
	struct msd_house *house = m->crew.house;

	if (!m->probation.is_on)
		return;
	const struct msd_probation_facts now = facts_of(m);
	const enum msd_probation_verdict verdict =
		msd_probation_judge(&m->probation, &now);

	if (verdict == MSD_PROBATION_GOES_ON)
		return;
	msd_deadline_clear(house->deadlines, &m->probation_end);
	house->on_watched(house, m, verdict);
}

static void on_end(struct msd_deadline *node)
{
	msd_module_look(MSD_CONTAINER_OF(node, struct msd_module, probation_end));
}

void msd_module_watch(struct msd_module *m)
{
	const uint64_t for_ms = m->crew.house->limits->watch_ms;
	const struct msd_probation_facts now = facts_of(m);

	msd_probation_begin(&m->probation, for_ms, &now);
	m->probation_end.on_due = on_end;
	msd_deadline_set(m->crew.house->deadlines, &m->probation_end, for_ms);
	msd_module_look(m); /* it may have been given up meanwhile */
}

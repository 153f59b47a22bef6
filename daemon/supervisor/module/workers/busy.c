#include "daemon/supervisor/module/workers/busy.h"

#include "daemon/limits.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/life/registry.h"

uint64_t msd_busy_ran_ms(const struct msd_replica *rep, uint64_t now_ms)
{
	uint64_t since_ms = rep->head_since_ms;

	if (rep->process != NULL) {
		if (msd_direct_is_ahead(rep->process))
			return 0;
		const uint64_t told_ms = msd_direct_since_ms(rep->process);
		since_ms = told_ms > since_ms ? told_ms : since_ms;
	}
	return now_ms > since_ms ? now_ms - since_ms : 0;
}

bool msd_busy_worker(const struct msd_replica *rep, uint64_t *ret_ms)
{
	struct msd_direct_run direct;

	if (!rep->is_open || rep->process == NULL)
		return false;
	if (msd_direct_find_run(rep->process, &direct)) {
		*ret_ms = direct.ran_ms;
		return true;
	}
	if (msd_list_is_empty(&rep->sent))
		return false;
	*ret_ms = msd_busy_ran_ms(rep, uv_now(rep->group->registry->loop));
	return true;
}

bool msd_busy_longest(const struct msd_worker_group *group, uint64_t *ret_ms)
{
	bool is_any = false;

	*ret_ms = 0;
	for (uint32_t i = 0; i < group->n_replicas; i++) {
		uint64_t ms;
		if (!msd_busy_worker(&group->replicas[i], &ms))
			continue;
		*ret_ms = ms > *ret_ms ? ms : *ret_ms;
		is_any = true;
	}
	return is_any;
}

void msd_busy_note_end(struct msd_worker_group *group, uint64_t ran_ms)
{
	const uint64_t n = msd_worker_group_answered(group);
	struct msd_silence *s = &group->silence;

	if (s->is_on && s->n_answered == n)
		return; /* the silence continues */
	*s = (struct msd_silence){.is_on = true,
				  .n_answered = n,
				  .since_ms = uv_now(group->registry->loop) - ran_ms};
}

/* Find the worker that has been busy for the shortest time: the other workers have
 * not answered either. */
static bool find_shortest(const struct msd_worker_group *group, uint64_t *ret_ms)
{
	uint64_t least_ms = UINT64_MAX;

	for (uint32_t i = 0; i < group->n_replicas; i++) {
		uint64_t ms;
		if (!group->replicas[i].is_open)
			continue;
		if (!msd_busy_worker(&group->replicas[i], &ms))
			return false;
		least_ms = ms < least_ms ? ms : least_ms;
	}
	*ret_ms = least_ms;
	return least_ms != UINT64_MAX;
}

bool msd_busy_is_hung(const struct msd_worker_group *group, uint64_t *ret_ms)
{
	const uint64_t most_ms = msd_given_ms_or(group->run.max_run,
						 group->registry->limits->max_run_ms);
	const struct msd_silence *s = &group->silence;

	if (most_ms == 0 || !find_shortest(group, ret_ms))
		return false;
	if (s->is_on && s->n_answered == msd_worker_group_answered(group))
		*ret_ms = uv_now(group->registry->loop) - s->since_ms;
	return *ret_ms >= most_ms;
}

#include "daemon/loop/task.h"

#include <stddef.h>

#include "proto/base/clock.h"

static struct msd_task *next(struct msd_tasks *ts)
{
	for (unsigned i = 0; i < MSD_TASK_CLASSES; i++) {
		struct msd_list *it = msd_fair_list_pop(&ts->classes[ts->turn]);
		ts->turn = (ts->turn + 1) % MSD_TASK_CLASSES;
		if (it != NULL)
			return MSD_CONTAINER_OF(it, struct msd_task, link);
	}
	return NULL;
}

bool msd_tasks_step(struct msd_tasks *ts)
{
	struct msd_task *t = next(ts);

	if (t == NULL)
		return false;
	msd_task_cancel(t);
	ts->has_freed = ts->has_freed || t->class == MSD_TASK_FREE;
	const enum msd_task_result result = t->step(t);
	if (result != MSD_TASK_DONE)
		msd_task_begin(ts, t);
	if (result == MSD_TASK_LATER) {
		msd_list_remove(&t->link);
		msd_list_append(&ts->later, &t->link);
	}
	return true;
}

static void queue(struct msd_tasks *ts, struct msd_task *t)
{
	msd_fair_list_append(&ts->classes[t->class], &t->link, t->peer);
}

static void queue_later(struct msd_tasks *ts)
{
	struct msd_list *it;

	while ((it = msd_list_first(&ts->later)) != NULL) {
		msd_list_remove(it);
		queue(ts, MSD_CONTAINER_OF(it, struct msd_task, link));
	}
}

static void on_awake(uv_idle_t *awake)
{
	struct msd_tasks *ts = awake->data;
	const uint64_t until_ns = ts->clock_ns() + MSD_TASKS_TURN_US * 1000u;

	queue_later(ts);
	while (msd_tasks_step(ts) && ts->clock_ns() < until_ns)
		continue;
	if (ts->n_queued > 0)
		return;
	(void)uv_idle_stop(awake);
	if (ts->has_freed && ts->on_freed != NULL)
		ts->on_freed(ts->user);
	ts->has_freed = false;
}

void msd_tasks_init(struct msd_tasks *ts, uv_loop_t *loop)
{
	*ts = (struct msd_tasks){.loop = loop, .clock_ns = msd_now_ns};
	for (unsigned i = 0; i < MSD_TASK_CLASSES; i++)
		msd_fair_list_init(&ts->classes[i]);
	msd_list_init(&ts->later);
	(void)uv_idle_init(loop, &ts->awake); /* never fails */
	ts->awake.data = ts;
}

void msd_tasks_close(struct msd_tasks *ts)
{
	struct msd_list *it;

	ts->is_closed = true;
	uv_close((uv_handle_t *)&ts->awake, NULL);
	queue_later(ts);
	while ((it = msd_fair_list_pop(&ts->classes[MSD_TASK_FREE])) != NULL) {
		struct msd_task *t = MSD_CONTAINER_OF(it, struct msd_task, link);
		msd_task_cancel(t);
		msd_task_begin(ts, t);
	}
}

void msd_task_begin(struct msd_tasks *ts, struct msd_task *t)
{
	if (t->queue != NULL)
		return;
	if (ts->is_closed) {
		while (t->class == MSD_TASK_FREE && t->step(t) != MSD_TASK_DONE)
			continue;
		return;
	}
	t->queue = ts;
	ts->n_queued++;
	queue(ts, t);
	(void)uv_idle_start(&ts->awake, on_awake);
}

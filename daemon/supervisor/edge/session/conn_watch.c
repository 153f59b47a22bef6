#include "daemon/supervisor/edge/session/conn_watch.h"

#include "daemon/supervisor/edge/session/conn_timeout.h"

#define STEP_CONNECTIONS 64u

static void rest(struct msd_conn_watch *w)
{
	if (!msd_list_is_empty(w->all)) {
		msd_deadline_set(w->deadlines, &w->next,
				 msd_conn_timeout_every_ms(w->limits));
	}
}

/* A checked connection goes to the end of the list. */
static enum msd_task_result look_on(struct msd_task *t)
{
	struct msd_conn_watch *w = MSD_CONTAINER_OF(t, struct msd_conn_watch, round);
	const char *why = NULL;
	struct msd_list *it;

	for (unsigned n = STEP_CONNECTIONS; n > 0 && w->n_left > 0 && why == NULL;
	     n--, w->n_left--) {
		it = msd_list_first(w->all);
		if (it == NULL)
			break;
		msd_list_remove(it);
		msd_list_append(w->all, it);
		why = w->ops->look(it, w->n_waiting, w->away_ms);
		if (why != NULL)
			w->ops->close(it, why);
	}
	if (w->n_left > 0 && !msd_list_is_empty(w->all))
		return MSD_TASK_AGAIN;
	rest(w);
	return MSD_TASK_DONE;
}

static void on_due(struct msd_deadline *node)
{
	struct msd_conn_watch *w = MSD_CONTAINER_OF(node, struct msd_conn_watch, next);

	w->away_ms = msd_deadline_away_ms(w->deadlines, node);
	w->n_waiting = w->ops->count_waiting(w);
	w->n_left = 0;
	MSD_LIST_EACH (it, w->all) {
		w->n_left++;
	}
	msd_task_begin(w->deadlines->tasks, &w->round);
}

void msd_conn_watch_begin(struct msd_conn_watch *w, struct msd_deadlines *deadlines,
			  const struct msd_limits *limits, struct msd_list *all,
			  const struct msd_conn_watch_ops *ops)
{
	w->deadlines = deadlines;
	w->limits = limits;
	w->all = all;
	w->ops = ops;
	w->next.on_due = on_due;
	w->round.step = look_on;
	w->round.class = MSD_TASK_DUE;
	if (!msd_deadline_is_set(&w->next) && !msd_task_is_queued(&w->round))
		rest(w);
}

void msd_conn_watch_end(struct msd_conn_watch *w)
{
	if (w->deadlines != NULL)
		msd_deadline_clear(w->deadlines, &w->next);
	msd_task_cancel(&w->round);
}

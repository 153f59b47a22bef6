#ifndef MSD_WIRE_TASK_H
#define MSD_WIRE_TASK_H
/*
 * Deferred work of the loop. A task is done in steps, and each step handles a bounded
 * number of items and bytes:
 *
 *   (begun) --the loop--> step() --AGAIN--> step() ... --DONE--> (not queued)
 *
 * All tasks together have MSD_TASKS_TURN_US in a loop iteration; then other events
 * run, and the loop does not sleep before the rest. The classes take turns, and within
 * a class the peers do. So neither many tasks nor long ones delay other clients, and
 * the work of one peer does not delay that of another.
 */
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/loop/fair_list.h"

#define MSD_TASKS_TURN_US 1000u

enum msd_task_class {
	MSD_TASK_DUE,    /* deadlines that have passed, and checks at a fixed time */
	MSD_TASK_ANSWER, /* a client waits for its result */
	MSD_TASK_FREE,   /* releases memory; see msd_tasks_close() */
	MSD_TASK_CLASSES
};

enum msd_task_result {
	MSD_TASK_DONE,
	MSD_TASK_AGAIN,
	MSD_TASK_LATER /* again, but not in this loop iteration */
};

/* Embedded in the object that needs the work. All zeros: not queued. */
struct msd_task {
	/**
	 * Do one part of the work. The task is not queued meanwhile, and may be begun
	 * again. After DONE it is not touched: step() may have freed it.
	 */
	enum msd_task_result (*step)(struct msd_task *t);
	enum msd_task_class class;
	uint64_t peer; /* number of the peer that causes the work; 0: the daemon */
	/* Private. */
	struct msd_list link;    /* in msd_tasks.classes or .later */
	struct msd_tasks *queue; /* NULL: not queued */
};

struct msd_tasks {
	uv_loop_t *loop;
	/** Optional: tasks of the class FREE are done, and no task is left. */
	void (*on_freed)(void *user);
	void *user;
	uint64_t (*clock_ns)(void); /* clock for the limit; only differences count */
	/* Private. */
	struct msd_fair_list classes[MSD_TASK_CLASSES]; /* msd_task.link */
	struct msd_list later; /* same link: for the next iteration */
	unsigned turn;         /* number of the class that is next */
	uint32_t n_queued;
	uv_idle_t awake; /* active while tasks are queued */
	bool has_freed, is_closed;
};

void msd_tasks_init(struct msd_tasks *ts, uv_loop_t *loop);
/**
 * The loop ends. Tasks of the class FREE are done now, and later ones as they begin;
 * other tasks are not done any more.
 */
void msd_tasks_close(struct msd_tasks *ts);
/** Queue @t, whose public fields are set. No effect if it is queued. */
void msd_task_begin(struct msd_tasks *ts, struct msd_task *t);
/** Remove @t from the queue. Allowed if it is not queued. */
static inline void msd_task_cancel(struct msd_task *t)
{
	if (t->queue == NULL)
		return;
	msd_list_remove(&t->link);
	t->queue->n_queued--;
	t->queue = NULL;
}
static inline bool msd_task_is_queued(const struct msd_task *t)
{
	return t->queue != NULL;
}
static inline bool msd_tasks_are_queued(const struct msd_tasks *ts)
{
	return ts->n_queued > 0;
}
/** Do one step of the task whose turn it is. False: no task is queued. */
bool msd_tasks_step(struct msd_tasks *ts);

#endif

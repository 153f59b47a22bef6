#include "daemon/supervisor/request/deadline.h"

#include <stddef.h>

/* Merge two heaps, either of which may be empty. Roots have no siblings. */
static struct msd_deadline *meld(struct msd_deadline *a, struct msd_deadline *b)
{
	if (a == NULL || b == NULL)
		return a != NULL ? a : b;
	if (b->at_ms < a->at_ms) {
		struct msd_deadline *later = a;
		a = b;
		b = later;
	}
	b->prev = a;
	b->next = a->child;
	if (b->next != NULL)
		b->next->prev = b;
	a->child = b;
	return a;
}

/* Merge the siblings from @first on into one heap: in pairs, then from the last pair
 * back, which keeps the heap flat. */
static struct msd_deadline *meld_siblings(struct msd_deadline *first)
{
	struct msd_deadline *pairs = NULL, *root = NULL;

	while (first != NULL) {
		struct msd_deadline *a = first;
		struct msd_deadline *b = a->next;
		first = b != NULL ? b->next : NULL;
		a->next = a->prev = NULL;
		if (b != NULL)
			b->next = b->prev = NULL;
		a = meld(a, b);
		a->next = pairs;
		pairs = a;
	}
	while (pairs != NULL) {
		struct msd_deadline *pair = pairs;
		pairs = pair->next;
		pair->next = NULL;
		root = meld(root, pair);
	}
	return root;
}

static void on_timer(uv_timer_t *timer);

static void arm(struct msd_deadlines *ds)
{
	if (ds->first == NULL || ds->is_behind) { /* fire() goes on */
		(void)uv_timer_stop(&ds->timer);
		return;
	}
	const uint64_t now = uv_now(ds->loop);
	const uint64_t at = ds->first->at_ms;
	(void)uv_timer_start(&ds->timer, on_timer, at > now ? at - now : 0, 0);
}

static bool is_due(const struct msd_deadlines *ds)
{
	return ds->first != NULL && ds->first->at_ms <= uv_now(ds->loop);
}

/* Fire the first node. The others are not delayed: their task goes on. */
static enum msd_task_result fire(struct msd_task *t)
{
	struct msd_deadlines *ds = MSD_CONTAINER_OF(t, struct msd_deadlines, due);

	ds->is_behind = true;
	if (is_due(ds)) {
		const uint64_t now = uv_now(ds->loop);
		struct msd_deadline *node = ds->first;

		msd_loop_lag_note(&ds->lag, now, now - node->at_ms);
		msd_deadline_clear(ds, node);
		node->on_due(node);
	}
	ds->is_behind = is_due(ds);
	arm(ds);
	return ds->is_behind ? MSD_TASK_AGAIN : MSD_TASK_DONE;
}

static void on_timer(uv_timer_t *timer)
{
	struct msd_deadlines *ds = timer->data;

	msd_task_begin(ds->tasks, &ds->due);
}

void msd_deadlines_init(struct msd_deadlines *ds, struct msd_tasks *tasks)
{
	*ds = (struct msd_deadlines){.loop = tasks->loop,
				     .tasks = tasks,
				     .due = {.step = fire, .class = MSD_TASK_DUE}};
	(void)uv_timer_init(ds->loop, &ds->timer); /* never fails */
	ds->timer.data = ds;
}

void msd_deadlines_close(struct msd_deadlines *ds)
{
	uv_close((uv_handle_t *)&ds->timer, NULL);
	msd_task_cancel(&ds->due);
	ds->first = NULL; /* nodes may be freed already */
}

void msd_deadline_set(struct msd_deadlines *ds, struct msd_deadline *node,
		      uint64_t in_ms)
{
	msd_deadline_clear(ds, node);
	node->at_ms = uv_now(ds->loop) + in_ms;
	node->is_set = true;
	ds->first = meld(ds->first, node);
	if (ds->first == node)
		arm(ds);
}

void msd_deadline_clear(struct msd_deadlines *ds, struct msd_deadline *node)
{
	if (!node->is_set)
		return;
	struct msd_deadline *below = meld_siblings(node->child);
	if (node == ds->first) {
		ds->first = below;
	} else {
		if (node->prev->child == node) {
			node->prev->child = node->next;
		} else {
			node->prev->next = node->next;
		}
		if (node->next != NULL)
			node->next->prev = node->prev;
		ds->first = meld(ds->first, below);
	}
	node->child = node->next = node->prev = NULL;
	node->is_set = false;
}

uint64_t msd_deadline_left(const struct msd_deadlines *ds,
			   const struct msd_deadline *node)
{
	const uint64_t now = uv_now(ds->loop);

	return node->is_set && node->at_ms > now ? node->at_ms - now : 0;
}

#include "daemon/supervisor/request/deadline.h"

#include <stdlib.h>

#define DUE_PER_TURN 64 /* as many as a client's frames; then others get their turn */

static void place(struct msd_deadlines *ds, uint32_t slot, struct msd_deadline *node)
{
	ds->heap[slot] = node;
	node->slot = slot;
}

static void sift_up(struct msd_deadlines *ds, uint32_t slot)
{
	struct msd_deadline *node = ds->heap[slot];

	for (; slot > 1 && ds->heap[slot / 2]->at_ms > node->at_ms; slot /= 2)
		place(ds, slot, ds->heap[slot / 2]);
	place(ds, slot, node);
}

static void sift_down(struct msd_deadlines *ds, uint32_t slot)
{
	struct msd_deadline *node = ds->heap[slot];

	for (;;) {
		uint32_t child = 2 * slot;
		if (child > ds->n)
			break;
		if (child < ds->n &&
		    ds->heap[child + 1]->at_ms < ds->heap[child]->at_ms)
			child++;
		if (ds->heap[child]->at_ms >= node->at_ms)
			break;
		place(ds, slot, ds->heap[child]);
		slot = child;
	}
	place(ds, slot, node);
}

static void on_timer(uv_timer_t *timer);

static void arm(struct msd_deadlines *ds)
{
	if (ds->n == 0) {
		(void)uv_timer_stop(&ds->timer);
		return;
	}
	uint64_t now = uv_now(ds->loop);
	uint64_t at = ds->heap[1]->at_ms;
	(void)uv_timer_start(&ds->timer, on_timer, at > now ? at - now : 0, 0);
}

/* What is due beyond one turn's is for a later one; a timer of 0 ms that a timer starts
 * would run in the same. */
static void on_timer(uv_timer_t *timer)
{
	struct msd_deadlines *ds = timer->data;
	uint64_t now = uv_now(ds->loop);

	for (int i = 0; ds->n > 0 && ds->heap[1]->at_ms <= now; i++) {
		if (i == DUE_PER_TURN) {
			(void)uv_timer_start(&ds->timer, on_timer, 1, 0);
			return;
		}
		struct msd_deadline *node = ds->heap[1];
		msd_deadline_clear(ds, node);
		node->on_due(node);
	}
	arm(ds);
}

void msd_deadlines_init(struct msd_deadlines *ds, uv_loop_t *loop)
{
	*ds = (struct msd_deadlines){.loop = loop};
	(void)uv_timer_init(loop, &ds->timer); /* never fails */
	ds->timer.data = ds;
}

void msd_deadlines_close(struct msd_deadlines *ds)
{
	uv_close((uv_handle_t *)&ds->timer, NULL);
	free(ds->heap);
	ds->heap = NULL;
	ds->n = ds->cap = 0;
}

bool msd_deadline_set(struct msd_deadlines *ds, struct msd_deadline *node,
		      uint64_t in_ms)
{
	msd_deadline_clear(ds, node);
	if (ds->n + 1 >= ds->cap) {
		uint32_t cap = ds->cap > 0 ? 2 * ds->cap : 64;
		struct msd_deadline **more =
			realloc(ds->heap, cap * sizeof(struct msd_deadline *));
		if (more == NULL)
			return false;
		ds->heap = more;
		ds->cap = cap;
	}
	node->at_ms = uv_now(ds->loop) + in_ms;
	ds->n++;
	place(ds, ds->n, node);
	sift_up(ds, ds->n);
	if (ds->heap[1] == node)
		arm(ds);
	return true;
}

void msd_deadline_clear(struct msd_deadlines *ds, struct msd_deadline *node)
{
	uint32_t slot = node->slot;

	if (slot == 0)
		return;
	node->slot = 0;
	struct msd_deadline *last = ds->heap[ds->n--];
	if (last == node)
		return;
	place(ds, slot, last);
	sift_up(ds, slot);
	sift_down(ds, last->slot);
}

uint64_t msd_deadline_left(const struct msd_deadlines *ds,
			   const struct msd_deadline *node)
{
	uint64_t now = uv_now(ds->loop);

	return node->slot != 0 && node->at_ms > now ? node->at_ms - now : 0;
}

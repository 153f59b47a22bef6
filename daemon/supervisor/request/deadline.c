#include "daemon/supervisor/request/deadline.h"

#include <stddef.h>

#include "proto/base/clock.h"

/*
 * Time limit per loop iteration; then other events run, and the rest follows in the
 * next iteration. The rest is not delayed further, because more deadlines are behind
 * it.
 */
#define TURN_NS UINT64_C(1000000)

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
	if (ds->first == NULL || ds->is_behind) {
		(void)uv_timer_stop(&ds->timer);
		return;
	}
	const uint64_t now = uv_now(ds->loop);
	const uint64_t at = ds->first->at_ms;
	(void)uv_timer_start(&ds->timer, on_timer, at > now ? at - now : 0, 0);
}

static void on_more(uv_idle_t *more);

static void tell(struct msd_deadlines *ds)
{
	const uint64_t now = uv_now(ds->loop), until_ns = msd_now_ns() + TURN_NS;

	ds->is_behind = true;
	while (ds->first != NULL && ds->first->at_ms <= now) {
		struct msd_deadline *node = ds->first;
		msd_loop_lag_note(&ds->lag, now, now - node->at_ms);
		msd_deadline_clear(ds, node);
		node->on_due(node);
		if (msd_now_ns() >= until_ns)
			break;
	}
	ds->is_behind = ds->first != NULL && ds->first->at_ms <= now;
	if (ds->is_behind) {
		(void)uv_idle_start(&ds->more, on_more);
	} else {
		(void)uv_idle_stop(&ds->more);
	}
	arm(ds);
}

static void on_timer(uv_timer_t *timer)
{
	tell(timer->data);
}

static void on_more(uv_idle_t *more)
{
	tell(more->data);
}

void msd_deadlines_init(struct msd_deadlines *ds, uv_loop_t *loop)
{
	*ds = (struct msd_deadlines){.loop = loop};
	(void)uv_timer_init(loop, &ds->timer); /* these never fail */
	(void)uv_idle_init(loop, &ds->more);
	ds->timer.data = ds->more.data = ds;
}

void msd_deadlines_close(struct msd_deadlines *ds)
{
	uv_close((uv_handle_t *)&ds->timer, NULL);
	uv_close((uv_handle_t *)&ds->more, NULL);
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

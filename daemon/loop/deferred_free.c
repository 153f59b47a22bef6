#include "daemon/loop/deferred_free.h"

#include "proto/base/clock.h"

/*
 * Happy path: one object is added, and freed completely at once. Failures: the time
 * of the iteration is over: the next iteration frees the rest. The loop ends: all
 * objects are freed.
 */

#define PART_NS UINT64_C(1000000)

static uint64_t left_ns(struct msd_deferred_free *all, uint64_t turn)
{
	if (uv_is_closing((uv_handle_t *)&all->more))
		return UINT64_MAX;
	if (all->turn != turn)
		all->ns = 0;
	all->turn = turn;
	return all->ns < PART_NS ? PART_NS - all->ns : 0;
}

static void free_some(struct msd_deferred_free *all, uint64_t turn)
{
	const uint64_t left = left_ns(all, turn), began = all->clock_ns();
	uint64_t spent = 0;
	struct msd_list *it;

	while (spent < left && (it = msd_list_first(&all->all)) != NULL) {
		struct msd_deferred_owner *e =
			MSD_CONTAINER_OF(it, struct msd_deferred_owner, link);
		e->free_one(e);
		spent = all->clock_ns() - began;
	}
	all->ns += spent;
	if (msd_list_is_empty(&all->all) && all->on_freed != NULL)
		all->on_freed(all->user);
}

static void on_more(uv_idle_t *more)
{
	struct msd_deferred_free *all = more->data;

	/* Idle handles run before the iteration is counted. */
	free_some(all, *all->n_turns + 1);
	if (msd_list_is_empty(&all->all))
		(void)uv_idle_stop(more);
}

void msd_deferred_free_init(struct msd_deferred_free *all, uv_loop_t *loop,
			    const uint64_t *n_turns)
{
	*all = (struct msd_deferred_free){.n_turns = n_turns, .clock_ns = msd_now_ns};
	msd_list_init(&all->all);
	(void)uv_idle_init(loop, &all->more); /* never fails */
	all->more.data = all;
}

void msd_deferred_free_close(struct msd_deferred_free *all)
{
	uv_close((uv_handle_t *)&all->more, NULL);
	free_some(all, *all->n_turns);
}

void msd_deferred_free_add(struct msd_deferred_free *all, struct msd_deferred_owner *e)
{
	msd_list_append(&all->all, &e->link);
	free_some(all, *all->n_turns);
	if (!msd_list_is_empty(&all->all))
		(void)uv_idle_start(&all->more, on_more);
}

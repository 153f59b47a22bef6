#include "daemon/wire/ending.h"

#include "daemon/wire/wire.h"

/*
 * Happy path: it is the only one, and all of it is freed at once. Failures: the turn's
 * part is over, and the rest is for the next turn; the loop is to end, and all is
 * freed.
 */

#define PART_NS UINT64_C(1000000)

static uint64_t left_ns(struct msd_ending *all, uint64_t turn)
{
	if (uv_is_closing((uv_handle_t *)&all->more))
		return UINT64_MAX;
	if (all->turn != turn)
		all->ns = 0;
	all->turn = turn;
	return all->ns < PART_NS ? PART_NS - all->ns : 0;
}

static void free_some(struct msd_ending *all, uint64_t turn)
{
	const uint64_t left = left_ns(all, turn), began = msd_wire_look_ns(all->wire);
	struct msd_list *it = left > 0 ? msd_list_first(&all->all) : NULL;

	while (it != NULL) {
		struct msd_ender *e = MSD_CONTAINER_OF(it, struct msd_ender, link);
		e->free_one(e);
		it = msd_wire_look_ns(all->wire) - began < left
			     ? msd_list_first(&all->all)
			     : NULL;
	}
	all->ns += all->wire->now_ns - began;
}

static void on_more(uv_idle_t *more)
{
	struct msd_ending *all = more->data;

	/* Who is idle comes before the turn is counted. */
	free_some(all, all->wire->count.turns + 1);
	if (msd_list_is_empty(&all->all))
		(void)uv_idle_stop(more);
}

void msd_ending_init(struct msd_ending *all, struct msd_wire *w)
{
	*all = (struct msd_ending){.wire = w};
	msd_list_init(&all->all);
	(void)uv_idle_init(w->loop, &all->more); /* never fails */
	all->more.data = all;
}

void msd_ending_close(struct msd_ending *all)
{
	uv_close((uv_handle_t *)&all->more, NULL);
	free_some(all, all->wire->count.turns);
}

void msd_ending_add(struct msd_ending *all, struct msd_ender *e)
{
	msd_list_append(&all->all, &e->link);
	free_some(all, all->wire->count.turns);
	if (!msd_list_is_empty(&all->all))
		(void)uv_idle_start(&all->more, on_more);
}

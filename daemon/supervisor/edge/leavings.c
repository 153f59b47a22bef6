#include "daemon/supervisor/edge/leavings.h"

#include <stdlib.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/freeing.h"
#include "daemon/supervisor/edge/object.h"

#define DROPS_PER_TURN 64u /* as many as a client's frames */
/* A timer of 0 ms that a timer starts would run in the same turn. */
#define NEXT_TURN_MS 1u

struct leaving {
	struct msd_list link; /* msd_edge.leavings */
	struct msd_handles handles;
	uint32_t at;
};

static void drop(const struct msd_handle_entry *e, struct msd_freeing *f)
{
	if (e->kind == MSD_K_TENSOR || e->kind == MSD_K_INSTANCE) {
		msd_object_drop(e->object, f);
	} else if (e->kind == MSD_K_FUNCTION) {
		free(e->object);
	}
}

/* @n of @hs from *@at on. True: none is left. */
static bool drop_some(struct msd_handles *hs, uint32_t *at, uint32_t n)
{
	struct msd_freeing f = {.client = NULL};
	const struct msd_handle_entry *e = NULL;

	while (n > 0 && (e = msd_handles_next(hs, at)) != NULL) {
		drop(e, &f);
		n--;
	}
	msd_freeing_send(&f);
	if (e != NULL)
		return false;
	msd_handles_finish(hs);
	return true;
}

static void finish(struct leaving *l)
{
	(void)drop_some(&l->handles, &l->at, UINT32_MAX);
	msd_list_remove(&l->link);
	free(l);
}

static void wait_for_turn(struct msd_edge *e)
{
	msd_deadline_set(e->deadlines, &e->leave, NEXT_TURN_MS);
}

/* The first alone: however many leave at a time, a turn is no longer. */
static void on_due(struct msd_deadline *node)
{
	struct msd_edge *e = MSD_CONTAINER_OF(node, struct msd_edge, leave);
	struct leaving *l =
		MSD_CONTAINER_OF(msd_list_first(&e->leavings), struct leaving, link);

	if (drop_some(&l->handles, &l->at, DROPS_PER_TURN))
		finish(l);
	if (!msd_list_is_empty(&e->leavings))
		wait_for_turn(e);
}

void msd_leavings_init(struct msd_edge *e)
{
	msd_list_init(&e->leavings);
	e->leave.on_due = on_due;
}

void msd_leavings_take(struct msd_edge *e, struct msd_handles *hs)
{
	struct leaving *l = hs->n_live > DROPS_PER_TURN ? calloc(1, sizeof(*l)) : NULL;
	uint32_t at = 0;

	if (l == NULL) {
		(void)drop_some(hs, &at, UINT32_MAX);
		return;
	}
	l->handles = *hs;
	*hs = (struct msd_handles){0};
	msd_list_append(&e->leavings, &l->link);
	if (!msd_deadline_is_set(&e->leave))
		wait_for_turn(e);
}

void msd_leavings_finish(struct msd_edge *e)
{
	msd_deadline_clear(e->deadlines, &e->leave);
	MSD_LIST_EACH_SAFE (it, &e->leavings) {
		finish(MSD_CONTAINER_OF(it, struct leaving, link));
	}
}

#include "daemon/supervisor/edge/session/handle_disposal.h"

#include <stdlib.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/objects/object.h"
#include "daemon/supervisor/edge/objects/object_release.h"

/* Costs per step, one in a loop iteration: at most 64 objects, as many as frames of one
 * client, because a worker must free each object. */
#define STEP_COST 1024u
#define OBJECT_COST 16u
#define FUNCTION_COST 1u

struct leaving {
	struct msd_list link; /* msd_edge.handle_disposal */
	struct msd_task task;
	struct msd_edge *edge;
	struct msd_handles handles;
	struct msd_account account; /* of the handles */
	struct msd_client_peer *peer;
	uint32_t at;
};

/* Drop the entry of @hs before @at. Returns the cost. */
static uint32_t drop(struct msd_handles *hs, uint32_t at, struct msd_object_release *f)
{
	const struct msd_handle_entry e = hs->entries[at - 1];

	msd_handles_remove(hs, (struct msd_handle){at - 1, e.generation});
	if (e.kind == MSD_K_FUNCTION) {
		free(e.object);
		return FUNCTION_COST;
	}
	msd_object_drop(e.object, f);
	return OBJECT_COST;
}

/* Drop entries of @hs from *@at on until @cost is spent. True: none is left. */
static bool drop_some(struct msd_handles *hs, uint32_t *at, uint64_t cost)
{
	struct msd_object_release f = {.client = NULL};
	const struct msd_handle_entry *e = NULL;

	for (uint64_t spent = 0;
	     spent < cost && (e = msd_handles_next(hs, at)) != NULL;)
		spent += drop(hs, *at, &f);
	msd_object_release_send(&f);
	if (e != NULL)
		return false;
	msd_handles_finish(hs);
	return true;
}

static void finish(struct leaving *l)
{
	(void)drop_some(&l->handles, &l->at, UINT64_MAX);
	msd_account_close(&l->account);
	l->edge->n_leaving--;
	l->peer->n_connections--;
	msd_client_peer_unref(l->peer);
	msd_list_remove(&l->link);
	free(l);
}

static enum msd_task_result drop_next(struct msd_task *t)
{
	struct leaving *l = MSD_CONTAINER_OF(t, struct leaving, task);

	if (!drop_some(&l->handles, &l->at, STEP_COST))
		return MSD_TASK_LATER;
	finish(l);
	return MSD_TASK_DONE;
}

void msd_handle_disposal_add(struct msd_edge *e, struct msd_handles *hs,
			     struct msd_client_peer *p)
{
	const bool is_many = hs->n_live > STEP_COST / OBJECT_COST;
	struct leaving *l = is_many ? calloc(1, sizeof(*l)) : NULL;
	uint32_t at = 0;

	if (l == NULL) {
		(void)drop_some(hs, &at, UINT64_MAX);
		return;
	}
	l->edge = e;
	l->peer = msd_client_peer_ref(p);
	p->n_connections++;
	e->n_leaving++;
	msd_account_open(&l->account, &p->account, UINT64_MAX);
	msd_handles_charge_to(hs, &l->account);
	l->handles = *hs;
	*hs = (struct msd_handles){0};
	msd_list_append(&e->handle_disposal, &l->link);
	l->task = (struct msd_task){.step = drop_next,
				    .class = MSD_TASK_FREE,
				    .peer = msd_peer_id_passer(p->who)};
	msd_task_begin(e->deadlines->tasks, &l->task);
}

void msd_handle_disposal_finish(struct msd_edge *e)
{
	MSD_LIST_EACH_SAFE (it, &e->handle_disposal) {
		struct leaving *l = MSD_CONTAINER_OF(it, struct leaving, link);
		msd_task_cancel(&l->task);
		finish(l);
	}
}

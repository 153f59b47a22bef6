#include "daemon/supervisor/request/waiters.h"

/* Returns false if the list is empty. */
static bool tell_first(struct msd_waiters *f)
{
	struct msd_list *it = msd_list_first(&f->told);

	if (it == NULL)
		return false;
	struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, link);
	msd_list_remove(it);
	if (!msd_req_lost_right(r))
		f->tell(f, r);
	return true;
}

/* The remaining requests may have disappeared without being answered. */
static enum msd_task_result tell_next(struct msd_task *t)
{
	struct msd_waiters *f = MSD_CONTAINER_OF(t, struct msd_waiters, next);

	(void)tell_first(f);
	if (!msd_list_is_empty(&f->told))
		return MSD_TASK_AGAIN;
	if (f->on_told != NULL)
		f->on_told(f);
	return MSD_TASK_DONE;
}

void msd_waiters_init(struct msd_waiters *f, struct msd_tasks *tasks,
		      void (*tell)(struct msd_waiters *f, struct msd_req *r))
{
	*f = (struct msd_waiters){
		.tasks = tasks,
		.tell = tell,
		.next = {.step = tell_next, .class = MSD_TASK_ANSWER}};
	msd_list_init(&f->waiting);
	msd_list_init(&f->told);
}

void msd_waiters_finish(struct msd_waiters *f)
{
	msd_task_cancel(&f->next);
}

void msd_waiters_wait(struct msd_waiters *f, struct msd_req *r)
{
	msd_list_append(&f->waiting, &r->link);
}

void msd_waiters_tell(struct msd_waiters *f)
{
	const bool is_behind = msd_waiters_are_behind(f);

	msd_list_append_all(&f->told, &f->waiting);
	if (is_behind) /* earlier requests are first */
		return;
	(void)tell_first(f);
	if (!msd_list_is_empty(&f->told))
		msd_task_begin(f->tasks, &f->next);
}

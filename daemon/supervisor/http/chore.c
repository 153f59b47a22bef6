#include "daemon/supervisor/http/chore.h"

#define MOST_RUNNING 2u

static void go_on(struct msd_chores *all);

static void on_work(uv_work_t *work)
{
	struct msd_chore *c = work->data;

	c->run(c);
}

static void on_worked(uv_work_t *work, int status)
{
	struct msd_chore *c = work->data;
	struct msd_chores *all = c->all;

	(void)status; /* nobody cancels it */
	all->n_running--;
	c->is_busy = false;
	go_on(all);
	c->on_done(c);
}

static void go_on(struct msd_chores *all)
{
	while (all->n_running < MOST_RUNNING && !msd_list_is_empty(&all->waiting)) {
		struct msd_chore *c = MSD_CONTAINER_OF(msd_list_first(&all->waiting),
						       struct msd_chore, link);
		msd_list_remove(&c->link);
		all->n_running++;
		c->work.data = c;
		(void)uv_queue_work(all->loop, &c->work, on_work,
				    on_worked); /* never fails */
	}
}

void msd_chores_init(struct msd_chores *all, uv_loop_t *loop)
{
	*all = (struct msd_chores){.loop = loop};
	msd_list_init(&all->waiting);
}

void msd_chore_begin(struct msd_chores *all, struct msd_chore *c)
{
	c->all = all;
	c->is_busy = true;
	msd_list_append(&all->waiting, &c->link);
	go_on(all);
}

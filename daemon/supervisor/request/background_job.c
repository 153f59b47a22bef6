#include "daemon/supervisor/request/background_job.h"

#define MOST_RUNNING 2u

static void go_on(struct msd_background_jobs *all);

static struct msd_background_job *chore_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_background_job, link);
}

static void on_work(struct msd_work *work)
{
	struct msd_background_job *c =
		MSD_CONTAINER_OF(work, struct msd_background_job, work);

	c->run(c);
}

static void on_worked(struct msd_work *work)
{
	struct msd_background_job *c =
		MSD_CONTAINER_OF(work, struct msd_background_job, work);
	struct msd_background_jobs *all = c->all;

	all->n_running--;
	c->is_busy = false;
	go_on(all);
	c->on_done(c);
}

static void go_on(struct msd_background_jobs *all)
{
	while (all->n_running < MOST_RUNNING && !msd_list_is_empty(&all->waiting)) {
		struct msd_background_job *c = chore_of(msd_list_first(&all->waiting));
		msd_list_remove(&c->link);
		all->turn = c->turn;
		all->n_running++;
		c->work = (struct msd_work){.run = on_work,
					    .done = on_worked,
					    .pool = MSD_WORK_PROMPT,
					    .owner = MSD_WORK_OWN};
		msd_work_begin(all->loop, &c->work);
	}
}

void msd_background_jobs_init(struct msd_background_jobs *all, uv_loop_t *loop)
{
	*all = (struct msd_background_jobs){.loop = loop};
	msd_list_init(&all->waiting);
}

/* The slot after the last waiting job of @who, or the current slot. The queue is not
 * longer than the number of connections, and each job takes longer than this scan. */
static uint64_t next_turn(const struct msd_background_jobs *all, struct msd_peer_id who)
{
	for (struct msd_list *it = all->waiting.prev; it != &all->waiting;
	     it = it->prev) {
		if (msd_peer_id_is(chore_of(it)->who, who))
			return chore_of(it)->turn + 1;
	}
	return all->turn;
}

void msd_background_job_begin(struct msd_background_jobs *all,
			      struct msd_background_job *c, struct msd_peer_id who)
{
	struct msd_list *before = all->waiting.prev;

	msd_list_init(&c->link);
	c->all = all;
	c->is_busy = true;
	c->who = who;
	c->turn = next_turn(all, who);
	while (before != &all->waiting && chore_of(before)->turn > c->turn)
		before = before->prev;
	msd_list_append(before->next, &c->link);
	go_on(all);
}

bool msd_background_job_is_running(const struct msd_background_job *c)
{
	return c->is_busy && msd_list_is_empty(&c->link);
}

void msd_background_job_leave(struct msd_background_job *c)
{
	if (!c->is_busy)
		return;
	msd_list_remove(&c->link);
	c->is_busy = false;
}

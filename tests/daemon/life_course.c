#include "tests/daemon/life_course.h"

#include <criterion/criterion.h>

void course_init(struct course *c, uint32_t n_workers)
{
	*c = (struct course){.now_ms = 1000};
	c->life = (struct msd_life){.workers = c->workers,
				    .n_workers = n_workers,
				    .load_limit_ms = 5000,
				    .max_deaths = 5};
}

void tell(struct course *c, enum msd_life_event_type type, uint32_t worker)
{
	msd_life_step(&c->life,
		      &(struct msd_life_event){.type = type, .worker = worker},
		      c->now_ms, &c->as);
}

void lose(struct course *c, uint32_t worker, enum msd_loss loss)
{
	lose_to(c, worker, loss, false);
}

void lose_to(struct course *c, uint32_t worker, enum msd_loss loss, bool is_peers)
{
	msd_life_step(&c->life,
		      &(struct msd_life_event){.type = MSD_LIFE_LOST,
					       .worker = worker,
					       .loss = loss,
					       .is_peers = is_peers,
					       .has_loader = true},
		      c->now_ms, &c->as);
}

const struct msd_life_action *action(const struct course *c,
				     enum msd_life_action_type type)
{
	for (uint32_t i = 0; i < c->as.n; i++) {
		if (c->as.all[i].type == type)
			return &c->as.all[i];
	}
	return NULL;
}

void open_worker(struct course *c, uint32_t worker)
{
	tell(c, MSD_LIFE_STARTED, worker);
	tell(c, MSD_LIFE_OPENED, worker);
}

void begin(struct course *c, uint32_t n_workers)
{
	course_init(c, n_workers);
	tell(c, MSD_LIFE_LOAD, 0);
	tell(c, MSD_LIFE_STARTED, 0);
}

void load(struct course *c, uint32_t n_workers)
{
	course_init(c, n_workers);
	tell(c, MSD_LIFE_LOAD, 0);
	for (uint32_t i = 0; i < n_workers; i++)
		open_worker(c, i);
	cr_assert_eq(c->life.state, MSD_STATE_READY);
}

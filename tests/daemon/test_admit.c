/* Which call a worker would be killed for when its deadline and the grace are over. */
#include <criterion/criterion.h>

#include "daemon/limits.h"
#include "daemon/supervisor/module/admit.h"
#include "daemon/supervisor/module/house.h"
#include "daemon/supervisor/module/process.h"
#include "daemon/supervisor/module/replica.h"

#define GRACE_MS 1000u

/* A module with one worker, which was sent two calls, and has had the first of them for
 * @ran_ms. */
struct scene {
	uv_loop_t loop;
	struct msd_house house;
	struct msd_limits limits;
	struct msd_module module;
	struct msd_process process;
	struct msd_replica replica;
	struct msd_req *first, *second;
};

static struct msd_req *call(struct scene *s)
{
	struct msd_req *r = msd_req_new(NULL, 0, MSD_M_CALL);

	msd_module_adopt(&s->module, r);
	r->at.replica = &s->replica;
	msd_list_append(&s->replica.sent, &r->link);
	return r;
}

static void scene_init(struct scene *s, uint64_t ran_ms)
{
	*s = (struct scene){.limits.kill_grace_ms = GRACE_MS};
	cr_assert_eq(uv_loop_init(&s->loop), 0);
	s->house.loop = &s->loop;
	s->house.limits = &s->limits;
	s->module.crew.house = &s->house;
	msd_list_init(&s->module.receiving);
	msd_list_init(&s->process.directs);
	msd_replica_init(&s->replica, &s->module.crew, 1);
	s->replica.process = &s->process;
	s->replica.head_since_ms = uv_now(&s->loop) - ran_ms;
	s->first = call(s);
	s->second = call(s);
}

static void scene_finish(struct scene *s)
{
	msd_req_release(s->first);
	msd_req_release(s->second);
	cr_assert_eq(uv_loop_close(&s->loop), 0);
}

static bool overruns(const struct msd_req *r)
{
	return r->ops->overruns(r);
}

Test(admit, who_was_late_before_its_turn_does_not_overrun_when_that_comes)
{
	struct scene s;

	scene_init(&s, GRACE_MS - 1);
	cr_expect_not(overruns(s.first));
	scene_finish(&s);
}

Test(admit, who_has_run_for_the_grace_overruns_and_who_waits_behind_does_not)
{
	struct scene s;

	scene_init(&s, GRACE_MS);
	cr_expect(overruns(s.first));
	cr_expect_not(overruns(s.second));
	scene_finish(&s);
}

#include <criterion/criterion.h>

#include "daemon/limits.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/queue/admit.h"
#include "daemon/supervisor/module/queue/deadline_cause.h"
#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/module/workers/replica.h"

#define NOW_MS 5000u
#define ALL_MS 100u /* from the deadline's beginning until now */

/* A module with one worker that is no process, and a client that asked two calls. */
struct scene {
	struct msd_module_registry registry;
	struct msd_limits limits;
	struct msd_module module;
	struct msd_replica replica;
	struct msd_client client;
	struct msd_req *first, *second;
};

static struct msd_req *call(struct scene *s, unsigned read_ms)
{
	struct msd_req *r = msd_req_new(NULL, 0, MSD_M_CALL);

	msd_module_adopt(&s->module, r);
	r->client.who = &s->client;
	r->due.in_ms = ALL_MS;
	r->due.node.at_ms = NOW_MS;
	r->at.spent_ns[MSD_STAGE_READ] = read_ms * (uint64_t)1000000;
	return r;
}

/* The worker was sent both, and has had the first one for @ran_ms. */
static void scene_init(struct scene *s, unsigned read_ms, unsigned ran_ms)
{
	static char name[] = "m";

	*s = (struct scene){0};
	s->registry.limits = &s->limits;
	s->module.group.registry = &s->registry;
	s->module.group.name = name;
	msd_list_init(&s->module.receiving);
	msd_replica_init(&s->replica, &s->module.group, 1);
	s->replica.head_since_ms = NOW_MS - ran_ms;
	s->first = call(s, read_ms);
	s->second = call(s, read_ms);
	s->first->at.replica = s->second->at.replica = &s->replica;
	msd_list_append(&s->replica.sent, &s->first->link);
	msd_list_append(&s->replica.sent, &s->second->link);
}

static void scene_finish(struct scene *s)
{
	s->first->client.who = s->second->client.who = NULL;
	msd_req_release(s->first);
	msd_req_release(s->second);
}

static void expect_said(const struct msd_req *r, const char *expected)
{
	struct msd_diag d = {0};

	msd_deadline_cause_explain(r, NOW_MS, &d);
	cr_expect_eq(d.code, MSD_DEADLINE);
	cr_expect_str_eq(msd_diag_text(&d), expected);
	msd_diag_finish(&d);
}

Test(lateness, a_call_that_ran_all_the_time_has_waited_for_nobody)
{
	struct scene s;

	scene_init(&s, 0, ALL_MS);
	expect_said(s.first, "module m: ran 100 ms and did not finish by the deadline");
	scene_finish(&s);
}

Test(lateness, the_time_for_reading_arguments_is_no_wait_behind_others)
{
	struct scene s;

	scene_init(&s, 70, 30);
	expect_said(s.first,
		    "module m: its arguments took 70 ms to arrive, then it ran "
		    "30 ms and did not finish by the deadline");
	scene_finish(&s);
}

Test(lateness, a_call_that_waited_and_ran_is_told_both)
{
	struct scene s;

	scene_init(&s, 0, 30);
	expect_said(s.first, "module m: waited 70 ms in the queue, then ran 30 ms and "
			     "did not finish by the deadline");
	s.first->at.spent_ns[MSD_STAGE_READ] = 20 * (uint64_t)1000000;
	expect_said(s.first, "module m: its arguments took 20 ms to arrive, then it "
			     "waited 50 ms in the queue, then ran 30 ms and did not "
			     "finish by the deadline");
	scene_finish(&s);
}

Test(lateness, a_call_behind_another_waited_for_that_but_not_for_its_own_arguments)
{
	struct scene s;

	scene_init(&s, 20, 30);
	expect_said(s.second, "module m: its arguments took 20 ms to arrive, then it "
			      "waited 80 ms behind a call of its own client and did "
			      "not start by the deadline");
	s.first->client.who = NULL;
	expect_said(s.second, "module m: its arguments took 20 ms to arrive, then it "
			      "waited 80 ms behind a call whose client is gone "
			      "and did not start by the deadline");
	scene_finish(&s);
}

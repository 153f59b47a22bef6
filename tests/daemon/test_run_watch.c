/* Which worker is ended for what it runs, and what is told of how long it is busy. */
#include <criterion/criterion.h>

#include "daemon/limits.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/queue/admit.h"
#include "daemon/supervisor/module/queue/client_queue.h"
#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/module/workers/busy.h"
#include "daemon/supervisor/module/workers/process.h"
#include "daemon/supervisor/module/workers/run_watch.h"

#define GRACE_MS 1000u
#define MOST_MS 60000u

static struct {
	unsigned n;
	enum msd_run_end why;
	uint64_t ran_ms;
	struct msd_blame blame;
} ended;

/* A module with one worker, which was sent two calls of two clients, and has had the
 * first of them for a while. */
struct scene {
	uv_loop_t loop;
	struct msd_tasks tasks;
	struct msd_deadlines deadlines;
	struct msd_module_registry registry;
	struct msd_limits limits;
	struct msd_module module;
	struct msd_process process;
	struct msd_replica replica;
	struct msd_client clients[2];
	struct msd_req *first, *second;
};

static void on_overran(struct msd_replica *rep, const struct msd_blame *blame,
		       enum msd_run_end why, uint64_t ran_ms)
{
	rep->ended_for = why;
	ended.n++;
	ended.why = why;
	ended.ran_ms = ran_ms;
	ended.blame = *blame;
}

static void on_done(struct msd_client *c, const struct msd_req *r)
{
	(void)c;
	(void)r;
}

static const struct msd_worker_group_ops group_ops = {.on_overran = on_overran};
static const struct msd_client_ops client_ops = {.on_done = on_done};

static struct msd_req *call(struct scene *s, unsigned client)
{
	struct msd_req *r = msd_req_new(&s->clients[client], 0, MSD_M_CALL);

	msd_module_adopt(&s->module, r);
	r->at.replica = &s->replica;
	msd_list_append(&s->replica.sent, &r->link);
	return r;
}

static void scene_init(struct scene *s, uint64_t ran_ms)
{
	struct msd_worker_group *group = &s->module.group;

	*s = (struct scene){
		.limits = {.kill_grace_ms = GRACE_MS, .max_run_ms = MOST_MS}};
	cr_assert_eq(uv_loop_init(&s->loop), 0);
	msd_tasks_init(&s->tasks, &s->loop);
	msd_deadlines_init(&s->deadlines, &s->tasks);
	s->registry.loop = &s->loop;
	s->registry.deadlines = &s->deadlines;
	s->registry.limits = &s->limits;
	s->registry.leaves_calls_uncounted = true;
	group->registry = &s->registry;
	group->ops = &group_ops;
	group->replicas = &s->replica;
	group->n_replicas = 1;
	group->call_stats = msd_call_stats_new("m");
	msd_list_init(&group->client_queues);
	msd_list_init(&group->background);
	msd_list_init(&group->all_client_queues);
	msd_list_init(&s->module.receiving);
	msd_list_init(&s->process.directs);
	msd_replica_init(&s->replica, group, 1);
	s->replica.process = &s->process;
	s->replica.is_open = true;
	s->replica.head_since_ms = uv_now(&s->loop) - ran_ms;
	for (unsigned i = 0; i < 2; i++) {
		msd_client_init(&s->clients[i], &client_ops);
		s->clients[i].peer = (struct msd_peer_id){MSD_PEER_USER, i + 1, NULL};
		s->clients[i].number = i + 11;
	}
	s->first = call(s, 0);
	s->second = call(s, 1);
	ended.n = 0;
}

static void leave(struct msd_req *r, uint64_t since_ms)
{
	r->client.peer = r->client.who->peer;
	r->client.code = MSD_REQ_UNANSWERED;
	msd_req_leave_client(r);
	r->at.left_ms = uv_now(r->module->group.registry->loop) - since_ms;
}

static void scene_finish(struct scene *s)
{
	msd_req_release(s->first);
	msd_req_release(s->second);
	msd_call_stats_unref(s->module.group.call_stats);
	msd_deadline_clear(&s->deadlines, &s->replica.run_timer);
	msd_deadlines_close(&s->deadlines);
	msd_tasks_close(&s->tasks);
	(void)uv_run(&s->loop, UV_RUN_DEFAULT);
	cr_assert_eq(uv_loop_close(&s->loop), 0);
}

static uint64_t next_look_ms(const struct scene *s)
{
	return msd_deadline_left(&s->deadlines, &s->replica.run_timer);
}

Test(run_watch, a_call_that_ran_for_max_run_ends_its_worker_and_is_its_clients)
{
	struct scene s;

	scene_init(&s, MOST_MS);
	msd_run_watch_look(&s.replica);
	cr_expect_eq(ended.n, 1);
	cr_expect_eq(ended.why, MSD_RUN_TOO_LONG);
	cr_expect_eq(ended.ran_ms, MOST_MS);
	cr_expect_eq(ended.blame.who.value, 1);
	cr_expect_eq(ended.blame.connection, 11);
	msd_run_watch_look(&s.replica);
	cr_expect_eq(ended.n, 1, "once");
	scene_finish(&s);
}

Test(run_watch, what_the_load_said_counts_instead_of_the_daemons)
{
	struct scene s;

	scene_init(&s, MOST_MS);
	s.module.group.run.max_run = (struct msd_given_ms){.is_given = true};
	msd_run_watch_look(&s.replica);
	cr_expect_eq(ended.n, 0, "as long as it likes");
	s.module.group.run.max_run.ms = MOST_MS + 9;
	msd_run_watch_look(&s.replica);
	cr_expect_eq(ended.n, 0);
	cr_expect_eq(next_look_ms(&s), 9);
	scene_finish(&s);
}

Test(run_watch, one_that_is_left_ends_when_another_waits_behind_it)
{
	struct scene s;

	scene_init(&s, 5000);
	leave(s.first, GRACE_MS);
	msd_run_watch_look(&s.replica);
	cr_expect_eq(ended.why, MSD_RUN_IN_WAY);
	cr_expect_eq(ended.blame.who.value, 1, "of its peer, which is gone");
	cr_expect_eq(ended.blame.connection, 0);
	scene_finish(&s);
}

Test(run_watch, one_that_is_left_alone_runs_on)
{
	struct scene s;

	scene_init(&s, 5000);
	leave(s.first, GRACE_MS);
	leave(s.second, GRACE_MS);
	msd_run_watch_look(&s.replica);
	cr_expect_eq(ended.n, 0);
	cr_expect_eq(next_look_ms(&s), MSD_RUN_LOOK_MS);
	scene_finish(&s);
}

/* The first was a page of a plan, in a worker that is stopped. */
Test(run_watch, no_page_of_a_plan_ends_the_worker_for_another_page)
{
	struct scene s;

	scene_init(&s, 5000);
	s.first->method = MSD_M_MODULE_PLAN;
	s.first->state = MSD_REQ_ABANDONED;
	s.second->method = MSD_M_MODULE_PLAN;
	leave(s.first, GRACE_MS);
	msd_run_watch_look(&s.replica);
	cr_expect_eq(ended.n, 0);
	s.second->method = MSD_M_CALL;
	msd_run_watch_look(&s.replica);
	cr_expect_eq(ended.n, 1, "for a call");
	cr_expect_eq(ended.why, MSD_RUN_IN_WAY);
	cr_expect_eq(ended.blame.who.kind, MSD_PEER_UNKNOWN, "a page is short");
	s.first->state = s.second->state;
	scene_finish(&s);
}

/* The worker has as many requests as it may have. */
Test(run_watch, no_page_of_a_plan_in_the_queue_ends_a_worker)
{
	struct scene s;

	scene_init(&s, 5000);
	struct msd_client_queue *queue =
		msd_client_queue_get(&s.clients[1], &s.module.group);
	msd_list_remove(&s.second->link);
	s.second->method = MSD_M_MODULE_PLAN;
	msd_client_queue_append(queue, s.second);
	leave(s.first, GRACE_MS);
	msd_run_watch_look(&s.replica);
	cr_expect_eq(ended.n, 0);
	s.second->method = MSD_M_CALL;
	msd_run_watch_look(&s.replica);
	cr_expect_eq(ended.n, 1, "for a call");
	cr_expect_eq(ended.why, MSD_RUN_IN_WAY);
	cr_expect_eq(msd_client_queue_pop(queue), s.second);
	msd_client_queue_free(queue);
	scene_finish(&s);
}

Test(run_watch, one_that_is_left_before_its_turn_is_looked_at_when_that_may_come)
{
	struct scene s;

	scene_init(&s, 5000);
	leave(s.second, GRACE_MS);
	msd_run_watch_look(&s.replica);
	cr_expect_eq(ended.n, 0, "the first is awaited");
	cr_expect_eq(next_look_ms(&s), MSD_RUN_LOOK_MS);
	scene_finish(&s);
}

Test(run_watch, a_module_is_hung_when_no_worker_has_answered_for_max_run)
{
	struct scene s;
	uint64_t ms = 0;

	scene_init(&s, MOST_MS - 1);
	cr_expect(msd_busy_longest(&s.module.group, &ms));
	cr_expect_eq(ms, MOST_MS - 1);
	cr_expect_not(msd_busy_is_hung(&s.module.group, &ms));
	s.replica.head_since_ms--;
	cr_expect(msd_busy_is_hung(&s.module.group, &ms));
	s.limits.max_run_ms = 0;
	cr_expect_not(msd_busy_is_hung(&s.module.group, &ms), "nothing is too long");
	scene_finish(&s);
}

Test(run_watch, a_module_stays_hung_behind_a_kill_until_a_worker_answers)
{
	struct scene s;
	uint64_t ms = 0;

	scene_init(&s, 1);
	msd_busy_note_end(&s.module.group, MOST_MS);
	cr_expect(msd_busy_is_hung(&s.module.group, &ms));
	cr_expect_eq(ms, MOST_MS);
	msd_worker_group_lose(&s.module.group, 1);
	cr_expect(msd_busy_is_hung(&s.module.group, &ms), "a loss is no answer");
	s.module.group.n_calls++;
	cr_expect_not(msd_busy_is_hung(&s.module.group, &ms));
	scene_finish(&s);
}

Test(run_watch, an_idle_worker_is_not_busy)
{
	struct scene s;
	uint64_t ms = 0;

	scene_init(&s, MOST_MS);
	msd_list_remove(&s.first->link);
	msd_list_remove(&s.second->link);
	cr_expect_not(msd_busy_longest(&s.module.group, &ms));
	cr_expect_not(msd_busy_is_hung(&s.module.group, &ms));
	msd_run_watch_look(&s.replica);
	cr_expect_eq(ended.n, 0);
	cr_expect_not(msd_deadline_is_set(&s.replica.run_timer));
	scene_finish(&s);
}

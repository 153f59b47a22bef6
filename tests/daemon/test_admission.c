#include <criterion/criterion.h>

#include "daemon/limits.h"
#include "daemon/supervisor/module/queue/admission.h"
#include "daemon/supervisor/module/queue/admit.h"
#include "daemon/supervisor/module/queue/client_queue.h"

#define SLOW 1u /* rows of the tally */
#define FAST 2u
#define NEW 3u
#define NOW_MS 5000u

/* Two clients, and a module with up to two workers that are no processes. */
struct scene {
	struct msd_module_registry registry;
	struct msd_limits limits;
	struct msd_module module;
	struct msd_replica replicas[2];
	struct msd_client clients[2];
	struct msd_req *made[64];
	unsigned n_made;
};

static void scene_init(struct scene *s, uint32_t n_workers)
{
	struct msd_worker_group *group = &s->module.group;

	*s = (struct scene){0};
	s->registry.limits = &s->limits;
	group->registry = &s->registry;
	group->replicas = s->replicas;
	group->n_replicas = n_workers;
	group->pace.us[SLOW] = 10000;
	group->pace.us[FAST] = 1000;
	msd_list_init(&group->client_queues);
	msd_list_init(&group->background);
	msd_list_init(&group->all_client_queues);
	msd_list_init(&s->module.receiving);
	for (unsigned i = 0; i < 2; i++) {
		msd_replica_init(&s->replicas[i], group, i + 1);
		s->replicas[i].head_since_ms = NOW_MS;
		s->replicas[i].is_open = true;
		msd_client_init(&s->clients[i], NULL);
		s->clients[i].peer =
			(struct msd_peer_id){MSD_PEER_USER, 1000 + i, NULL};
	}
}

static struct msd_req *call(struct scene *s, unsigned row)
{
	struct msd_req *r = msd_req_new(NULL, 0, MSD_M_CALL);

	msd_module_adopt(&s->module, r);
	r->at.function = (uint8_t)row;
	s->made[s->n_made++] = r;
	return r;
}

static void queue(struct scene *s, unsigned client, unsigned n, unsigned row)
{
	struct msd_client_queue *client_queue =
		msd_client_queue_get(&s->clients[client], &s->module.group);

	for (unsigned i = 0; i < n; i++)
		msd_client_queue_append(client_queue, call(s, row));
}

static void post(struct scene *s, unsigned worker, unsigned row)
{
	msd_list_append(&s->replicas[worker].sent, &call(s, row)->link);
}

/* What a call of @row by the first client would have ahead of it. */
static uint64_t ahead_us(struct scene *s, unsigned row)
{
	struct msd_req asked = {.method = MSD_M_CALL,
				.at.function = (uint8_t)row,
				.client.who = &s->clients[0]};

	return msd_backlog_of(&s->module.group, &asked, NOW_MS).ahead_us;
}

static void scene_finish(struct scene *s)
{
	for (unsigned i = 0; i < s->n_made; i++)
		msd_req_release(s->made[i]);
	for (unsigned i = 0; i < 2; i++) {
		struct msd_client_queue *client_queue =
			msd_client_queue_find(&s->clients[i], &s->module.group);
		if (client_queue != NULL)
			msd_client_queue_free(client_queue);
	}
	msd_peer_latencies_finish(&s->module.group.paces);
}

/* A call of @client that took so long is over. */
static void took_ms(struct scene *s, unsigned client, unsigned ms)
{
	s->module.group.pace.n[FAST] = 2;
	msd_worker_group_note_pace(&s->module.group, &s->clients[client], FAST,
				   ms * UINT64_C(1000000));
}

Test(admission, a_call_is_judged_by_those_of_its_own_peer)
{
	struct scene s;
	struct msd_req asked = {.method = MSD_M_CALL, .at.function = FAST};

	scene_init(&s, 1);
	asked.client.who = &s.clients[0];
	for (unsigned i = 0; i < 20; i++)
		took_ms(&s, 1, 1000);
	cr_expect_eq(msd_backlog_of(&s.module.group, &asked, NOW_MS).own_us, 0,
		     "nothing is known of it");
	took_ms(&s, 0, 2);
	cr_expect_leq(msd_backlog_of(&s.module.group, &asked, NOW_MS).own_us, 2001);
	queue(&s, 0, 3, FAST);
	cr_expect_leq(ahead_us(&s, FAST), 3 * 2001);
	queue(&s, 1, 1, FAST);
	cr_expect_geq(ahead_us(&s, FAST), 1000000);
	asked.client.who = &s.clients[1];
	cr_expect_geq(msd_backlog_of(&s.module.group, &asked, NOW_MS).own_us, 1000000);
	scene_finish(&s);
}

Test(admission, what_is_in_time_or_has_nothing_ahead_is_tried)
{
	cr_expect_eq(msd_backlog_late_us((struct msd_backlog){0, 5000}, 1), 0);
	cr_expect_eq(msd_backlog_late_us((struct msd_backlog){80, 10}, 100), 0);
	cr_expect_eq(msd_backlog_late_us((struct msd_backlog){81, 10}, 100), 1);
	cr_expect_eq(msd_backlog_late_us((struct msd_backlog){1000, 0}, 0), 1000);
}

Test(admission, the_own_lane_is_ahead_as_a_whole)
{
	struct scene s;

	scene_init(&s, 1);
	cr_expect_eq(ahead_us(&s, FAST), 0);
	queue(&s, 0, 3, SLOW);
	queue(&s, 0, 2, FAST);
	cr_expect_eq(ahead_us(&s, FAST), 32000);
	cr_expect_eq(s.module.group.queued_us, 32000);
	scene_finish(&s);
	cr_expect_eq(s.module.group.queued_us, 0, "what leaves is taken away");
}

Test(admission, of_a_long_lane_of_another_client_one_call_a_turn_is_ahead)
{
	struct scene s;

	scene_init(&s, 1);
	queue(&s, 1, 40, SLOW);
	cr_expect_eq(ahead_us(&s, FAST), 10000, "one of the forty");
	queue(&s, 0, 2, FAST);
	cr_expect_eq(ahead_us(&s, FAST), 2000 + 3 * 10000);
	scene_finish(&s);
}

Test(admission, what_a_worker_runs_counts_for_what_is_left_of_it)
{
	struct scene s;

	scene_init(&s, 1);
	post(&s, 0, SLOW);
	post(&s, 0, SLOW);
	cr_expect_eq(ahead_us(&s, FAST), 20000);
	s.replicas[0].head_since_ms = NOW_MS - 4;
	cr_expect_eq(ahead_us(&s, FAST), 16000);
	s.replicas[0].head_since_ms = NOW_MS - 900;
	cr_expect_eq(ahead_us(&s, FAST), 10000, "longer than ever: done any time");
	scene_finish(&s);
}

Test(admission, what_a_call_overtakes_is_not_ahead_of_it)
{
	struct scene s;
	struct msd_req asked = {.method = MSD_M_CALL,
				.at = {.function = FAST, .is_unordered = true},
				.due = {.is_clients = true, .node.at_ms = NOW_MS + 20}};

	scene_init(&s, 1);
	asked.client.who = &s.clients[0];
	queue(&s, 0, 1, SLOW);
	struct msd_req *unhurried = call(&s, SLOW);
	unhurried->at.is_unordered = true;
	msd_client_queue_append(msd_client_queue_get(&s.clients[0], &s.module.group),
				unhurried);
	queue(&s, 1, 40, SLOW);
	cr_expect_eq(msd_backlog_of(&s.module.group, &asked, NOW_MS).ahead_us,
		     10000 + 2 * 10000,
		     "one of its own, and as many turns of the other");
	asked.at.is_unordered = false;
	cr_expect_eq(msd_backlog_of(&s.module.group, &asked, NOW_MS).ahead_us,
		     20000 + 3 * 10000);
	scene_finish(&s);
}

Test(admission, several_workers_share_what_is_ahead)
{
	struct scene s;

	scene_init(&s, 2);
	post(&s, 0, SLOW);
	post(&s, 1, SLOW);
	queue(&s, 0, 2, SLOW);
	cr_expect_eq(ahead_us(&s, FAST), 20000);
	scene_finish(&s);
}

Test(admission, a_worker_that_is_free_takes_a_call_at_once)
{
	struct scene s;

	scene_init(&s, 2);
	post(&s, 0, SLOW);
	cr_expect_eq(ahead_us(&s, FAST), 0);
	s.replicas[1].is_open = false;
	cr_expect_eq(ahead_us(&s, FAST), 10000, "a closed one takes none");
	scene_finish(&s);
}

Test(admission, what_needs_no_order_does_not_wait_for_the_home)
{
	struct scene s;
	struct msd_req asked = {.method = MSD_M_CALL,
				.at = {.function = FAST, .is_unordered = true}};

	scene_init(&s, 2);
	asked.client.who = &s.clients[0];
	post(&s, 0, SLOW);
	msd_client_queue_bind(msd_client_queue_get(&s.clients[0], &s.module.group),
			      &s.replicas[0]);
	cr_expect_eq(msd_backlog_of(&s.module.group, &asked, NOW_MS).ahead_us, 0);
	asked.at.is_unordered = false;
	cr_expect_eq(msd_backlog_of(&s.module.group, &asked, NOW_MS).ahead_us, 10000);
	scene_finish(&s);
}

Test(admission, at_home_the_home_alone_counts)
{
	struct scene s;

	scene_init(&s, 2);
	post(&s, 0, SLOW);
	post(&s, 1, FAST);
	msd_client_queue_bind(msd_client_queue_get(&s.clients[0], &s.module.group),
			      &s.replicas[0]);
	cr_expect_eq(ahead_us(&s, FAST), 10000);
	queue(&s, 0, 1, SLOW);
	cr_expect_eq(ahead_us(&s, FAST), 20000);
	scene_finish(&s);
}

Test(admission, what_was_never_seen_takes_no_time)
{
	struct scene s;

	scene_init(&s, 1);
	post(&s, 0, NEW);
	queue(&s, 0, 5, NEW);
	cr_expect_eq(ahead_us(&s, SLOW), 0);
	scene_finish(&s);
}

#include <criterion/criterion.h>

#include "daemon/supervisor/module/house.h"
#include "daemon/supervisor/module/lane.h"
#include "daemon/supervisor/module/queue.h"
#include "daemon/supervisor/module/refusal.h"

#define MOST 16u

/* Two clients of two peers, and a module with one worker, which is no process and has
 * room. Nothing can be sent to it: what is not withheld breaks it. */
struct scene {
	uv_loop_t loop;
	struct msd_deadlines deadlines;
	struct msd_house house;
	struct msd_crew crew;
	struct msd_replica replica;
	struct msd_client clients[2];
};

static uint64_t told[MOST]; /* ids of requests that were answered, in that order */
static msd_err codes[MOST];
static unsigned n_told;

static void reply_error(struct msd_client *c, uint64_t id, const struct msd_diag *why)
{
	(void)c;
	cr_assert_lt(n_told, MOST);
	codes[n_told] = why->code;
	told[n_told++] = id;
}

static void on_done(struct msd_client *c, const struct msd_req *r)
{
	(void)c;
	(void)r;
}

static const struct msd_client_ops client_ops = {.reply_error = reply_error,
						 .on_done = on_done};

static void explain_due(const struct msd_req *r, struct msd_diag *d)
{
	(void)r;
	(void)msd_diag_set(d, MSD_DEADLINE, "late");
}

static void on_answered(struct msd_req *r)
{
	(void)r;
}

static void on_freed(struct msd_req *r)
{
	if (r->at.lane != NULL)
		msd_lane_left(r);
}

static const struct msd_req_ops req_ops = {
	.explain_due = explain_due, .on_answered = on_answered, .on_freed = on_freed};

static void scene_init(struct scene *s)
{
	*s = (struct scene){0};
	(void)uv_loop_init(&s->loop);
	msd_deadlines_init(&s->deadlines, &s->loop);
	s->house.loop = &s->loop;
	s->house.deadlines = &s->deadlines;
	s->crew.house = &s->house;
	s->crew.replicas = &s->replica;
	s->crew.n_replicas = 1;
	msd_list_init(&s->crew.lanes);
	msd_list_init(&s->crew.background);
	msd_list_init(&s->crew.all_lanes);
	msd_list_init(&s->crew.refused);
	msd_replica_init(&s->replica, &s->crew, 1);
	for (unsigned i = 0; i < 2; i++) {
		msd_client_init(&s->clients[i], &client_ops);
		s->clients[i].peer = (struct msd_peer_id){MSD_PEER_USER, i + 1, NULL};
	}
	n_told = 0;
}

static void scene_finish(struct scene *s)
{
	for (unsigned i = 0; i < 2; i++) {
		msd_client_leave(&s->clients[i]);
		msd_queue_leave(&s->clients[i]);
	}
	cr_expect_eq(s->crew.n_queued, 0);
	cr_expect_eq(s->crew.queued_us, 0);
	cr_expect(msd_list_is_empty(&s->crew.all_lanes));
	cr_expect(msd_list_is_empty(&s->crew.refused));
	msd_deadlines_close(&s->deadlines);
	(void)uv_run(&s->loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&s->loop), 0);
}

static struct msd_lane *lane_of(struct scene *s, unsigned client)
{
	return msd_lane_get(&s->clients[client], &s->crew);
}

/* Queue a call; one that @may_kill has a deadline of its own. */
static struct msd_req *queue(struct scene *s, unsigned client, uint64_t id,
			     bool may_kill)
{
	struct msd_req *r = msd_req_new(&s->clients[client], id, MSD_M_CALL);

	r->ops = &req_ops;
	r->due.is_clients = may_kill;
	s->crew.pace.us[0] = 7;
	msd_lane_append(lane_of(s, client), r);
	return r;
}

/* Look at one request, as the loop does. */
static void step(struct scene *s)
{
	struct msd_deadline *timer = &s->crew.refusal_timer;

	cr_assert(msd_deadline_is_set(timer), "there is more to look at");
	cr_assert_eq(msd_deadline_left(&s->deadlines, timer), 0);
	msd_deadline_clear(&s->deadlines, timer);
	timer->on_due(timer);
}

static void run(struct scene *s)
{
	while (msd_deadline_is_set(&s->crew.refusal_timer))
		step(s);
}

static void begin_of(struct scene *s, unsigned client)
{
	msd_refusal_begin_of(&s->crew, s->clients[client].peer, MSD_BUSY, "barred");
}

static void expect_queued(const struct scene *s, uint32_t n)
{
	cr_expect_eq(s->crew.n_queued, n);
	cr_expect_eq(s->crew.queued_us, 7 * n);
}

/* The order in which what is left of the lane would be sent. */
static void expect_left(struct scene *s, unsigned client, unsigned n,
			const uint64_t ids[])
{
	struct msd_lane *lane = lane_of(s, client);
	unsigned i = 0;

	cr_expect_eq(lane->refused, MSD_REFUSED_NONE);
	cr_expect_null(lane->why);
	cr_expect(msd_list_is_empty(&lane->passed));
	cr_expect_eq(lane->n_requests, n);
	MSD_LIST_EACH (it, &lane->requests) {
		cr_assert_lt(i, n);
		cr_expect_eq(MSD_CONTAINER_OF(it, struct msd_req, link)->client.id,
			     ids[i++]);
	}
	cr_expect_eq(i, n);
}

static void expect_told(unsigned n, const uint64_t ids[], msd_err code)
{
	cr_assert_eq(n_told, n);
	for (unsigned i = 0; i < n; i++) {
		cr_expect_eq(told[i], ids[i]);
		cr_expect_eq(codes[i], code);
	}
}

Test(refusal, what_may_end_a_worker_goes_one_at_a_time_and_the_rest_stays_in_order)
{
	struct scene s;

	scene_init(&s);
	for (uint64_t id = 1; id <= 6; id++)
		(void)queue(&s, 0, id, id % 2 == 0);
	begin_of(&s, 0);
	cr_expect_eq(n_told, 0, "none at once");
	step(&s);
	step(&s);
	expect_told(1, (uint64_t[]){2}, MSD_BUSY);
	expect_queued(&s, 5);
	run(&s);
	expect_told(3, (uint64_t[]){2, 4, 6}, MSD_BUSY);
	expect_left(&s, 0, 3, (uint64_t[]){1, 3, 5});
	expect_queued(&s, 3);
	cr_expect_eq(s.crew.lanes.next, &lane_of(&s, 0)->link, "it takes turns again");
	scene_finish(&s);
}

Test(refusal, the_loop_does_it_by_itself)
{
	struct scene s;

	scene_init(&s);
	for (uint64_t id = 1; id <= 3; id++)
		(void)queue(&s, 0, id, true);
	begin_of(&s, 0);
	while (msd_deadline_is_set(&s.crew.refusal_timer))
		(void)uv_run(&s.loop, UV_RUN_ONCE);
	expect_told(3, (uint64_t[]){1, 2, 3}, MSD_BUSY);
	scene_finish(&s);
}

Test(refusal, another_peers_lane_takes_its_turns)
{
	struct scene s;

	scene_init(&s);
	(void)queue(&s, 0, 1, true);
	(void)queue(&s, 1, 2, true);
	begin_of(&s, 0);
	cr_expect_eq(s.crew.lanes.next, &lane_of(&s, 1)->link);
	cr_expect_eq(s.crew.lanes.next->next, &s.crew.lanes, "alone");
	run(&s);
	expect_told(1, (uint64_t[]){1}, MSD_BUSY);
	expect_left(&s, 1, 1, (uint64_t[]){2});
	scene_finish(&s);
}

Test(refusal, nothing_is_sent_of_what_is_refused)
{
	struct scene s;

	scene_init(&s);
	(void)queue(&s, 0, 1, false);
	(void)queue(&s, 0, 2, true);
	begin_of(&s, 0);
	step(&s); /* the first is passed */
	s.crew.is_serving = s.replica.is_open = true;
	msd_queue_pump(&s.crew);
	(void)queue(&s, 0, 3, false);
	msd_queue_pump(&s.crew);
	expect_queued(&s, 3);
	cr_expect_eq(s.replica.n_sent, 0);
	s.crew.is_serving = false;
	run(&s);
	expect_told(1, (uint64_t[]){2}, MSD_BUSY);
	expect_left(&s, 0, 2, (uint64_t[]){1, 3});
	scene_finish(&s);
}

Test(refusal, a_cancel_or_a_deadline_in_between_is_answered_as_ever)
{
	struct scene s;
	struct msd_req *r[7];

	scene_init(&s);
	for (uint64_t id = 1; id <= 6; id++)
		r[id] = queue(&s, 0, id, id >= 4);
	begin_of(&s, 0);
	step(&s);
	step(&s);
	msd_req_take(r[2], MSD_REQ_CANCELLED); /* passed */
	msd_req_take(r[3], MSD_REQ_CANCELLED); /* the next to be looked at */
	msd_req_take(r[5], MSD_REQ_DUE);
	cr_expect_eq(n_told, 3);
	cr_expect_eq(codes[0], MSD_CANCELLED);
	cr_expect_eq(codes[2], MSD_DEADLINE);
	expect_queued(&s, 3);
	n_told = 0;
	run(&s);
	expect_told(2, (uint64_t[]){4, 6}, MSD_BUSY);
	expect_left(&s, 0, 1, (uint64_t[]){1});
	scene_finish(&s);
}

Test(refusal, a_lane_whose_last_is_cancelled_is_served_again)
{
	struct scene s;

	scene_init(&s);
	struct msd_req *r = queue(&s, 0, 1, true);
	begin_of(&s, 0);
	msd_req_take(r, MSD_REQ_CANCELLED);
	cr_expect(msd_list_is_empty(&s.crew.refused));
	expect_left(&s, 0, 0, NULL);
	step(&s);
	cr_expect_not(msd_deadline_is_set(&s.crew.refusal_timer));
	(void)queue(&s, 0, 2, true);
	cr_expect_eq(s.crew.lanes.next, &lane_of(&s, 0)->link);
	scene_finish(&s);
}

Test(refusal, a_client_that_goes_in_between_is_told_nothing)
{
	struct scene s;

	scene_init(&s);
	for (uint64_t id = 1; id <= 4; id++)
		(void)queue(&s, 0, id, id > 1);
	(void)queue(&s, 1, 5, true);
	/* Of nobody: what a worker is told behind the others. */
	struct msd_req *of_nobody = msd_req_new(NULL, 0, MSD_M_TENSOR_FREE);
	of_nobody->ops = &req_ops;
	msd_lane_append(lane_of(&s, 0), of_nobody);
	begin_of(&s, 0);
	step(&s);
	step(&s);
	expect_told(1, (uint64_t[]){2}, MSD_BUSY);
	msd_client_leave(&s.clients[0]);
	msd_queue_leave(&s.clients[0]);
	cr_expect_eq(n_told, 1);
	cr_expect(msd_list_is_empty(&s.crew.refused));
	cr_expect_eq(s.crew.n_queued, 1);
	run(&s);
	scene_finish(&s);
}

Test(refusal, of_all_everything_goes_lane_by_lane)
{
	struct scene s;

	scene_init(&s);
	for (uint64_t id = 1; id <= 4; id++)
		(void)queue(&s, id % 2, id, false);
	msd_refusal_begin(&s.crew, MSD_QUARANTINED, "it died");
	cr_expect(msd_list_is_empty(&s.crew.lanes), "nothing may be sent");
	step(&s);
	cr_expect_eq(n_told, 1);
	expect_queued(&s, 3);
	run(&s);
	expect_told(4, (uint64_t[]){1, 3, 2, 4}, MSD_QUARANTINED);
	scene_finish(&s);
}

Test(refusal, of_all_overrides_what_was_passed_before)
{
	struct scene s;

	scene_init(&s);
	for (uint64_t id = 1; id <= 4; id++)
		(void)queue(&s, 0, id, id == 2);
	begin_of(&s, 0);
	for (unsigned i = 0; i < 3; i++)
		step(&s);
	n_told = 0;
	msd_refusal_begin(&s.crew, MSD_QUARANTINED, "it died");
	begin_of(&s, 0); /* says no more */
	run(&s);
	expect_told(3, (uint64_t[]){1, 3, 4}, MSD_QUARANTINED);
	scene_finish(&s);
}

Test(refusal, at_its_modules_end_the_rest_goes_at_once)
{
	struct scene s;

	scene_init(&s);
	for (uint64_t id = 1; id <= 4; id++)
		(void)queue(&s, 0, id, id == 2);
	begin_of(&s, 0);
	step(&s);
	step(&s);
	n_told = 0;
	msd_refusal_begin(&s.crew, MSD_DRAINING, "it is unloaded");
	msd_refusal_finish(&s.crew);
	expect_told(3, (uint64_t[]){1, 3, 4}, MSD_DRAINING);
	expect_queued(&s, 0);
	cr_expect_not(msd_deadline_is_set(&s.crew.refusal_timer), "none is left");
	scene_finish(&s);
}

Test(refusal, a_lost_home_leaves_it_withheld)
{
	struct scene s;

	scene_init(&s);
	s.crew.n_replicas = 2; /* of one there are no homes; the other is never asked */
	(void)queue(&s, 0, 1, false);
	msd_lane_bind(lane_of(&s, 0), &s.replica);
	begin_of(&s, 0);
	msd_lanes_unbind(&s.replica);
	cr_expect_eq(s.crew.refused.next, &lane_of(&s, 0)->link);
	cr_expect(msd_list_is_empty(&s.crew.lanes));
	run(&s);
	expect_left(&s, 0, 1, (uint64_t[]){1});
	cr_expect_eq(s.crew.lanes.next, &lane_of(&s, 0)->link);
	scene_finish(&s);
}

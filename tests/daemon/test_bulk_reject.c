#include <criterion/criterion.h>

#include "daemon/supervisor/module/queue/bulk_reject.h"
#include "daemon/supervisor/module/queue/client_queue.h"
#include "daemon/supervisor/module/queue/queue.h"
#include "tests/daemon/queue_scene.h"

static void begin_of(struct scene *s, unsigned client)
{
	const struct msd_diag d = {.code = MSD_BUSY};

	msd_refusal_begin_of(&s->group, s->clients[client].peer, MSD_REFUSED_DEADLY,
			     &d);
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
	cr_expect_eq(s.group.client_queues.next, &lane_of(&s, 0)->link,
		     "it takes turns again");
	scene_finish(&s);
}

Test(refusal, the_loop_does_it_by_itself)
{
	struct scene s;

	scene_init(&s);
	for (uint64_t id = 1; id <= 3; id++)
		(void)queue(&s, 0, id, true);
	begin_of(&s, 0);
	while (msd_task_is_queued(&s.group.refusal))
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
	cr_expect_eq(s.group.client_queues.next, &lane_of(&s, 1)->link);
	cr_expect_eq(s.group.client_queues.next->next, &s.group.client_queues, "alone");
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
	s.group.is_serving = s.replica.is_open = true;
	msd_queue_pump(&s.group);
	(void)queue(&s, 0, 3, false);
	msd_queue_pump(&s.group);
	expect_queued(&s, 3);
	cr_expect_eq(s.replica.n_sent, 0);
	s.group.is_serving = false;
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
	msd_req_apply(r[2], MSD_REQ_CANCELLED); /* passed */
	msd_req_apply(r[3], MSD_REQ_CANCELLED); /* the next to be looked at */
	msd_req_apply(r[5], MSD_REQ_DUE);
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
	msd_req_apply(r, MSD_REQ_CANCELLED);
	cr_expect(msd_list_is_empty(&s.group.refused));
	expect_left(&s, 0, 0, NULL);
	step(&s);
	cr_expect_not(msd_task_is_queued(&s.group.refusal));
	cr_expect_eq(s.n_ends, 1);
	(void)queue(&s, 0, 2, true);
	cr_expect_eq(s.group.client_queues.next, &lane_of(&s, 0)->link);
	scene_finish(&s);
}

Test(refusal, a_client_that_goes_in_between_is_told_nothing)
{
	struct scene s;

	scene_init(&s);
	for (uint64_t id = 1; id <= 4; id++)
		(void)queue(&s, 0, id, id > 1);
	(void)queue(&s, 1, 5, true);
	queue_nobodys(&s, 0);
	begin_of(&s, 0);
	step(&s);
	step(&s);
	expect_told(1, (uint64_t[]){2}, MSD_BUSY);
	msd_client_leave(&s.clients[0]);
	msd_queue_leave(&s.clients[0]);
	cr_expect_eq(n_told, 1);
	cr_expect(msd_list_is_empty(&s.group.refused));
	cr_expect_eq(s.group.n_queued, 1);
	run(&s);
	scene_finish(&s);
}

Test(refusal, of_all_everything_goes_lane_by_lane)
{
	struct scene s;

	scene_init(&s);
	for (uint64_t id = 1; id <= 4; id++)
		(void)queue(&s, id % 2, id, false);
	msd_refusal_begin(&s.group, MSD_QUARANTINED, "it died");
	cr_expect(msd_list_is_empty(&s.group.client_queues), "nothing may be sent");
	step(&s);
	cr_expect_eq(n_told, 1);
	expect_queued(&s, 3);
	cr_expect_eq(s.n_ends, 0);
	run(&s);
	expect_told(4, (uint64_t[]){1, 3, 2, 4}, MSD_QUARANTINED);
	cr_expect_eq(s.n_ends, 1, "that nothing is left is told once");
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
	msd_refusal_begin(&s.group, MSD_QUARANTINED, "it died");
	begin_of(&s, 0); /* says no more */
	run(&s);
	expect_told(3, (uint64_t[]){1, 3, 4}, MSD_QUARANTINED);
	scene_finish(&s);
}

Test(refusal, a_lost_home_leaves_it_withheld)
{
	struct scene s;

	scene_init(&s);
	s.group.n_replicas =
		2; /* of one there are no homes; the other is never asked */
	(void)queue(&s, 0, 1, false);
	msd_client_queue_bind(lane_of(&s, 0), &s.replica);
	begin_of(&s, 0);
	msd_client_queues_unbind(&s.replica);
	cr_expect_eq(s.group.refused.next, &lane_of(&s, 0)->link);
	cr_expect(msd_list_is_empty(&s.group.client_queues));
	run(&s);
	expect_left(&s, 0, 1, (uint64_t[]){1});
	cr_expect_eq(s.group.client_queues.next, &lane_of(&s, 0)->link);
	scene_finish(&s);
}

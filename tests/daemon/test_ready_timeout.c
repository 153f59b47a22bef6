#include <criterion/criterion.h>

#include "daemon/supervisor/module/queue/bulk_reject.h"
#include "daemon/supervisor/module/queue/ready_timeout.h"
#include "tests/daemon/queue_scene.h"

#define WAIT_MS 5000u

static void open_scene(struct scene *s)
{
	scene_init(s);
	s->limits.ready_wait_ms = WAIT_MS;
}

/* A call that has a deadline of its own. */
static struct msd_req *queue_dated(struct scene *s, unsigned client, uint64_t id)
{
	struct msd_req *r = queue(s, client, id, true);

	msd_req_set_due(r, &s->deadlines, 60000);
	return r;
}

/* Its turn has come. */
static void ring(struct scene *s, struct msd_deadline *node)
{
	cr_assert(msd_deadline_is_set(node));
	msd_deadline_clear(&s->deadlines, node);
	node->on_due(node);
}

/* How many of the requests @r[1] to @r[@n] are in the heap of deadlines. */
static unsigned count_set(struct msd_req *const r[], unsigned n)
{
	unsigned n_set = 0;

	for (unsigned i = 1; i <= n; i++)
		n_set += msd_deadline_is_set(&r[i]->due.node);
	return n_set;
}

Test(ready_wait, a_loss_touches_nothing_that_is_queued_nor_does_the_next_worker)
{
	struct scene s;
	struct msd_req *r[9];

	open_scene(&s);
	for (uint64_t id = 1; id <= 8; id++)
		r[id] = queue(&s, id % 2, id, false);
	msd_ready_timeout_begin(&s.group);
	cr_expect_eq(count_set(r, 8), 0);
	cr_expect_eq(msd_deadline_left(&s.deadlines, &s.group.ready_timer), WAIT_MS);
	msd_ready_timeout_end(&s.group);
	cr_expect_not(msd_deadline_is_set(&s.group.ready_timer));
	cr_expect_eq(n_told, 0);
	expect_queued(&s, 8);
	scene_finish(&s);
}

Test(ready_wait, what_has_waited_too_long_goes_one_at_a_time_and_the_rest_stays)
{
	struct scene s;

	open_scene(&s);
	(void)queue(&s, 0, 1, false);
	(void)queue_dated(&s, 0, 2);
	(void)queue(&s, 0, 3, false);
	(void)queue(&s, 1, 4, false);
	msd_ready_timeout_begin(&s.group);
	ring(&s, &s.group.ready_timer);
	cr_expect_eq(n_told, 0, "none at once");
	step(&s);
	cr_expect_eq(n_told, 1);
	expect_queued(&s, 3);
	run(&s);
	expect_told(3, (uint64_t[]){1, 3, 4}, MSD_DEADLINE);
	expect_left(&s, 0, 1, (uint64_t[]){2});
	expect_queued(&s, 1);
	scene_finish(&s);
}

Test(ready_wait, what_is_queued_meanwhile_has_a_wait_of_its_own)
{
	struct scene s;

	open_scene(&s);
	(void)queue(&s, 0, 1, false);
	msd_ready_timeout_begin(&s.group);
	struct msd_req *later = queue(&s, 0, 2, false);
	msd_ready_timeout_set(later);
	ring(&s, &s.group.ready_timer);
	run(&s);
	expect_told(1, (uint64_t[]){1}, MSD_DEADLINE);
	expect_left(&s, 0, 1, (uint64_t[]){2});
	ring(&s, &later->due.node);
	expect_told(2, (uint64_t[]){1, 2}, MSD_DEADLINE);
	scene_finish(&s);
}

Test(ready_wait, a_worker_that_comes_while_it_is_looked_at_ends_it)
{
	struct scene s;

	open_scene(&s);
	for (uint64_t id = 1; id <= 3; id++)
		(void)queue(&s, 0, id, false);
	(void)queue_dated(&s, 1, 4);
	msd_ready_timeout_begin(&s.group);
	ring(&s, &s.group.ready_timer);
	step(&s);
	s.group.is_serving = true;
	msd_ready_timeout_end(&s.group);
	cr_expect(msd_list_is_empty(&s.group.refused), "all may be sent");
	run(&s);
	expect_told(1, (uint64_t[]){1}, MSD_DEADLINE);
	expect_left(&s, 0, 2, (uint64_t[]){2, 3});
	expect_left(&s, 1, 1, (uint64_t[]){4});
	scene_finish(&s);
}

/* It was queued while nobody served; somebody does now. */
static struct msd_req *open_with_one_that_waited(struct scene *s)
{
	open_scene(s);
	msd_ready_timeout_begin(&s->group);
	struct msd_req *r = queue(s, 0, 1, false);
	msd_ready_timeout_set(r);
	s->group.is_serving = true;
	msd_ready_timeout_end(&s->group);
	return r;
}

Test(ready_wait, of_a_request_that_a_worker_is_there_for_it_means_nothing)
{
	struct scene s;
	struct msd_req *r = open_with_one_that_waited(&s);

	ring(&s, &r->due.node);
	cr_expect_eq(n_told, 0);
	cr_expect_not(msd_deadline_is_set(&r->due.node));
	cr_expect_not(r->due.is_for_ready);
	scene_finish(&s);
}

Test(ready_wait, begins_anew_with_the_next_loss)
{
	struct scene s;
	struct msd_req *r = open_with_one_that_waited(&s);

	s.group.is_serving = false;
	msd_ready_timeout_begin(&s.group);
	ring(&s, &r->due.node); /* that of the first */
	cr_expect_eq(n_told, 0);
	cr_expect_eq(msd_deadline_left(&s.deadlines, &r->due.node), WAIT_MS);
	ring(&s, &s.group.ready_timer);
	run(&s);
	cr_expect_eq(n_told, 0, "it has a deadline");
	ring(&s, &r->due.node);
	expect_told(1, (uint64_t[]){1}, MSD_DEADLINE);
	scene_finish(&s);
}

Test(ready_wait, another_loss_while_nobody_serves_makes_it_no_longer)
{
	struct scene s;

	open_scene(&s);
	(void)queue(&s, 0, 1, false);
	msd_ready_timeout_begin(&s.group);
	ring(&s, &s.group.ready_timer);
	msd_ready_timeout_begin(&s.group);
	cr_expect_not(msd_deadline_is_set(&s.group.ready_timer));
	run(&s);
	expect_told(1, (uint64_t[]){1}, MSD_DEADLINE);
	scene_finish(&s);
}

Test(ready_wait, what_is_late_goes_with_what_its_peer_is_barred_for)
{
	struct scene s;

	open_scene(&s);
	(void)queue(&s, 0, 1, false);
	(void)queue_dated(&s, 0, 2);
	msd_ready_timeout_begin(&s.group);
	const struct msd_diag d = {.code = MSD_BUSY};

	msd_refusal_begin_of(&s.group, s.clients[0].peer, MSD_REFUSED_DEADLY, &d);
	step(&s); /* the first is passed */
	ring(&s, &s.group.ready_timer);
	run(&s);
	cr_assert_eq(n_told, 2);
	cr_expect_eq(codes[0], MSD_DEADLINE, "it was late meanwhile");
	cr_expect_eq(codes[1], MSD_BUSY);
	scene_finish(&s);
}

Test(ready_wait, of_what_is_sent_is_over)
{
	struct scene s;

	open_scene(&s);
	struct msd_req *r = queue(&s, 0, 1, false);
	msd_ready_timeout_set(r);
	cr_expect_eq(msd_deadline_left(&s.deadlines, &r->due.node), WAIT_MS);
	msd_ready_timeout_clear(r);
	cr_expect_not(msd_deadline_is_set(&r->due.node));
	cr_expect_not(r->due.is_for_ready);
	scene_finish(&s);
}

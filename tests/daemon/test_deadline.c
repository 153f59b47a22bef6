#include <criterion/criterion.h>

#include "daemon/loop/list.h"
#include "daemon/supervisor/request/deadline.h"

static unsigned order[16];
static unsigned n_fired;
static struct msd_tasks tasks;

struct item {
	struct msd_deadline node;
	unsigned number;
};

static void on_due(struct msd_deadline *node)
{
	order[n_fired++] = MSD_CONTAINER_OF(node, struct item, node)->number;
}

static void finish(uv_loop_t *loop, struct msd_deadlines *ds)
{
	msd_deadlines_close(ds);
	msd_tasks_close(&tasks);
	(void)uv_run(loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(loop);
}

Test(deadlines, fire_in_the_order_of_their_times)
{
	uv_loop_t loop;
	struct msd_deadlines ds;
	const uint64_t in_ms[] = {9, 3, 7, 1, 5, 4};
	struct item items[6];

	(void)uv_loop_init(&loop);
	msd_tasks_init(&tasks, &loop);
	msd_deadlines_init(&ds, &tasks);
	for (unsigned i = 0; i < 6; i++) {
		items[i] = (struct item){.node.on_due = on_due,
					 .number = (unsigned)in_ms[i]};
		msd_deadline_set(&ds, &items[i].node, in_ms[i]);
	}
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_assert_eq(n_fired, 6);
	for (unsigned i = 1; i < 6; i++)
		cr_expect_lt(order[i - 1], order[i]);
	finish(&loop, &ds);
}

Test(deadlines, a_cleared_one_does_not_fire)
{
	uv_loop_t loop;
	struct msd_deadlines ds;
	struct item items[3];

	(void)uv_loop_init(&loop);
	msd_tasks_init(&tasks, &loop);
	msd_deadlines_init(&ds, &tasks);
	for (unsigned i = 0; i < 3; i++) {
		items[i] = (struct item){.node.on_due = on_due, .number = i};
		msd_deadline_set(&ds, &items[i].node, i);
	}
	msd_deadline_clear(&ds, &items[1].node);
	msd_deadline_clear(&ds, &items[1].node);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_assert_eq(n_fired, 2);
	cr_expect_eq(order[0], 0);
	cr_expect_eq(order[1], 2);
	finish(&loop, &ds);
}

static struct msd_deadlines *again_in;
static void on_due_again(struct msd_deadline *node)
{
	if (++n_fired < 3)
		msd_deadline_set(again_in, node, 1);
}

Test(deadlines, may_be_set_again_from_its_callback)
{
	uv_loop_t loop;
	struct msd_deadlines ds;
	struct item item = {.node.on_due = on_due_again};

	(void)uv_loop_init(&loop);
	msd_tasks_init(&tasks, &loop);
	msd_deadlines_init(&ds, &tasks);
	again_in = &ds;
	msd_deadline_set(&ds, &item.node, 1);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(n_fired, 3);
	finish(&loop, &ds);
}

static uint64_t last_ms;
static void expect_later(struct msd_deadline *node)
{
	cr_expect_geq(node->at_ms, last_ms);
	last_ms = node->at_ms;
	n_fired++;
}

Test(deadlines, set_again_and_cleared_in_any_order_fire_in_that_of_their_times)
{
	enum { N = 200, CHANGES = 5000 };
	uv_loop_t loop;
	struct msd_deadlines ds;
	static struct msd_deadline nodes[N];
	unsigned n_set = 0;

	(void)uv_loop_init(&loop);
	msd_tasks_init(&tasks, &loop);
	msd_deadlines_init(&ds, &tasks);
	for (unsigned i = 0; i < CHANGES; i++) {
		struct msd_deadline *node = &nodes[(i * 7919u) % N];
		node->on_due = expect_later;
		if (i % 3 == 0) {
			msd_deadline_clear(&ds, node);
		} else {
			msd_deadline_set(&ds, node, 50 + (i * 104729u) % 97u);
		}
	}
	for (unsigned i = 0; i < N; i++)
		n_set += msd_deadline_is_set(&nodes[i]);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_gt(n_set, N / 2);
	cr_expect_eq(n_fired, n_set);
	finish(&loop, &ds);
}

/* Longer than the shortest that a clock tells. */
static void take_long(struct msd_deadline *node)
{
	const uint64_t until_ns = uv_hrtime() + 100000;

	(void)node;
	while (uv_hrtime() < until_ns)
		continue;
	n_fired++;
}

/* And are not put off for it: the loop does not sleep until all are told. */
Test(deadlines, many_that_are_due_at_once_leave_others_their_turn)
{
	enum { MANY = 200 };
	uv_loop_t loop;
	struct msd_deadlines ds;
	static struct msd_deadline nodes[MANY];

	(void)uv_loop_init(&loop);
	msd_tasks_init(&tasks, &loop);
	msd_deadlines_init(&ds, &tasks);
	for (unsigned i = 0; i < MANY; i++) {
		nodes[i].on_due = take_long;
		msd_deadline_set(&ds, &nodes[i], 0);
	}
	while (n_fired < MANY) {
		const unsigned before = n_fired;
		cr_assert_eq(uv_backend_timeout(&loop), 0);
		(void)uv_run(&loop, UV_RUN_NOWAIT);
		cr_assert_gt(n_fired, before);
		cr_assert_leq(n_fired - before, 22, "the timer's and one more at most");
	}
	cr_expect_not(uv_loop_alive(&loop));
	finish(&loop, &ds);
}

static struct msd_deadlines *all;

static void set_again(struct msd_deadline *node)
{
	n_fired++;
	msd_deadline_set(all, node, 0);
}

Test(deadlines, that_are_set_again_at_once_leave_others_their_turn)
{
	uv_loop_t loop;
	struct msd_deadlines ds;
	struct msd_deadline node = {.on_due = set_again};

	(void)uv_loop_init(&loop);
	msd_tasks_init(&tasks, &loop);
	msd_deadlines_init(&ds, &tasks);
	all = &ds;
	msd_deadline_set(&ds, &node, 0);
	for (int i = 0; i < 3; i++) {
		const unsigned before = n_fired;
		(void)uv_run(&loop, UV_RUN_NOWAIT); /* it returns */
		cr_expect_gt(n_fired, before);
	}
	msd_deadline_clear(&ds, &node);
	finish(&loop, &ds);
}

#include <criterion/criterion.h>

#include "daemon/loop/task.h"

#define MOST 64u
#define STEP_NS UINT64_C(300000)
#define STEPS_A_TURN 4u /* of that length: the last one begins before the limit */

static uv_loop_t loop;
static struct msd_tasks tasks;
static uint64_t now_ns;
static unsigned order[MOST], n_steps, n_frees;

struct item {
	struct msd_task task;
	unsigned number, n_left; /* steps */
};

static uint64_t clock_ns(void)
{
	return now_ns;
}

static void on_freed(void *user)
{
	++*(unsigned *)user;
}

static enum msd_task_result step(struct msd_task *t)
{
	struct item *item = MSD_CONTAINER_OF(t, struct item, task);

	cr_assert_lt(n_steps, MOST);
	cr_expect_not(msd_task_is_queued(t));
	order[n_steps++] = item->number;
	now_ns += STEP_NS;
	return --item->n_left > 0 ? MSD_TASK_AGAIN : MSD_TASK_DONE;
}

static void begin(void)
{
	(void)uv_loop_init(&loop);
	msd_tasks_init(&tasks, &loop);
	tasks.clock_ns = clock_ns;
	tasks.on_freed = on_freed;
	tasks.user = &n_frees;
	now_ns = n_steps = n_frees = 0;
}

static void end(void)
{
	if (!tasks.is_closed)
		msd_tasks_close(&tasks);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&loop), 0);
}

TestSuite(tasks, .init = begin, .fini = end);

static void add(struct item *item, unsigned number, enum msd_task_class class,
		uint64_t peer, unsigned n)
{
	*item = (struct item){.task = {.step = step, .class = class, .peer = peer},
			      .number = number,
			      .n_left = n};
	msd_task_begin(&tasks, &item->task);
}

static void expect_order(unsigned n, const unsigned expected[])
{
	cr_assert_eq(n_steps, n);
	for (unsigned i = 0; i < n; i++)
		cr_expect_eq(order[i], expected[i], "step %u", i);
}

Test(tasks, all_share_the_time_of_one_iteration)
{
	struct item items[3];

	for (unsigned i = 0; i < 3; i++)
		add(&items[i], i, (enum msd_task_class)i, i, 3);
	for (unsigned turns = 1; turns <= 2; turns++) {
		cr_expect_eq(uv_backend_timeout(&loop), 0, "the loop does not sleep");
		(void)uv_run(&loop, UV_RUN_NOWAIT);
		cr_expect_eq(n_steps, turns * STEPS_A_TURN);
		cr_expect_eq(n_frees, 0);
	}
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	cr_expect_eq(n_steps, 9);
	cr_expect_eq(n_frees, 1);
	cr_expect_not(uv_loop_alive(&loop));
}

Test(tasks, peers_of_a_class_take_turns)
{
	struct item items[4];

	add(&items[0], 0, MSD_TASK_ANSWER, 1000, 3);
	add(&items[1], 1, MSD_TASK_ANSWER, 1000, 3);
	add(&items[2], 2, MSD_TASK_ANSWER, 1001, 3);
	while (msd_tasks_step(&tasks))
		continue;
	expect_order(9, (unsigned[]){0, 2, 1, 2, 0, 2, 1, 0, 1});
}

Test(tasks, classes_take_turns)
{
	struct item items[4];

	for (unsigned i = 0; i < 3; i++)
		add(&items[i], i, MSD_TASK_FREE, i, 1);
	add(&items[3], 3, MSD_TASK_DUE, 0, 1);
	(void)msd_tasks_step(&tasks);
	(void)msd_tasks_step(&tasks);
	cr_expect(order[0] == 3 || order[1] == 3);
	while (msd_tasks_step(&tasks))
		continue;
	cr_expect_eq(n_steps, 4);
}

Test(tasks, a_cancelled_one_does_not_run)
{
	struct item items[2];

	add(&items[0], 0, MSD_TASK_ANSWER, 0, 1);
	add(&items[1], 1, MSD_TASK_ANSWER, 0, 1);
	msd_task_cancel(&items[0].task);
	msd_task_cancel(&items[0].task);
	cr_expect_not(msd_task_is_queued(&items[0].task));
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	expect_order(1, (unsigned[]){1});
}

Test(tasks, one_that_is_begun_twice_runs_once)
{
	struct item item;

	add(&item, 7, MSD_TASK_ANSWER, 0, 1);
	msd_task_begin(&tasks, &item.task);
	cr_expect(msd_task_is_queued(&item.task));
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	expect_order(1, (unsigned[]){7});
}

static enum msd_task_result begin_itself(struct msd_task *t)
{
	if (++n_steps < 3)
		msd_task_begin(&tasks, t);
	return MSD_TASK_DONE;
}

Test(tasks, one_may_begin_itself_again)
{
	struct msd_task task = {.step = begin_itself};

	msd_task_begin(&tasks, &task);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(n_steps, 3);
}

static enum msd_task_result step_later(struct msd_task *t)
{
	return step(t) == MSD_TASK_AGAIN ? MSD_TASK_LATER : MSD_TASK_DONE;
}

Test(tasks, one_may_wait_for_the_next_iteration)
{
	struct item item = {.task = {.step = step_later}, .n_left = 3};

	msd_task_begin(&tasks, &item.task);
	for (unsigned turns = 1; turns <= 3; turns++) {
		cr_expect(msd_task_is_queued(&item.task));
		cr_expect_eq(uv_backend_timeout(&loop), 0, "the loop does not sleep");
		(void)uv_run(&loop, UV_RUN_NOWAIT);
		cr_expect_eq(n_steps, turns);
	}
	cr_expect_not(uv_loop_alive(&loop));
}

Test(tasks, one_that_waits_for_the_next_iteration_is_cancelled)
{
	struct item item = {.task = {.step = step_later}, .n_left = 3};

	msd_task_begin(&tasks, &item.task);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	msd_task_cancel(&item.task);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(n_steps, 1);
}

Test(tasks, at_the_end_only_memory_is_released)
{
	struct item items[3];

	add(&items[0], 0, MSD_TASK_ANSWER, 0, 2);
	add(&items[1], 1, MSD_TASK_FREE, 0, 2 * STEPS_A_TURN);
	msd_tasks_close(&tasks);
	cr_expect_eq(n_steps, 2 * STEPS_A_TURN);
	add(&items[2], 2, MSD_TASK_FREE, 0, 2);
	cr_expect_eq(n_steps, 2 * STEPS_A_TURN + 2);
	add(&items[2], 2, MSD_TASK_DUE, 0, 1);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(n_steps, 2 * STEPS_A_TURN + 2);
}

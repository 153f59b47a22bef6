#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/pool/pool.h"
#include "runtime/value/error.h"

#define MAX_TASKS 16

struct seen {
	atomic_int runs[MAX_TASKS];
	atomic_int num_task;
	atomic_int inner_tasks;
};

static int note_task(int task, struct msd_parallel_env *env, void *data)
{
	struct seen *s = data;

	atomic_fetch_add(&s->runs[task], 1);
	atomic_store(&s->num_task, env->num_task);
	return 0;
}

Test(pool, runs_each_task_once)
{
	struct seen s = {0};

	msd_pool_configure(4);
	cr_assert_eq(msd_pool_launch(note_task, &s, 3), 0);
	cr_assert_eq(s.num_task, 3);
	for (int i = 0; i < MAX_TASKS; i++)
		cr_assert_eq(s.runs[i], i < 3 ? 1 : 0);
	msd_pool_stop();
}

Test(pool, zero_and_too_many_tasks_mean_its_size)
{
	struct seen s = {0};

	msd_pool_configure(4);
	cr_assert_eq(msd_pool_launch(note_task, &s, 0), 0);
	cr_assert_eq(s.num_task, 4);
	cr_assert_eq(msd_pool_launch(note_task, &s, 100), 0);
	cr_assert_eq(s.num_task, 4);
	msd_pool_stop();
}

Test(pool, cores_are_shared_by_processes_and_a_number_is_not)
{
	(void)unsetenv("TVM_NUM_THREADS");
	unsigned all = msd_pool_size();

	msd_pool_stop();
	msd_pool_share(all);
	msd_pool_configure(0);
	cr_assert_eq(msd_pool_size(), 1);
	msd_pool_share(1000);
	msd_pool_configure(0);
	cr_assert_eq(msd_pool_size(), 1);
	msd_pool_configure(3);
	cr_assert_eq(msd_pool_size(), 3);
	(void)setenv("TVM_NUM_THREADS", "4", 1);
	msd_pool_configure(0);
	cr_assert_eq(msd_pool_size(), 4);
}

Test(pool, size_comes_from_the_environment)
{
	(void)setenv("TVM_NUM_THREADS", "3", 1);
	cr_assert_eq(msd_pool_size(), 3);
	msd_pool_stop();
	(void)setenv("TVM_NUM_THREADS", "junk", 1);
	cr_assert_geq(msd_pool_size(), 1);
	msd_pool_stop();
	msd_pool_configure(2);
	cr_assert_eq(msd_pool_size(), 2);
}

static int nested_task(int task, struct msd_parallel_env *env, void *data)
{
	struct seen inner = {0};
	struct seen *s = data;

	(void)task;
	(void)env;
	int rc = msd_pool_launch(note_task, &inner, 0);
	atomic_fetch_add(&s->inner_tasks, inner.num_task);
	return rc;
}

Test(pool, nested_launch_runs_inline_as_one_task)
{
	struct seen s = {0};

	msd_pool_configure(4);
	cr_assert_eq(msd_pool_launch(nested_task, &s, 0), 0);
	cr_assert_eq(s.inner_tasks, 4);
	msd_pool_stop();
}

struct rounds {
	int before[MAX_TASKS];
	atomic_int wrong;
};

static int barrier_task(int task, struct msd_parallel_env *env, void *data)
{
	struct rounds *r = data;

	for (int round = 1; round <= 50; round++) {
		r->before[task] = round;
		(void)msd_pool_barrier(task, env);
		for (int i = 0; i < env->num_task; i++)
			atomic_fetch_add(&r->wrong, r->before[i] != round);
		(void)msd_pool_barrier(task, env);
	}
	return 0;
}

Test(pool, barrier_separates_rounds)
{
	struct rounds r = {0};

	msd_pool_configure(4);
	for (int i = 1; i <= 4; i++)
		cr_assert_eq(msd_pool_launch(barrier_task, &r, i), 0);
	cr_assert_eq(r.wrong, 0);
	msd_pool_stop();
}

static int fail_task(int task, struct msd_parallel_env *env, void *data)
{
	(void)env;
	return task == *(int *)data ? msd_abi_raise("E", "task %d", task) : 0;
}

Test(pool, failing_task_gives_the_caller_its_error)
{
	struct msd_diag d = {0};

	msd_pool_configure(4);
	for (int i = 0; i < 4; i++) {
		char want[32];
		(void)snprintf(want, sizeof(want), "E: task %d", i);
		cr_assert_eq(msd_pool_launch(fail_task, &i, 0), -1);
		(void)msd_abi_fetch_error(&d);
		cr_assert_str_eq(msd_diag_text(&d), want);
	}
	msd_diag_finish(&d);
	msd_pool_stop();
}

static int desert_task(int task, struct msd_parallel_env *env, void *data)
{
	(void)data;
	return task == 1 ? -1 : msd_pool_barrier(task, env);
}

Test(pool, task_that_fails_before_a_barrier_does_not_hang_the_others)
{
	struct msd_diag d = {0};

	msd_pool_configure(4);
	cr_assert_eq(msd_pool_launch(desert_task, NULL, 0), -1);
	(void)msd_abi_fetch_error(&d);
	cr_assert_str_eq(msd_diag_text(&d), "RuntimeError: parallel task 1 failed");
	msd_diag_finish(&d);
	msd_pool_stop();
}

struct offer {
	atomic_int left;
	atomic_bool is_over;
	atomic_int late;
};

static int take_all(int task, struct msd_parallel_env *env, void *data)
{
	struct offer *o = data;

	(void)task;
	(void)env;
	if (atomic_load(&o->is_over))
		atomic_fetch_add(&o->late, 1);
	while (atomic_fetch_sub(&o->left, 1) > 0)
		continue;
	return 0;
}

Test(pool, offered_tasks_do_not_begin_after_the_launch)
{
	msd_pool_configure(4);
	for (int i = 0; i < 2000; i++) {
		struct offer o = {.left = 20};

		cr_assert_eq(msd_pool_offer(take_all, &o, 4), 0);
		atomic_store(&o.is_over, true);
		cr_assert_leq(o.left, 0);
		cr_assert_eq(o.late, 0);
	}
	msd_pool_stop();
}

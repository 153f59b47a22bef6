/*
 * The pool under ThreadSanitizer: launches of every size, offers, barriers, sleepers,
 * errors, two launching threads at a time, restarts. Any report makes the exit status
 * non-zero.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/pool/pool.h"
#include "runtime/value/error.h"

#define MAX_TASKS 8

struct job {
	int before[MAX_TASKS];
	int after[MAX_TASKS];
};

static int barrier_task(int task, struct msd_parallel_env *env, void *data)
{
	struct job *j = data;
	int sum = 0;

	j->before[task] = task + 1;
	(void)msd_pool_barrier(task, env);
	for (int i = 0; i < env->num_task; i++)
		sum += j->before[i];
	(void)msd_pool_barrier(task, env);
	j->after[task] = sum;
	return sum == env->num_task * (env->num_task + 1) / 2 ? 0 : -1;
}

static int failing_task(int task, struct msd_parallel_env *env, void *data)
{
	(void)data;
	return task == env->num_task - 1 ? msd_abi_raise("E", "task %d", task) : 0;
}

struct shares {
	atomic_int next;
	int done[64];
};

static int share_task(int task, struct msd_parallel_env *env, void *data)
{
	struct shares *s = data;
	int i;

	(void)task;
	(void)env;
	if (msd_pool_size() == 0) /* also beside a launch that starts the threads */
		abort();
	while ((i = atomic_fetch_add(&s->next, 1)) < 64)
		s->done[i]++;
	return 0;
}

/* Without a lock here: the launch orders the tasks' writes before these reads. */
static void offer(int n_tasks)
{
	struct shares s = {0};

	if (msd_pool_offer(share_task, &s, n_tasks) != 0)
		abort();
	for (int i = 0; i < 64; i++) {
		if (s.done[i] != 1)
			abort();
	}
}

static void *launcher(void *arg)
{
	struct job j;

	(void)arg;
	for (int i = 0; i < 200; i++) {
		if (msd_pool_launch(barrier_task, &j, 1 + i % MAX_TASKS) != 0)
			abort();
		offer(1 + i % MAX_TASKS);
	}
	return NULL;
}

static int64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Long enough for workers to give up spinning; if they have not, nothing is lost. */
static void outlast_spinning(void)
{
	const int64_t end = now_ns() + 500000;

	while (now_ns() < end)
		;
}

int main(void)
{
	pthread_t threads[2];

	for (unsigned size = 1; size <= 4; size++) {
		msd_pool_configure(size);
		for (int i = 0; i < 2; i++) {
			if (pthread_create(&threads[i], NULL, launcher, NULL) != 0)
				abort();
		}
		for (int i = 0; i < 2; i++)
			(void)pthread_join(threads[i], NULL);
		(void)launcher(NULL);
		outlast_spinning();
		(void)launcher(NULL);
		if (msd_pool_launch(failing_task, NULL, 0) != -1)
			abort();
		msd_abi_clear();
		msd_pool_stop();
	}
	printf("pool: ok\n");
	return 0;
}

#ifndef MSD_RUNTIME_POOL_POOL_H
#define MSD_RUNTIME_POOL_POOL_H
/*
 * The thread pool that compiled code's parallel_launch runs on. One per process.
 * Threads start at the first launch, spin a little after a job, then sleep. The caller
 * is task 0's thread. A launch from inside a task runs inline as one task with num_task
 * = 1.
 */
#include <stdint.h>

/* TVMParallelGroupEnv */
struct msd_parallel_env {
	void *sync_handle;
	int32_t num_task;
};
typedef int (*msd_parallel_lambda)(int task_id, struct msd_parallel_env *env,
				   void *data);

/**
 * Threads for the pool: @n > 0, else TVM_NUM_THREADS, else the cores this process may
 * use, or its part of them. Call once before the first launch; afterwards it is
 * ignored.
 */
void msd_pool_configure(unsigned n);
/** The cores are for @n_processes alike, of which this is one. Call before
 * msd_pool_configure(). */
void msd_pool_share(unsigned n_processes);
unsigned msd_pool_size(void);
/**
 * Run @f for task ids 0 .. num_task-1 (0: one per thread; more than the pool has: cut
 * to its size) and wait. Returns 0, or -1 when any task returned non-zero; the first
 * failing task's error is then the calling thread's (runtime/value/error.h).
 */
int msd_pool_launch(msd_parallel_lambda f, void *data, int num_task);
/** Wait until all tasks of @env reached this call. All run at the same time. Returns 0.
 */
int msd_pool_barrier(int task_id, struct msd_parallel_env *env);
/** Join the threads. For tests and for leak checkers. */
void msd_pool_stop(void);

#endif

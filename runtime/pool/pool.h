#ifndef MSD_RUNTIME_POOL_POOL_H
#define MSD_RUNTIME_POOL_POOL_H
/*
 * The thread pool for compiled code's parallel_launch. One per process. Threads start
 * at the first launch, spin briefly after a job, then sleep. Task 0 runs on the
 * caller's thread. A launch from inside a task runs inline as one task with num_task
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
 * Set the number of threads: @n > 0, else TVM_NUM_THREADS, else this process's share
 * of the usable cores. Call once before the first launch; later calls are ignored.
 */
void msd_pool_configure(unsigned n);
/**
 * @n_processes processes, including this one, share the cores equally. Call before
 * msd_pool_configure().
 */
void msd_pool_share(unsigned n_processes);
unsigned msd_pool_size(void);
/**
 * Run @f for task ids 0 .. num_task-1 and wait. @num_task 0: one per thread; limited
 * to the size of the pool. Returns 0, or -1 if any task returned non-zero; the first
 * failing task's error is then the calling thread's (runtime/value/error.h).
 */
int msd_pool_launch(msd_parallel_lambda f, void *data, int num_task);
/**
 * The same for tasks that share their work: tasks that no thread has begun when task 0
 * returns may not run. So a thread that lost its core delays nothing.
 */
int msd_pool_offer(msd_parallel_lambda f, void *data, int num_task);
/**
 * Launches between these calls come in quick succession: the threads spin for longer
 * before they sleep. Any thread may call; series may overlap and nest.
 */
void msd_pool_begin_series(void);
void msd_pool_end_series(void);
/** Wait until all tasks of @env reach this call. All run at the same time. Returns 0.
 */
int msd_pool_barrier(int task_id, struct msd_parallel_env *env);
/** Join the threads. For tests and for leak checkers. */
void msd_pool_stop(void);

#endif

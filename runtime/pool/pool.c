#include "runtime/pool/pool.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "runtime/value/error.h"

/*
 * Task i of a launch runs on worker i, task 0 on the caller. All tasks of a launch
 * run at the same time, as a barrier requires. Each worker waits on its own word, so
 * a launch wakes only the workers that it uses.
 */
/* A thread spins this long for the next job before it sleeps; to wake one takes some
 * 25 us. */
#define SPIN_NS 30000u
#define SPIN_IN_SERIES_NS 1000000u
#define MAX_THREADS 512u /* more threads gain nothing and cost stacks */

struct worker {
	_Alignas(64) _Atomic uint32_t ticket; /* incremented for each job; futex */
	_Atomic bool is_asleep;
	_Atomic uint32_t
		taken; /* the last ticket that the worker or the launcher took */
	pthread_t thread;
	int task;
	bool is_woken;           /* for the last job; the launcher's */
	struct msd_error *error; /* error of the last job; the launcher takes it */
};

struct barrier {
	pthread_mutex_t lock;
	pthread_cond_t passed;
	_Atomic uint32_t arrived;
	_Atomic uint32_t finished; /* returned tasks: they will not reach the barrier */
	_Atomic uint32_t generation;
	uint32_t n;
};

static struct {
	pthread_mutex_t launch; /* held for a whole launch */
	unsigned n_sharers;     /* processes that share the cores; 0: only this one */
	unsigned configured;
	atomic_uint n_workers; /* started; plus the caller's thread */
	bool is_started;
	bool may_spin; /* each thread has a core: spinning costs no other thread */
	atomic_uint n_series; /* more jobs will come soon */
	struct worker *workers;
	atomic_bool is_stopping;
	/* the job */
	msd_parallel_lambda f;
	void *data;
	struct msd_parallel_env env;
	_Atomic uint32_t pending; /* workers that are not done; futex */
	_Atomic bool launcher_is_asleep;
	struct barrier barrier;
} pool = {
	.launch = PTHREAD_MUTEX_INITIALIZER,
	.barrier = {.lock = PTHREAD_MUTEX_INITIALIZER,
		    .passed = PTHREAD_COND_INITIALIZER},
};

static _Thread_local bool is_in_task;

static void futex_wait(_Atomic uint32_t *word, uint32_t expected)
{
	/* The callers' loops handle EAGAIN and EINTR. */
	(void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void relax_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Spin until *@word differs from @old; false if that takes too long. Within a series,
 * an idle worker spins on, but leaves its core to others that want it. */
static bool spin_until_change(_Atomic uint32_t *word, uint32_t old, bool is_worker)
{
	const uint64_t start = pool.may_spin ? msd_now_ns() : 0;
	uint64_t spun = 0;

	for (;;) {
		for (int i = 0; i < 64; i++) {
			if (atomic_load_explicit(word, memory_order_acquire) != old)
				return true;
			relax_cpu();
		}
		if (pool.may_spin)
			spun = msd_now_ns() - start;
		if (pool.may_spin && spun < SPIN_NS)
			continue;
		if (!pool.may_spin || !is_worker || spun > SPIN_IN_SERIES_NS ||
		    atomic_load(&pool.n_series) == 0)
			return false;
		(void)sched_yield();
	}
}

static uint32_t wait_for_change(_Atomic uint32_t *word, uint32_t old,
				_Atomic bool *is_asleep, bool is_worker)
{
	uint32_t now;

	if (!spin_until_change(word, old, is_worker)) {
		atomic_store(is_asleep, true);
		while (atomic_load(word) == old)
			futex_wait(word, old);
		atomic_store(is_asleep, false);
	}
	now = atomic_load_explicit(word, memory_order_acquire);
	return now;
}

/* The caller holds the lock. Release all tasks if no other task will arrive. */
static void barrier_release_if_full(struct barrier *b)
{
	if (atomic_load(&b->arrived) == 0 ||
	    atomic_load(&b->arrived) + atomic_load(&b->finished) < b->n)
		return;
	atomic_store(&b->arrived, 0);
	(void)atomic_fetch_add(&b->generation, 1);
	(void)pthread_cond_broadcast(&b->passed);
}

static int run_task(int task)
{
	struct barrier *b = &pool.barrier;

	is_in_task = true;
	int rc = pool.f(task, &pool.env, pool.data);
	is_in_task = false;
	(void)atomic_fetch_add(&b->finished, 1);
	if (atomic_load(&b->arrived) > 0) { /* other tasks must not wait for this one */
		(void)pthread_mutex_lock(&b->lock);
		barrier_release_if_full(b);
		(void)pthread_mutex_unlock(&b->lock);
	}
	return rc;
}

/* False: the other side was faster. */
static bool take(struct worker *w, uint32_t ticket)
{
	uint32_t before = ticket - 1;

	return atomic_compare_exchange_strong(&w->taken, &before, ticket);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	uint32_t seen = 0;

	for (;;) {
		seen = wait_for_change(&w->ticket, seen, &w->is_asleep, true);
		if (atomic_load(&pool.is_stopping))
			return NULL;
		if (!take(w, seen))
			continue;
		if (run_task(w->task) != 0) {
			w->error = msd_abi_detach();
			if (w->error == NULL) {
				(void)msd_abi_raise("RuntimeError",
						    "parallel task %d failed", w->task);
				w->error = msd_abi_detach();
			}
		}
		if (atomic_fetch_sub(&pool.pending, 1) == 1 &&
		    atomic_load(&pool.launcher_is_asleep))
			futex_wake(&pool.pending);
	}
}

/* This process's share of the usable cores. */
static unsigned n_cores(void)
{
	cpu_set_t cores;
	unsigned n = 1;

	if (sched_getaffinity(0, sizeof(cores), &cores) == 0 && CPU_COUNT(&cores) > 0)
		n = (unsigned)CPU_COUNT(&cores);
	n /= pool.n_sharers > 0 ? pool.n_sharers : 1;
	return n > 0 ? n : 1;
}

static unsigned default_size(void)
{
	const char *text = getenv("TVM_NUM_THREADS");
	char *end;

	if (text != NULL) {
		unsigned long n = strtoul(text, &end, 10);
		if (*text != '\0' && *end == '\0' && n > 0)
			return n < MAX_THREADS ? (unsigned)n : MAX_THREADS;
	}
	return n_cores();
}

void msd_pool_share(unsigned n_processes)
{
	(void)pthread_mutex_lock(&pool.launch);
	pool.n_sharers = n_processes;
	(void)pthread_mutex_unlock(&pool.launch);
}

void msd_pool_configure(unsigned n)
{
	(void)pthread_mutex_lock(&pool.launch);
	if (!pool.is_started)
		pool.configured = n < MAX_THREADS ? n : MAX_THREADS;
	(void)pthread_mutex_unlock(&pool.launch);
}

/* The caller holds the launch lock. */
static unsigned wanted_size(void)
{
	if (pool.configured == 0)
		pool.configured = default_size();
	return pool.is_started ? pool.n_workers + 1 : pool.configured;
}

unsigned msd_pool_size(void)
{
	if (is_in_task) /* the enclosing launch holds the lock */
		return pool.n_workers + 1;
	(void)pthread_mutex_lock(&pool.launch);
	unsigned n = wanted_size();
	(void)pthread_mutex_unlock(&pool.launch);
	return n;
}

/* Start as many workers as possible: fewer threads, or none, only make launches
 * slower. */
static void start_workers(void)
{
	const unsigned n = wanted_size() - 1;
	sigset_t all;
	sigset_t old;

	pool.is_started = true;
	pool.may_spin = n + 1 <= n_cores();
	if (n == 0)
		return;
	pool.workers = aligned_alloc(64, n * sizeof(*pool.workers));
	if (pool.workers == NULL)
		return;
	(void)sigfillset(&all); /* the main thread handles signals */
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	for (unsigned i = 0; i < n; i++) {
		struct worker *w = &pool.workers[i];
		*w = (struct worker){.task = (int)i + 1};
		if (pthread_create(&w->thread, NULL, worker_main, w) != 0)
			break;
		pool.n_workers++;
	}
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static int run_inline(msd_parallel_lambda f, void *data)
{
	struct msd_parallel_env env = {.sync_handle = NULL, .num_task = 1};
	const bool was_in_task = is_in_task;

	is_in_task = true;
	int rc = f(0, &env, data);
	is_in_task = was_in_task;
	return rc != 0 ? -1 : 0;
}

/* Take every task's error and keep the first one for the calling thread. */
static int collect_errors(int rc, unsigned n_used)
{
	struct msd_error *first = rc != 0 ? msd_abi_detach() : NULL;
	bool has_failed = rc != 0;

	for (unsigned i = 0; i < n_used; i++) {
		struct msd_error *e = pool.workers[i].error;
		pool.workers[i].error = NULL;
		if (e == NULL)
			continue;
		if (has_failed) {
			msd_abi_attach(e);
			msd_abi_clear();
		} else {
			first = e;
		}
		has_failed = true;
	}
	msd_abi_attach(first);
	return has_failed ? -1 : 0;
}

/* Take back tasks that no worker has begun. One that was woken is waited for: while the
 * launcher sleeps, the system finds each a core. */
static void withdraw(unsigned n_used)
{
	for (unsigned i = 0; i < n_used; i++) {
		struct worker *w = &pool.workers[i];

		if (!w->is_woken && take(w, atomic_load(&w->ticket)))
			(void)atomic_fetch_sub(&pool.pending, 1);
	}
}

static int launch_locked(msd_parallel_lambda f, void *data, unsigned num_task,
			 bool is_offer)
{
	const unsigned n_used = num_task - 1;
	struct barrier *b = &pool.barrier;

	pool.f = f;
	pool.data = data;
	pool.env = (struct msd_parallel_env){b, (int32_t)num_task};
	atomic_store(&b->arrived, 0);
	atomic_store(&b->finished, 0);
	b->n = num_task;
	atomic_store(&pool.pending, n_used);
	for (unsigned i = 0; i < n_used; i++) {
		struct worker *w = &pool.workers[i];
		(void)atomic_fetch_add(&w->ticket, 1);
		w->is_woken = atomic_load(&w->is_asleep);
		if (w->is_woken)
			futex_wake(&w->ticket);
	}
	int rc = run_task(0);
	if (is_offer)
		withdraw(n_used);
	for (;;) {
		uint32_t left = atomic_load(&pool.pending);
		if (left == 0)
			break;
		(void)wait_for_change(&pool.pending, left, &pool.launcher_is_asleep,
				      false);
	}
	return collect_errors(rc, n_used);
}

static int launch(msd_parallel_lambda f, void *data, int num_task, bool is_offer)
{
	unsigned n;
	int rc;

	/* A concurrent launch runs inline: one task is always correct. */
	if (is_in_task || pthread_mutex_trylock(&pool.launch) != 0)
		return run_inline(f, data);
	if (!pool.is_started)
		start_workers();
	n = pool.n_workers + 1;
	if (num_task > 0 && (unsigned)num_task < n)
		n = (unsigned)num_task;
	rc = n == 1 ? run_inline(f, data) : launch_locked(f, data, n, is_offer);
	(void)pthread_mutex_unlock(&pool.launch);
	return rc;
}

int msd_pool_launch(msd_parallel_lambda f, void *data, int num_task)
{
	return launch(f, data, num_task, false);
}

int msd_pool_offer(msd_parallel_lambda f, void *data, int num_task)
{
	return launch(f, data, num_task, true);
}

void msd_pool_begin_series(void)
{
	(void)atomic_fetch_add(&pool.n_series, 1);
}

void msd_pool_end_series(void)
{
	(void)atomic_fetch_sub(&pool.n_series, 1);
}

int msd_pool_barrier(int task_id, struct msd_parallel_env *env)
{
	struct barrier *b = env->sync_handle;
	uint32_t generation;

	(void)task_id;
	if (b == NULL || env->num_task <= 1)
		return 0;
	(void)pthread_mutex_lock(&b->lock);
	generation = atomic_load(&b->generation);
	(void)atomic_fetch_add(&b->arrived, 1);
	barrier_release_if_full(b);
	(void)pthread_mutex_unlock(&b->lock);
	if (spin_until_change(&b->generation, generation, false))
		return 0;
	(void)pthread_mutex_lock(&b->lock);
	while (atomic_load(&b->generation) == generation)
		(void)pthread_cond_wait(&b->passed, &b->lock);
	(void)pthread_mutex_unlock(&b->lock);
	return 0;
}

void msd_pool_stop(void)
{
	(void)pthread_mutex_lock(&pool.launch);
	atomic_store(&pool.is_stopping, true);
	for (unsigned i = 0; i < pool.n_workers; i++) {
		(void)atomic_fetch_add(&pool.workers[i].ticket, 1);
		futex_wake(&pool.workers[i].ticket);
	}
	for (unsigned i = 0; i < pool.n_workers; i++)
		(void)pthread_join(pool.workers[i].thread, NULL);
	free(pool.workers);
	pool.workers = NULL;
	pool.n_workers = 0;
	pool.configured = 0;
	pool.is_started = false;
	atomic_store(&pool.is_stopping, false);
	(void)pthread_mutex_unlock(&pool.launch);
}

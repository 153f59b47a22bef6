/* Parts of a kernel on the threads of the pool: no thread is woken for little work. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdint.h>

#include "runtime/kernel/kernel.h"
#include "runtime/pool/pool.h"

#define MOST 64

/* By part: the thread that ran it. */
struct ran {
	pthread_t by[MOST];
	int n[MOST];
};

static void part(const void *ctx, size_t i)
{
	struct ran *r = (struct ran *)(uintptr_t)ctx;

	r->by[i] = pthread_self();
	r->n[i]++;
}

static size_t on_other_threads(size_t n, size_t part_ns)
{
	struct ran r = {.n = {0}};
	size_t others = 0;

	msd_kernel_each(n, part_ns, part, &r);
	for (size_t i = 0; i < n; i++) {
		cr_expect_eq(r.n[i], 1, "part %zu ran %d times", i, r.n[i]);
		others += !pthread_equal(r.by[i], pthread_self());
	}
	return others;
}

Test(each, little_work_stays_on_the_callers_thread)
{
	msd_pool_configure(2);
	cr_expect_eq(on_other_threads(MOST, 2 * MSD_KERNEL_GRAIN_NS / MOST - 1), 0);
	cr_expect_eq(on_other_threads(1, SIZE_MAX), 0);
	cr_expect_eq(on_other_threads(0, SIZE_MAX), 0);
	cr_expect_eq(on_other_threads(MOST, 0), 0);
	msd_pool_stop();
}

Test(each, enough_work_is_shared)
{
	msd_pool_configure(2);
	cr_expect_eq(on_other_threads(2, MSD_KERNEL_GRAIN_NS), 1);
	cr_expect_eq(on_other_threads(MOST, SIZE_MAX), MOST / 2);
	msd_pool_stop();
}

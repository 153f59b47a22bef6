#include <criterion/criterion.h>
#include <string.h>

#include "runtime/value/storage_pool.h"
#include "runtime/value/value.h"

#define MIB ((size_t)1024 * 1024)

static struct msd_storage *take(struct msd_storage_pool *p, size_t bytes)
{
	struct msd_storage *s = msd_storage_pool_allocate(p, bytes);

	cr_assert_not_null(s);
	return s;
}

static void drop(struct msd_storage *s)
{
	msd_obj_unref(&s->obj);
}

Test(storage_pool, a_dropped_block_is_taken_again)
{
	struct msd_storage_pool *p = msd_storage_pool_create();
	struct msd_storage *s = take(p, 1000);
	void *data = s->data;

	drop(s);
	s = take(p, 990); /* of the same class */
	cr_assert_eq(s->data, data);
	cr_assert_eq(s->bytes, 990);
	drop(s);
	msd_storage_pool_close(p);
}

Test(storage_pool, every_size_is_aligned_and_all_of_it_usable)
{
	struct msd_storage_pool *p = msd_storage_pool_create();

	for (size_t bytes = 0; bytes < 5000; bytes += 7) {
		struct msd_storage *s = take(p, bytes);

		cr_assert_eq((uintptr_t)s->data % 128, 0);
		memset(s->data, 0xa5, bytes);
		drop(s);
	}
	msd_storage_pool_close(p);
}

Test(storage_pool, blocks_in_use_are_distinct)
{
	struct msd_storage_pool *p = msd_storage_pool_create();
	struct msd_storage *a = take(p, 256);
	struct msd_storage *b = take(p, 256);

	cr_assert_neq(a->data, b->data);
	drop(a);
	drop(b);
	msd_storage_pool_close(p);
}

Test(storage_pool, a_storage_outlives_its_pool)
{
	struct msd_storage_pool *p = msd_storage_pool_create();
	struct msd_storage *a = take(p, 4096);
	struct msd_storage *b = take(p, 4096);

	msd_storage_pool_close(p);
	memset(a->data, 1, 4096);
	memset(b->data, 2, 4096);
	cr_expect_eq(((const uint8_t *)a->data)[4095], 1);
	drop(a);
	cr_expect_eq(((const uint8_t *)b->data)[4095], 2);
	drop(b); /* and takes the pool with it: the leak checker says if not */
}

Test(storage_pool, what_waits_is_bounded_by_twice_the_peak)
{
	struct msd_storage_pool *p = msd_storage_pool_create();

	/* Ever other sizes, one at a time: the peak is the last one. */
	for (size_t mib = 1; mib <= 40; mib++) {
		drop(take(p, mib * MIB));
		cr_assert_leq(msd_storage_pool_idle(p),
			      2 * mib * MIB * 5 / 4 + MSD_POOL_FLOOR_BYTES);
	}
	msd_storage_pool_close(p);
}

Test(storage_pool, impossible_sizes_are_refused)
{
	struct msd_storage_pool *p = msd_storage_pool_create();

	cr_assert_null(msd_storage_pool_allocate(p, SIZE_MAX));
	cr_assert_null(msd_storage_pool_allocate(p, SIZE_MAX / 4));
	cr_assert_null(msd_storage_pool_allocate(p, (size_t)1 << 61));
	msd_storage_pool_close(p);
}

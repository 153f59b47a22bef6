#include <criterion/criterion.h>
#include <string.h>

#include "daemon/worker/calls/outpool.h"
#include "tests/support/fail_alloc.h"

static bool is_zero(const struct msd_slot *s, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++) {
		if (s->p[i] != 0)
			return false;
	}
	return true;
}

static void alloc(struct msd_outpool *p, uint64_t bytes, struct msd_slot *ret)
{
	cr_assert_eq(msd_outpool_alloc(p, bytes, MSD_OUT_ZEROS, ret, NULL), MSD_OK);
}

Test(outpool, slot_that_is_used_again_is_zero)
{
	const uint64_t sizes[] = {1, 4096, 100000};
	struct msd_outpool p;
	struct msd_slot s;

	msd_outpool_init(&p, 16 << 20, NULL, NULL);
	for (int i = 0; i < 3; i++) {
		for (int again = 0; again < 2; again++) {
			alloc(&p, sizes[i], &s);
			cr_assert(is_zero(&s, sizes[i]));
			memset(s.p, 0xff, sizes[i]);
			cr_assert(msd_outpool_free(&p, s.segment, s.offset));
		}
	}
	msd_outpool_finish(&p);
}

static void alloc_filled(struct msd_outpool *p, uint64_t bytes, struct msd_slot *ret)
{
	cr_assert_eq(msd_outpool_alloc(p, bytes, MSD_OUT_FILLED, ret, NULL), MSD_OK);
	memset(ret->p, 0xff, bytes);
}

Test(outpool, slot_that_its_user_fills_is_not_cleared_for_it)
{
	struct msd_outpool p;
	struct msd_slot s;

	msd_outpool_init(&p, 16 << 20, NULL, NULL);
	alloc_filled(&p, 4096, &s);
	cr_assert(msd_outpool_free(&p, s.segment, s.offset));
	cr_assert_eq(msd_outpool_alloc(&p, 4096, MSD_OUT_FILLED, &s, NULL), MSD_OK);
	cr_assert_eq(s.p[0], 0xff);
	msd_outpool_finish(&p);
}

Test(outpool, nothing_of_a_filled_slot_is_left_where_zeros_are_wanted)
{
	struct msd_outpool p;
	struct msd_slot s;

	msd_outpool_init(&p, 16 << 20, NULL, NULL);
	alloc_filled(&p, 120, &s);
	cr_assert(msd_outpool_free(&p, s.segment, s.offset));
	alloc_filled(&p, 70, &s); /* in the same slot: behind its end are older bytes */
	cr_assert(msd_outpool_free(&p, s.segment, s.offset));
	alloc(&p, 120, &s);
	cr_assert(is_zero(&s, 120));
	msd_outpool_finish(&p);
}

Test(outpool, many_small_slots_do_not_wait_to_be_cleared)
{
	struct msd_slot s[200];
	struct msd_outpool p;

	msd_outpool_init(&p, 16 << 20, NULL, NULL);
	for (int i = 0; i < 200; i++)
		alloc_filled(&p, 64, &s[i]);
	for (int i = 0; i < 200; i++)
		cr_assert(msd_outpool_free(&p, s[i].segment, s[i].offset));
	cr_assert_leq(p.n_dirty, 64);
	while (msd_outpool_clean(&p))
		continue;
	cr_assert_eq(p.n_dirty, 0);
	msd_outpool_finish(&p);
}

Test(outpool, half_cleaned_slot_that_is_used_again_is_zero)
{
	const uint64_t bytes = 3 << 20;
	struct msd_outpool p;
	struct msd_slot s;

	msd_outpool_init(&p, 16 << 20, NULL, NULL);
	alloc(&p, bytes, &s);
	memset(s.p, 0xff, bytes);
	cr_assert(msd_outpool_free(&p, s.segment, s.offset));
	cr_assert(msd_outpool_clean(&p), "more than one step");
	alloc(&p, bytes, &s);
	cr_assert(is_zero(&s, bytes));
	msd_outpool_finish(&p);
}

Test(outpool, cleaned_memory_is_zero_for_slots_of_other_sizes)
{
	struct msd_outpool p;
	struct msd_slot s;

	msd_outpool_init(&p, 16 << 20, NULL, NULL);
	alloc(&p, 300000, &s);
	memset(s.p, 0xff, 300000);
	cr_assert(msd_outpool_free(&p, s.segment, s.offset));
	while (msd_outpool_clean(&p))
		continue;
	alloc(&p, 200000, &s);
	cr_assert(is_zero(&s, 200000));
	msd_outpool_finish(&p);
}

Test(outpool, released_memory_is_taken_before_the_limit_is_reached)
{
	struct msd_outpool p;
	struct msd_slot s;

	msd_outpool_init(&p, 1 << 20, NULL, NULL);
	alloc(&p, 600000, &s);
	memset(s.p, 0xff, 600000);
	cr_assert(msd_outpool_free(&p, s.segment, s.offset));
	alloc(&p, 700000, &s);
	cr_assert(is_zero(&s, 700000));
	msd_outpool_finish(&p);
}

Test(outpool, over_the_limit_says_the_sizes)
{
	struct msd_outpool p;
	struct msd_slot s;
	struct msd_diag d = {0};

	msd_outpool_init(&p, 1 << 20, NULL, NULL);
	cr_assert_eq(msd_outpool_alloc(&p, 2 << 20, MSD_OUT_ZEROS, &s, &d),
		     MSD_NO_SPACE);
	cr_assert_not_null(strstr(msd_diag_text(&d), "2097152"));
	msd_diag_finish(&d);
	msd_outpool_finish(&p);
}

Test(outpool, slot_cannot_be_freed_twice)
{
	struct msd_outpool p;
	struct msd_slot s;

	msd_outpool_init(&p, 1 << 20, NULL, NULL);
	alloc(&p, 100000, &s);
	cr_assert(msd_outpool_free(&p, s.segment, s.offset));
	cr_assert_not(msd_outpool_free(&p, s.segment, s.offset));
	msd_outpool_finish(&p);
}

Test(outpool, memory_that_was_given_back_is_zero_and_there_again)
{
	const uint64_t bytes = MSD_OUTPOOL_KEEP_BYTES + (1u << 20);
	struct msd_outpool p;
	struct msd_slot s;

	msd_outpool_init(&p, 2 * bytes, NULL, NULL);
	alloc(&p, bytes, &s);
	s.p[0] = s.p[bytes - 1] = 0xff;
	cr_assert(msd_outpool_free(&p, s.segment, s.offset));
	while (msd_outpool_clean(&p))
		continue;
	msd_outpool_trim(&p);
	alloc(&p, bytes, &s);
	cr_assert(s.p[0] == 0 && s.p[bytes - 1] == 0);
	msd_outpool_finish(&p);
}

Test(outpool, every_failing_allocation_leaves_a_pool_that_works)
{
	struct msd_outpool p;
	struct msd_slot s;
	bool failed = true;

	for (long k = 0; failed; k++) {
		msd_outpool_init(&p, 16 << 20, NULL, NULL);
		msd_fail_alloc(k);
		msd_err err = msd_outpool_alloc(&p, 1000, MSD_OUT_ZEROS, &s, NULL);
		failed = msd_fail_alloc_stop();
		cr_assert_eq(err, failed ? MSD_NOMEM : MSD_OK);
		alloc(&p, 1000, &s);
		msd_outpool_finish(&p);
	}
}

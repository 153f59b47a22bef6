#include <criterion/criterion.h>

#include "proto/base/spin.h"

#define US UINT64_C(1000)
#define TWO 2000u

static uint64_t now;

static struct msd_spin spin_of(uint64_t most_ns, uint64_t millis)
{
	struct msd_spin s;

	now = 1000 * US;
	msd_spin_init(&s, most_ns, millis);
	return s;
}

/* A wait of @ns, with a look each microsecond while it looks. Returns how many looks
 * that were. */
static unsigned wait_for(struct msd_spin *s, uint64_t ns)
{
	const uint64_t end = now + ns;
	unsigned looks = 0;

	if (msd_spin_begin(s, now) > 0) {
		do {
			looks++;
			now += US;
		} while (now < end && msd_spin_goes_on(s, now));
	}
	now = end;
	msd_spin_end(s, now);
	return looks;
}

static void make_look(struct msd_spin *s)
{
	for (unsigned i = 0; i < MSD_SPIN_RUN; i++)
		cr_assert_eq(wait_for(s, 60 * US), 0, "not before it has paid");
}

Test(spin, looks_when_the_last_waits_were_short)
{
	struct msd_spin s = spin_of(MSD_SPIN_MOST_NS, TWO);

	make_look(&s);
	for (unsigned i = 1; i <= 100; i++) {
		cr_assert_eq(wait_for(&s, 5 * US), 5);
		cr_assert_eq(s.count.hits, i);
	}
	cr_expect_eq(s.count.misses, 0);
	cr_expect_eq(s.count.waste_ns, 0);
}

Test(spin, never_looks_with_less_than_two_processors)
{
	static const uint64_t millis[] = {0, 500, 1000, 1999};

	for (unsigned i = 0; i < sizeof(millis) / sizeof(millis[0]); i++) {
		struct msd_spin s = spin_of(MSD_SPIN_MOST_NS, millis[i]);

		cr_expect_not(msd_spin_is_on(&s));
		for (unsigned n = 0; n < 100; n++)
			cr_assert_eq(wait_for(&s, US), 0);
	}
}

Test(spin, never_looks_when_nobody_wants_it)
{
	struct msd_spin off = spin_of(0, TWO), zero = {.looks = 0};

	cr_expect_not(msd_spin_is_on(&off));
	cr_expect_not(msd_spin_is_on(&zero));
}

Test(spin, never_looks_longer_than_the_most)
{
	struct msd_spin s = spin_of(1000 * MSD_SPIN_MOST_NS, TWO);

	make_look(&s);
	cr_expect_eq(msd_spin_begin(&s, now), MSD_SPIN_MOST_NS);
	cr_expect(msd_spin_goes_on(&s, now + MSD_SPIN_MOST_NS - 1));
	cr_expect_not(msd_spin_goes_on(&s, now + MSD_SPIN_MOST_NS));
	cr_expect_eq(s.count.misses, 1);
	cr_expect_eq(s.count.waste_ns, MSD_SPIN_MOST_NS);
}

Test(spin, a_shorter_most_is_kept)
{
	struct msd_spin s = spin_of(10 * US, TWO);

	for (unsigned i = 0; i < MSD_SPIN_RUN; i++)
		(void)wait_for(&s, 20 * US);
	cr_expect_eq(wait_for(&s, 20 * US), 10);
}

Test(spin, stops_though_no_time_passes)
{
	struct msd_spin s = spin_of(MSD_SPIN_MOST_NS, TWO);
	unsigned looks = 1;

	make_look(&s);
	cr_assert_gt(msd_spin_begin(&s, now), 0);
	while (msd_spin_goes_on(&s, now) && looks <= MSD_SPIN_LOOKS)
		looks++;
	cr_expect_eq(looks, MSD_SPIN_LOOKS);
	cr_expect_not(msd_spin_goes_on(&s, now), "it sleeps");
	cr_expect_eq(s.count.misses, 1);
}

Test(spin, a_clock_that_goes_back_is_no_long_wait)
{
	struct msd_spin s = spin_of(MSD_SPIN_MOST_NS, TWO);

	make_look(&s);
	cr_assert_gt(msd_spin_begin(&s, now), 0);
	cr_expect(msd_spin_goes_on(&s, now - 500 * US));
	msd_spin_end(&s, now - 500 * US);
	cr_expect_eq(s.count.hits, 1);
}

Test(spin, an_idle_or_slow_other_side_is_never_looked_for)
{
	struct msd_spin s = spin_of(MSD_SPIN_MOST_NS, TWO);

	for (unsigned i = 0; i < 100000; i++)
		cr_assert_eq(wait_for(&s, MSD_SPIN_SHORT * MSD_SPIN_MOST_NS + US), 0);
}

Test(spin, one_long_wait_ends_it)
{
	struct msd_spin s = spin_of(MSD_SPIN_MOST_NS, TWO);

	make_look(&s);
	cr_expect_eq(wait_for(&s, 5 * US), 5);
	cr_expect_eq(wait_for(&s, 1000000 * US), MSD_SPIN_MOST_NS / US);
	for (unsigned i = 0; i < 1000; i++)
		cr_assert_eq(wait_for(&s, 1000000 * US), 0);
	cr_expect_eq(s.count.misses, 1);
}

/* Waits that look as if it paid, and never do. */
Test(spin, rests_longer_each_time_that_it_was_in_vain)
{
	struct msd_spin s = spin_of(MSD_SPIN_MOST_NS, TWO);
	uint64_t rest = MSD_SPIN_REST_LEAST;

	make_look(&s);
	for (unsigned miss = 0; miss < 20; miss++) {
		cr_assert_gt(wait_for(&s, 100 * US), 0);
		cr_assert_eq(s.count.misses, miss + 1);
		/* The wait that was looked in vain is the first of the rest. */
		for (uint64_t i = 1; i < rest; i++)
			cr_assert_eq(wait_for(&s, 100 * US), 0, "%u", miss);
		rest = rest < MSD_SPIN_REST_MOST ? 2 * rest : rest;
	}
	cr_expect_eq(s.count.hits, 0);
}

/* So the processor that is wasted is a twentieth of a thousandth of the time in the
 * end. */
Test(spin, what_is_wasted_is_bounded)
{
	struct msd_spin s = spin_of(MSD_SPIN_MOST_NS, TWO);
	const unsigned n = 100000;
	unsigned looks = 0;

	for (unsigned i = 0; i < n; i++)
		looks += wait_for(&s, 100 * US);
	cr_expect_leq(s.count.misses, 10 + n / MSD_SPIN_REST_MOST);
	cr_expect_leq(looks, s.count.misses * MSD_SPIN_LOOKS);
	cr_expect_eq(s.count.waste_ns, s.count.misses * MSD_SPIN_MOST_NS);
}

Test(spin, is_tried_again_and_goes_on_when_it_pays)
{
	struct msd_spin s = spin_of(MSD_SPIN_MOST_NS, TWO);

	for (unsigned i = 0; i < 10 * MSD_SPIN_REST_MOST; i++)
		(void)wait_for(&s, 100 * US);
	for (unsigned i = 0; i < MSD_SPIN_REST_MOST; i++)
		(void)wait_for(&s, 5 * US);
	cr_assert_gt(s.count.hits, 0);
	const uint64_t hits = s.count.hits;
	for (unsigned i = 0; i < 1000; i++)
		cr_assert_gt(wait_for(&s, 5 * US), 0);
	cr_expect_eq(s.count.hits, hits + 1000);
}

Test(spin, hits_in_a_row_make_the_next_rest_short_again)
{
	struct msd_spin s = spin_of(MSD_SPIN_MOST_NS, TWO);
	unsigned slept = 0;

	for (unsigned i = 0; i < 10 * MSD_SPIN_REST_MOST; i++)
		(void)wait_for(&s, 100 * US);
	while (wait_for(&s, 5 * US) == 0)
		cr_assert_lt(++slept, 2 * MSD_SPIN_REST_MOST);
	for (unsigned i = 0; i < 10 * MSD_SPIN_GOOD; i++)
		(void)wait_for(&s, 5 * US);
	(void)wait_for(&s, 100 * US);
	for (slept = 1; wait_for(&s, 5 * US) == 0; slept++)
		;
	cr_expect_eq(slept, MSD_SPIN_REST_LEAST);
}

Test(spin, an_end_without_a_wait_is_nothing)
{
	struct msd_spin s = spin_of(MSD_SPIN_MOST_NS, TWO);

	for (unsigned i = 0; i < 100; i++)
		msd_spin_end(&s, now);
	cr_expect_eq(msd_spin_begin(&s, now), 0, "none was short");
}

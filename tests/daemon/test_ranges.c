#include <criterion/criterion.h>
#include <stdlib.h>

#include "daemon/segments/ranges.h"

#define N 2000u

/* The same numbers in each run, and in the eyes of the tree as good as any. */
static uint64_t chance(void)
{
	static uint64_t state = 42;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return state ^ state >> 29;
}

static unsigned depth(const struct msd_range *r)
{
	if (r == NULL)
		return 0;
	const unsigned before = depth(r->before), after = depth(r->after);
	return 1 + (before > after ? before : after);
}

static bool add(struct msd_ranges *s, struct msd_range *r, uint64_t at, uint64_t bytes)
{
	*r = (struct msd_range){.at = at, .bytes = bytes};
	return msd_ranges_add(s, r, chance());
}

Test(ranges, that_overlap_are_refused)
{
	static const struct {
		uint64_t at, bytes;
		bool fits;
	} cases[] = {
		{100, 10, false}, {100, 0, false},  {109, 0, false}, {109, 1, false},
		{0, 101, false},  {0, 1000, false}, {105, 2, false}, {0, 100, true},
		{110, 5, true},   {110, 0, true},   {99, 0, true},   {99, 1, true},
		{98, 3, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct msd_ranges s = {0};
		struct msd_range first, second;
		cr_assert(add(&s, &first, 100, 10));
		cr_expect_eq(add(&s, &second, cases[i].at, cases[i].bytes),
			     cases[i].fits, "%zu", i);
	}
}

Test(ranges, of_no_bytes_take_the_place_of_one)
{
	struct msd_ranges s = {0};
	struct msd_range first, second, third;

	cr_expect(add(&s, &first, 128, 0));
	cr_expect_not(add(&s, &second, 128, 0));
	cr_expect_not(add(&s, &second, 0, 129));
	cr_expect(add(&s, &third, 129, 0));
}

Test(ranges, agree_with_a_table_after_each_step)
{
	static struct msd_range ranges[N];
	static uint8_t used[N * 4];
	static uint64_t lengths[N];
	struct msd_ranges s = {0};

	for (unsigned step = 0; step < 50 * N; step++) {
		const uint64_t i = chance() % N, at = chance() % (N * 4 - 8);
		const uint64_t bytes = 1 + chance() % 8;
		bool fits = true;
		if (lengths[i] > 0) {
			msd_ranges_remove(&s, &ranges[i]);
			for (uint64_t k = 0; k < lengths[i]; k++)
				used[ranges[i].at + k] = 0;
			lengths[i] = 0;
			continue;
		}
		for (uint64_t k = 0; k < bytes; k++)
			fits = fits && used[at + k] == 0;
		cr_assert_eq(add(&s, &ranges[i], at, bytes), fits, "step %u", step);
		lengths[i] = fits ? bytes : 0;
		for (uint64_t k = 0; fits && k < bytes; k++)
			used[at + k] = 1;
	}
	for (unsigned i = 0; i < N; i++) {
		if (lengths[i] > 0)
			msd_ranges_remove(&s, &ranges[i]);
	}
	cr_expect_null(s.root);
}

Test(ranges, in_any_order_make_no_deep_tree)
{
	static struct msd_range ranges[N];
	struct msd_ranges s = {0};

	for (unsigned i = 0; i < N; i++)
		cr_assert(add(&s, &ranges[i], 128 * i, 128));
	cr_expect_lt(depth(s.root), 50);
}

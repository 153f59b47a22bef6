#include <criterion/criterion.h>
#include <stdlib.h>

#include "daemon/segments/block.h"
#include "tests/support/fail_alloc.h"

#define UNIT 128u
#define N 4000u

static unsigned number(unsigned below)
{
	static uint64_t state = 42;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % below;
}

static unsigned depth(const struct msd_block *b)
{
	if (b == NULL)
		return 0;
	const unsigned before = depth(b->before), after = depth(b->after);
	return 1 + (before > after ? before : after);
}

/* What fits says, by a walk. */
static const struct msd_block *first_fit(const struct msd_blocks *s, uint64_t bytes)
{
	const struct msd_block *b = s->first;

	while (b != NULL && (b->is_live || b->bytes < bytes))
		b = b->next;
	return b;
}

/* They cover it, and no two free ones are neighbours; each live one is found. */
static void expect_whole(const struct msd_blocks *s, uint64_t bytes)
{
	uint64_t at = 0;

	for (const struct msd_block *b = s->first; b != NULL; b = b->next) {
		cr_assert_eq(b->offset, at);
		cr_assert(b->is_live || b->next == NULL || b->next->is_live);
		cr_assert_eq(msd_blocks_live_at(s, at), b->is_live ? b : NULL);
		cr_assert_null(msd_blocks_live_at(s, at + 1));
		at += b->bytes;
	}
	cr_assert_eq(at, bytes);
}

/* One less or one more, where that can be. */
static void change_size(struct msd_blocks *s, struct msd_block *b)
{
	const uint64_t bytes = b->bytes;

	if (number(2) == 0 && bytes > UNIT) {
		cr_assert(msd_block_cut(s, b, bytes - UNIT));
		cr_assert_eq(b->bytes, bytes - UNIT);
	} else {
		const bool has_room = b->next != NULL && !b->next->is_live;
		cr_assert_eq(msd_block_widen(s, b, bytes + UNIT), has_room);
		cr_assert_eq(b->bytes, has_room ? bytes + UNIT : bytes);
	}
}

Test(block, the_first_that_is_large_enough_is_found_after_each_step)
{
	static struct msd_block *live[N];
	struct msd_blocks s;
	unsigned n = 0;

	cr_assert(msd_blocks_init(&s, N * UNIT));
	for (unsigned step = 0; step < 20000; step++) {
		const uint64_t bytes = (1 + number(4)) * UNIT;
		struct msd_block *b = msd_blocks_fit(&s, bytes);
		cr_assert_eq(b, first_fit(&s, bytes), "step %u", step);
		if (b != NULL && number(step / 5000 % 2 == 0 ? 4 : 2) != 0) {
			cr_assert(msd_block_claim(&s, b, bytes));
			live[n++] = b;
		} else if (n > 0) {
			const unsigned i = number(n);
			msd_block_free(&s, live[i]);
			live[i] = live[--n];
		}
		if (n > 0)
			change_size(&s, live[number(n)]);
		if (step % 500 == 0)
			expect_whole(&s, N * UNIT);
	}
	while (n > 0)
		msd_block_free(&s, live[--n]);
	expect_whole(&s, N * UNIT);
	cr_expect_null(s.first->next, "all are one");
	msd_blocks_finish(&s);
}

/* None of them costs a walk over the others, in whatever order they come and go. */
Test(block, many_are_in_a_flat_tree)
{
	struct msd_blocks s;
	struct msd_block *b;

	cr_assert(msd_blocks_init(&s, N * UNIT));
	for (unsigned i = 0; i < N; i++) {
		b = msd_blocks_fit(&s, UNIT);
		cr_assert_not_null(b);
		cr_assert(msd_block_claim(&s, b, UNIT));
	}
	cr_expect_null(msd_blocks_fit(&s, UNIT));
	cr_expect_lt(depth(s.root), 60);
	for (b = s.first; b != NULL; b = b->next != NULL ? b->next->next : NULL)
		msd_block_free(&s, b);
	cr_expect_lt(depth(s.root), 60);
	cr_expect_null(msd_blocks_fit(&s, 2 * UNIT));
	msd_blocks_finish(&s);
}

Test(block, nothing_changes_without_memory)
{
	struct msd_blocks s;

	cr_assert(msd_blocks_init(&s, 4 * UNIT));
	msd_fail_alloc(0);
	const bool is_claimed = msd_block_claim(&s, s.first, UNIT);
	cr_assert(msd_fail_alloc_stop());
	cr_expect_not(is_claimed);
	expect_whole(&s, 4 * UNIT);
	cr_expect_eq(msd_blocks_fit(&s, 4 * UNIT), s.first);
	cr_assert(msd_block_claim(&s, s.first, 4 * UNIT));
	msd_fail_alloc(0);
	const bool is_cut = msd_block_cut(&s, s.first, UNIT);
	cr_assert(msd_fail_alloc_stop());
	cr_expect_not(is_cut);
	expect_whole(&s, 4 * UNIT);
	msd_blocks_finish(&s);
}

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "daemon/worker/calls/arena.h"

Test(arena, pieces_are_zero_aligned_and_do_not_move)
{
	struct msd_arena a = {0};
	uint8_t *pieces[200];

	for (size_t round = 0; round < 2; round++) {
		for (size_t i = 0; i < 200; i++) {
			pieces[i] = msd_arena_alloc(&a, i * 7);
			cr_assert_eq((uintptr_t)pieces[i] % 16, 0);
			for (size_t k = 0; k < i * 7; k++)
				cr_assert_eq(pieces[i][k], 0);
			memset(pieces[i], (int)i, i * 7);
		}
		for (size_t i = 1; i < 200; i++)
			cr_assert_eq(pieces[i][i * 7 - 1], i);
		msd_arena_reset(&a);
	}
	msd_arena_finish(&a);
}

Test(arena, impossible_size_is_refused)
{
	struct msd_arena a = {0};

	cr_assert_null(msd_arena_alloc(&a, SIZE_MAX));
	cr_assert_null(msd_arena_alloc(&a, SIZE_MAX - 16));
	msd_arena_finish(&a);
}

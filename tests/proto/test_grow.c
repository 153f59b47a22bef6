#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>

#include "proto/base/grow.h"
#include "tests/support/fail_alloc.h"

Test(grow, keeps_the_elements)
{
	uint32_t *list = NULL;

	for (size_t i = 0; i < 1000; i++) {
		cr_assert(msd_grow(&list, i, sizeof(*list)));
		list[i] = (uint32_t)i;
	}
	for (size_t i = 0; i < 1000; i++)
		cr_assert_eq(list[i], i);
	free(list);
}

Test(grow, leaves_the_array_when_memory_is_short)
{
	char *list = NULL;
	char *same;

	cr_assert(msd_grow(&list, 0, 1));
	same = list;
	msd_fail_alloc(0);
	cr_expect_not(msd_grow(&list, 1, 1));
	cr_expect(msd_fail_alloc_stop());
	cr_expect_not(msd_grow(&list, SIZE_MAX / 2 + 1, 1));
	cr_expect_not(msd_grow(&list, (size_t)1 << 40, (size_t)1 << 40));
	cr_expect_eq(list, same);
	free(list);
}

Test(grow, reserves_once_for_what_has_room)
{
	uint64_t *list = NULL;
	size_t cap = 0;

	cr_assert(msd_reserve(&list, &cap, 9, sizeof(*list)));
	cr_expect_eq(cap, 16);
	msd_fail_alloc(0);
	cr_expect(msd_reserve(&list, &cap, 16, sizeof(*list)));
	cr_expect_not(msd_reserve(&list, &cap, 17, sizeof(*list)));
	(void)msd_fail_alloc_stop();
	cr_expect_eq(cap, 16);
	cr_expect_not(msd_reserve(&list, &cap, SIZE_MAX, sizeof(*list)));
	free(list);
}

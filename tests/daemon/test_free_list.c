#include <criterion/criterion.h>

#include "daemon/loop/free_list.h"

#ifdef __SANITIZE_ADDRESS__
Test(spare, keeps_none_where_stale_ones_are_looked_for)
{
	const struct msd_free_list s = {0};

	cr_assert_not(msd_free_list_has_room(&s));
}
#else
Test(spare, has_room_for_so_many)
{
	struct msd_list links[MSD_FREE_LIST_MAX];
	struct msd_free_list s = {0};

	for (unsigned i = 0; i < MSD_FREE_LIST_MAX; i++) {
		cr_assert(msd_free_list_has_room(&s), "%u", i);
		msd_list_init(&links[i]);
		msd_free_list_push(&s, &links[i]);
	}
	cr_assert_not(msd_free_list_has_room(&s));
	(void)msd_free_list_pop(&s);
	cr_assert(msd_free_list_has_room(&s));
}
#endif

Test(spare, gives_back_the_last_first_and_then_none)
{
	struct msd_list a, b;
	struct msd_free_list s = {0};

	msd_list_init(&a);
	msd_list_init(&b);
	msd_free_list_push(&s, &a);
	msd_free_list_push(&s, &b);
	cr_assert_eq(msd_free_list_pop(&s), &b);
	cr_assert_eq(msd_free_list_pop(&s), &a);
	cr_assert_null(msd_free_list_pop(&s));
}

Test(spare, what_is_given_back_is_in_no_list)
{
	struct msd_list a, b;
	struct msd_free_list s = {0};

	msd_list_init(&a);
	msd_list_init(&b);
	msd_free_list_push(&s, &a);
	msd_free_list_push(&s, &b);
	cr_assert(msd_list_is_empty(msd_free_list_pop(&s)));
	cr_assert(msd_list_is_empty(msd_free_list_pop(&s)));
}

#include <criterion/criterion.h>

#include "daemon/wire/spare.h"

#ifdef __SANITIZE_ADDRESS__
Test(spare, keeps_none_where_stale_ones_are_looked_for)
{
	const struct msd_spare s = {0};

	cr_assert_not(msd_spare_has_room(&s));
}
#else
Test(spare, has_room_for_so_many)
{
	struct msd_list links[MSD_SPARE_MAX];
	struct msd_spare s = {0};

	for (unsigned i = 0; i < MSD_SPARE_MAX; i++) {
		cr_assert(msd_spare_has_room(&s), "%u", i);
		msd_list_init(&links[i]);
		msd_spare_keep(&s, &links[i]);
	}
	cr_assert_not(msd_spare_has_room(&s));
	(void)msd_spare_take(&s);
	cr_assert(msd_spare_has_room(&s));
}
#endif

Test(spare, gives_back_the_last_first_and_then_none)
{
	struct msd_list a, b;
	struct msd_spare s = {0};

	msd_list_init(&a);
	msd_list_init(&b);
	msd_spare_keep(&s, &a);
	msd_spare_keep(&s, &b);
	cr_assert_eq(msd_spare_take(&s), &b);
	cr_assert_eq(msd_spare_take(&s), &a);
	cr_assert_null(msd_spare_take(&s));
}

Test(spare, what_is_given_back_is_in_no_list)
{
	struct msd_list a, b;
	struct msd_spare s = {0};

	msd_list_init(&a);
	msd_list_init(&b);
	msd_spare_keep(&s, &a);
	msd_spare_keep(&s, &b);
	cr_assert(msd_list_is_empty(msd_spare_take(&s)));
	cr_assert(msd_list_is_empty(msd_spare_take(&s)));
}

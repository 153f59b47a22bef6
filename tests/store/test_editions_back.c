/* Back to an edition that there was before. */
#include <criterion/criterion.h>

#include "tests/store/editions_rig.h"

Test(editions_back, going_back_exchanges_the_current_and_the_previous_one)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	make_good(&r, 2);
	cr_assert_eq(msd_record_back(&r, NULL), MSD_OK);
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 2);
	msd_record_good(&r);
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 1);
	cr_assert_eq(seed_of(&r, MSD_REF_PREVIOUS), 2);
	msd_record_finish(&r);
}

Test(editions_back, going_back_to_what_fails_changes_nothing)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	make_good(&r, 2);
	cr_assert_eq(msd_record_back(&r, NULL), MSD_OK);
	msd_record_failed(&r, WHY);
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 2);
	cr_assert_eq(seed_of(&r, MSD_REF_PREVIOUS), 1);
	cr_assert_not(is_bad(&r, 1));
	cr_assert_not(is_bad(&r, 2));
	msd_record_finish(&r);
}

Test(editions_back, what_was_left_by_hand_does_not_come_back_by_itself)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	make_good(&r, 2);
	cr_assert_eq(msd_record_back(&r, NULL), MSD_OK);
	msd_record_good(&r);
	cr_assert(is_bad(&r, 2));
	cr_assert_eq(msd_record_back(&r, NULL), MSD_OK);
	msd_record_good(&r);
	cr_assert(is_bad(&r, 1));
	cr_assert_not(is_bad(&r, 2));
	msd_record_finish(&r);
}

Test(editions_back, one_that_is_tried_again_leaves_the_other_as_it_was)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	make_good(&r, 2);
	cr_assert_eq(msd_record_again(&r, MSD_REF_PREVIOUS, NULL), MSD_OK);
	msd_record_good(&r);
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 1);
	cr_assert_eq(seed_of(&r, MSD_REF_PREVIOUS), 2);
	cr_assert_not(is_bad(&r, 2));
	msd_record_finish(&r);
}

Test(editions_back, another_modules_edition_is_tried_and_stays_its_own)
{
	struct msd_record r = {0}, from = {0};

	make_good(&from, 1);
	cr_assert_eq(msd_record_copy(&r, &from, MSD_REF_PREVIOUS, NULL), MSD_NOT_FOUND);
	cr_assert_eq(msd_record_copy(&r, &from, MSD_REF_CURRENT, NULL), MSD_OK);
	cr_assert_eq(seed_of(&r, MSD_REF_CANDIDATE), 1);
	msd_record_good(&r);
	msd_record_finish(&from);
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 1);
	msd_record_finish(&r);
}

Test(editions_back, there_is_no_way_back_from_the_first_one)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	cr_assert_eq(msd_record_back(&r, NULL), MSD_NOT_FOUND);
	cr_assert_eq(seed_of(&r, MSD_REF_CANDIDATE), 0);
	msd_record_finish(&r);
}

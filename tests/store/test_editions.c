#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/store/editions_rig.h"

Test(editions, what_came_up_is_current_and_the_old_one_previous)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 1);
	cr_assert_eq(seed_of(&r, MSD_REF_PREVIOUS), 0);
	make_good(&r, 2);
	make_good(&r, 3);
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 3);
	cr_assert_eq(seed_of(&r, MSD_REF_PREVIOUS), 2);
	cr_assert_eq(seed_of(&r, MSD_REF_CANDIDATE), 0);
	msd_record_finish(&r);
}

Test(editions, what_failed_is_bad_and_changes_nothing_else)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	make_good(&r, 2);
	msd_record_try(&r, edition(3));
	msd_record_failed(&r, WHY);
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 2);
	cr_assert_eq(seed_of(&r, MSD_REF_PREVIOUS), 1);
	cr_assert(is_bad(&r, 3));
	msd_record_finish(&r);
}

Test(editions, a_candidate_has_three_attempts_and_then_is_bad)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	msd_record_try(&r, edition(2)); /* the first of them */
	for (unsigned i = 1; i < MSD_EDITION_ATTEMPTS; i++)
		cr_assert_eq(start(&r), MSD_REF_CANDIDATE, "start %u", i);
	cr_assert_eq(start(&r), MSD_REF_CURRENT);
	cr_assert(is_bad(&r, 2));
	msd_record_finish(&r);
}

Test(editions, while_a_candidate_is_tried_the_current_one_serves)
{
	struct msd_record r = {0};
	struct msd_record_begun begun;

	make_good(&r, 1);
	msd_record_try(&r, edition(2));
	begun = msd_record_start(&r);
	cr_assert_eq(begun.ref, MSD_REF_CURRENT);
	cr_assert(begun.try_candidate);
	msd_record_finish(&r);
}

Test(editions, what_was_good_starts_as_often_as_it_must)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	for (int i = 0; i < 100; i++)
		cr_assert_eq(start(&r), MSD_REF_CURRENT);
	cr_assert_eq(r.n_bad, 0);
	msd_record_finish(&r);
}

Test(editions, what_has_replaced_another_has_three_attempts_to_prove_itself)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	make_good(&r, 2);
	for (unsigned i = 1; i < MSD_EDITION_ATTEMPTS; i++) {
		cr_assert_eq(start(&r), MSD_REF_CURRENT);
		cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 2);
	}
	cr_assert_eq(start(&r), MSD_REF_CURRENT);
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 1);
	cr_assert(is_bad(&r, 2));
	for (int i = 0; i < 100; i++)
		cr_assert_eq(start(&r), MSD_REF_CURRENT);
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 1);
	msd_record_finish(&r);
}

Test(editions, a_candidate_that_cuts_starts_short_does_not_condemn_what_is_watched)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	make_good(&r, 2);
	while (r.editions[MSD_REF_CURRENT]->attempts < MSD_EDITION_ATTEMPTS)
		(void)start(&r);
	msd_record_try(&r, edition(3));
	while (start(&r) == MSD_REF_CANDIDATE)
		continue;
	cr_assert(is_bad(&r, 3));
	cr_assert_not(is_bad(&r, 2));
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 2);
	cr_assert_eq(seed_of(&r, MSD_REF_PREVIOUS), 1);
	cr_assert(msd_record_is_watched(&r));
	msd_record_finish(&r);
}

Test(editions, what_is_given_up_leaves_its_cause_until_another_comes_up)
{
	struct msd_record r = {0};
	struct msd_record_begun begun;

	make_good(&r, 1);
	msd_record_try(&r, edition(2));
	do {
		cr_assert_str_empty(r.failure.why);
		begun = msd_record_start(&r);
	} while (begun.try_candidate);
	cr_assert(begun.has_given_up);
	cr_assert_eq(r.failure.version, 2);
	cr_assert(strstr(r.failure.why, "cut short"));
	cr_assert_not(msd_record_start(&r).has_given_up, "once");
	make_good(&r, 3);
	cr_assert_str_empty(r.failure.why);
	msd_record_finish(&r);
}

Test(editions, what_failed_beside_one_that_serves_leaves_its_cause_on_a_line)
{
	struct msd_record r = {0};

	msd_record_try(&r, edition(1));
	msd_record_failed(&r, WHY);
	cr_assert_str_empty(r.failure.why, "who loaded it was told");
	make_good(&r, 2);
	msd_record_try(&r, edition(3));
	msd_record_failed(&r, "line\nfeed");
	cr_assert_str_eq(r.failure.why, "line feed");
	msd_record_finish(&r);
}

Test(editions, what_has_proven_itself_starts_as_often_as_it_must)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	make_good(&r, 2);
	msd_record_proven(&r);
	for (int i = 0; i < 100; i++)
		cr_assert_eq(start(&r), MSD_REF_CURRENT);
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 2);
	msd_record_finish(&r);
}

Test(editions, an_end_in_good_order_is_no_attempt)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	make_good(&r, 2);
	for (int i = 0; i < 100; i++) {
		cr_assert_eq(start(&r), MSD_REF_CURRENT);
		msd_record_ended(&r);
	}
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 2);
	cr_assert(msd_record_is_watched(&r));
	msd_record_finish(&r);
}

Test(editions, what_failed_while_it_was_watched_is_bad_and_the_old_one_is_back)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	make_good(&r, 2);
	cr_assert_eq(msd_record_return(&r, WHY, NULL), MSD_OK);
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 1);
	cr_assert_eq(seed_of(&r, MSD_REF_PREVIOUS), 0);
	cr_assert(is_bad(&r, 2));
	cr_assert_not(is_bad(&r, 1));
	cr_assert_eq(msd_record_return(&r, WHY, NULL), MSD_NOT_FOUND);
	msd_record_finish(&r);
}

Test(editions, the_first_one_and_what_was_proven_are_not_gone_back_from)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	cr_assert_eq(msd_record_return(&r, WHY, NULL), MSD_NOT_FOUND);
	make_good(&r, 2);
	msd_record_proven(&r);
	cr_assert_eq(msd_record_return(&r, WHY, NULL), MSD_NOT_FOUND);
	cr_assert_eq(seed_of(&r, MSD_REF_CURRENT), 2);
	msd_record_finish(&r);
}

Test(editions, one_that_is_bad_is_not_gone_back_to)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	make_good(&r, 2);
	cr_assert_eq(msd_record_back(&r, NULL), MSD_OK);
	msd_record_good(&r);
	cr_assert_not(msd_record_is_watched(&r));
	cr_assert_eq(msd_record_return(&r, WHY, NULL), MSD_NOT_FOUND);
	msd_record_finish(&r);
}

Test(editions, what_was_bad_may_be_asked_for_again)
{
	struct msd_record r = {0};

	msd_record_try(&r, edition(2));
	msd_record_failed(&r, WHY);
	cr_assert_eq(start(&r), MSD_REF_COUNT);
	make_good(&r, 2);
	cr_assert_not(is_bad(&r, 2));
	cr_assert_eq(start(&r), MSD_REF_CURRENT);
	msd_record_finish(&r);
}

Test(editions, the_same_bytes_with_other_options_are_no_previous_one)
{
	struct msd_record r = {0};

	make_good(&r, 1);
	make_good(&r, 2);
	make_good(&r, 2);
	cr_assert_eq(seed_of(&r, MSD_REF_PREVIOUS), 1);
	msd_record_try(&r, edition(2));
	msd_record_failed(&r, WHY);
	cr_assert_not(is_bad(&r, 2), "its bytes are served");
	msd_record_finish(&r);
}

Test(editions, of_many_bad_ones_the_oldest_is_forgotten)
{
	struct msd_record r = {0};

	for (unsigned seed = 1; seed <= MSD_RECORD_BAD + 1; seed++) {
		msd_record_try(&r, edition(seed));
		msd_record_failed(&r, WHY);
	}
	cr_assert_eq(r.n_bad, MSD_RECORD_BAD);
	cr_assert_not(is_bad(&r, 1));
	cr_assert(is_bad(&r, 2));
	cr_assert(is_bad(&r, MSD_RECORD_BAD + 1));
	msd_record_finish(&r);
}

/* Something that happens to it, other than a start. */
static void happen(struct msd_record *r, unsigned what)
{
	void (*const steps[])(struct msd_record * r) = {
		msd_record_good, msd_record_proven, msd_record_ended};

	if (what < 3) {
		steps[what](r);
	} else if (what == 3) {
		msd_record_failed(r, WHY);
	} else if (what == 4) {
		(void)!msd_record_return(r, WHY, NULL);
	} else {
		msd_record_try(r, edition(1 + (unsigned)rand() % 6));
	}
}

/* Whatever happens, in 20000 random steps: what is served is never bad, and once one
 * was good, one is served ever after. */
Test(editions, keep_their_promises_in_any_order)
{
	struct msd_record r = {0};
	bool was_good = false;

	srand(1);
	for (int i = 0; i < 20000; i++) {
		if (rand() % 4 == 0) {
			cr_assert(start(&r) != MSD_REF_COUNT || !was_good);
		} else {
			happen(&r, (unsigned)rand() % 6);
		}
		was_good |= r.editions[MSD_REF_CURRENT] != NULL;
		const struct msd_edition *e = r.editions[MSD_REF_CURRENT];
		cr_assert(!was_good || e != NULL);
		cr_assert(e == NULL || !msd_record_is_bad(&r, &e->digest));
		e = r.editions[MSD_REF_CANDIDATE];
		cr_assert(e == NULL || e->attempts <= MSD_EDITION_ATTEMPTS);
	}
	msd_record_finish(&r);
}

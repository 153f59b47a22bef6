#include <criterion/criterion.h>

#include "daemon/supervisor/module/probation.h"

#define FOR_MS 1000u

/* Of one that has begun with some calls and deaths behind it. */
static const struct msd_probation_facts begin = {
	.now_ms = 50, .n_calls = 100, .n_failed = 90, .n_deaths = 7};

static struct msd_probation probation(uint32_t usual_permille)
{
	struct msd_probation p = {.usual_permille = usual_permille};

	msd_probation_begin(&p, FOR_MS, &begin);
	return p;
}

/* What is thought of it after so much more. */
static enum msd_probation_verdict judge(struct msd_probation *p,
					struct msd_probation_facts more)
{
	more.now_ms += begin.now_ms;
	more.n_calls += begin.n_calls;
	more.n_failed += begin.n_failed;
	more.n_deaths += begin.n_deaths;
	return msd_probation_judge(p, &more);
}

Test(probation, proves_who_holds_to_its_end)
{
	struct msd_probation p = probation(0);

	cr_assert_eq(judge(&p, (struct msd_probation_facts){.now_ms = FOR_MS - 1}),
		     MSD_PROBATION_GOES_ON);
	cr_assert(p.is_on);
	cr_assert_eq(judge(&p, (struct msd_probation_facts){.now_ms = FOR_MS}),
		     MSD_PROBATION_PROVEN);
	cr_assert_not(p.is_on);
}

Test(probation, forgives_two_deaths_and_not_three)
{
	struct msd_probation p = probation(0);

	cr_assert_eq(judge(&p, (struct msd_probation_facts){.n_deaths = 2}),
		     MSD_PROBATION_GOES_ON);
	cr_assert_eq(judge(&p, (struct msd_probation_facts){.n_deaths = 3}),
		     MSD_PROBATION_FAILED);
}

Test(probation, ends_with_who_was_given_up)
{
	struct msd_probation p = probation(0);

	cr_assert_eq(judge(&p, (struct msd_probation_facts){.is_given_up = true}),
		     MSD_PROBATION_FAILED);
}

Test(probation, says_nothing_of_who_is_unloaded)
{
	struct msd_probation p = probation(0);

	cr_assert_eq(judge(&p, (struct msd_probation_facts){.is_ending = true,
							    .n_deaths = 9}),
		     MSD_PROBATION_BROKEN_OFF);
	cr_assert_not(p.is_on);
}

Test(probation, looks_at_shares_of_twenty_calls_and_more)
{
	struct msd_probation p = probation(0);
	const struct msd_probation_facts few = {.n_calls = 19, .n_failed = 19},
					 less_than_half = {.n_calls = 21,
							   .n_failed = 10},
					 half = {.n_calls = 20, .n_failed = 10};

	cr_assert_eq(judge(&p, few), MSD_PROBATION_GOES_ON);
	cr_assert_eq(judge(&p, less_than_half), MSD_PROBATION_GOES_ON);
	cr_assert_eq(judge(&p, half), MSD_PROBATION_FAILED);
}

Test(probation, takes_what_failed_before_for_the_clients_doing)
{
	const struct msd_probation_facts some = {.n_calls = 100, .n_failed = 70},
					 all = {.n_calls = 100, .n_failed = 100};
	struct msd_probation p = probation(400);

	cr_assert_eq(judge(&p, some), MSD_PROBATION_GOES_ON);
	cr_assert_eq(judge(&p, all), MSD_PROBATION_FAILED);
	p = probation(501);
	cr_assert_eq(judge(&p, all), MSD_PROBATION_GOES_ON);
}

Test(probation, knows_shares_of_no_calls_too)
{
	cr_assert_eq(msd_probation_share(0, 0), 0);
	cr_assert_eq(msd_probation_share(1, 2), 500);
	cr_assert_eq(msd_probation_share(7, 7), 1000);
}

#include <criterion/criterion.h>

#include "daemon/supervisor/module/life/canary.h"

#define FOR_MS 1000u

/* Of one that has begun with some calls and deaths behind it. */
static const struct msd_canary_facts begin = {
	.now_ms = 50, .n_calls = 100, .n_failed = 90, .n_deaths = 7};

static struct msd_canary canary(uint32_t usual_permille)
{
	struct msd_canary p = {.usual_permille = usual_permille};

	msd_canary_begin(&p, FOR_MS, &begin);
	return p;
}

/* What is thought of it after so much more. */
static enum msd_canary_verdict judge(struct msd_canary *p, struct msd_canary_facts more)
{
	more.now_ms += begin.now_ms;
	more.n_calls += begin.n_calls;
	more.n_failed += begin.n_failed;
	more.n_deaths += begin.n_deaths;
	return msd_canary_judge(p, &more);
}

Test(canary, proves_who_holds_to_its_end)
{
	struct msd_canary p = canary(0);

	cr_assert_eq(judge(&p, (struct msd_canary_facts){.now_ms = FOR_MS - 1}),
		     MSD_CANARY_GOES_ON);
	cr_assert(p.is_on);
	cr_assert_eq(judge(&p, (struct msd_canary_facts){.now_ms = FOR_MS}),
		     MSD_CANARY_PROVEN);
	cr_assert_not(p.is_on);
}

Test(canary, forgives_two_deaths_and_not_three)
{
	struct msd_canary p = canary(0);

	cr_assert_eq(judge(&p, (struct msd_canary_facts){.n_deaths = 2}),
		     MSD_CANARY_GOES_ON);
	cr_assert_eq(judge(&p, (struct msd_canary_facts){.n_deaths = 3}),
		     MSD_CANARY_FAILED);
}

Test(canary, ends_with_who_was_given_up)
{
	struct msd_canary p = canary(0);

	cr_assert_eq(judge(&p, (struct msd_canary_facts){.is_given_up = true}),
		     MSD_CANARY_FAILED);
}

Test(canary, says_nothing_of_who_is_unloaded)
{
	struct msd_canary p = canary(0);

	cr_assert_eq(
		judge(&p, (struct msd_canary_facts){.is_ending = true, .n_deaths = 9}),
		MSD_CANARY_BROKEN_OFF);
	cr_assert_not(p.is_on);
}

Test(canary, looks_at_shares_of_twenty_calls_and_more)
{
	struct msd_canary p = canary(0);
	const struct msd_canary_facts few = {.n_calls = 19, .n_failed = 19},
				      less_than_half = {.n_calls = 21, .n_failed = 10},
				      half = {.n_calls = 20, .n_failed = 10};

	cr_assert_eq(judge(&p, few), MSD_CANARY_GOES_ON);
	cr_assert_eq(judge(&p, less_than_half), MSD_CANARY_GOES_ON);
	cr_assert_eq(judge(&p, half), MSD_CANARY_FAILED);
}

Test(canary, takes_what_failed_before_for_the_clients_doing)
{
	const struct msd_canary_facts some = {.n_calls = 100, .n_failed = 70},
				      all = {.n_calls = 100, .n_failed = 100};
	struct msd_canary p = canary(400);

	cr_assert_eq(judge(&p, some), MSD_CANARY_GOES_ON);
	cr_assert_eq(judge(&p, all), MSD_CANARY_FAILED);
	p = canary(501);
	cr_assert_eq(judge(&p, all), MSD_CANARY_GOES_ON);
}

Test(canary, knows_shares_of_no_calls_too)
{
	cr_assert_eq(msd_canary_share(0, 0), 0);
	cr_assert_eq(msd_canary_share(1, 2), 500);
	cr_assert_eq(msd_canary_share(7, 7), 1000);
}

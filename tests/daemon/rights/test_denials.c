#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "daemon/supervisor/rights/denials.h"

static struct msd_denials all;

static void deny(const char *name, uint64_t at_s)
{
	struct msd_denial d = {.method = MSD_M_CALL,
			       .user = "alice",
			       .peer = "uid 1",
			       .times = 1,
			       .first_s = at_s,
			       .last_s = at_s};

	(void)snprintf(d.name, sizeof(d.name), "%s", name);
	msd_denials_add(&all, &d);
}

static void end(void)
{
	msd_denials_finish(&all);
}

TestSuite(denials, .fini = end);

Test(denials, are_kept_in_order)
{
	deny("a:b", 1);
	deny("c:d", 2);
	cr_expect_str_eq(msd_denials_at(&all, 0)->name, "a:b");
	cr_expect_str_eq(msd_denials_at(&all, 1)->name, "c:d");
	cr_expect_null(msd_denials_at(&all, 2));
}

Test(denials, of_the_same_take_one_place)
{
	for (uint64_t i = 1; i <= 1000; i++)
		deny("a:b", i);
	cr_expect_eq(all.n, 1);
	cr_expect_eq(all.total, 1000);
	cr_expect_eq(msd_denials_at(&all, 0)->times, 1000);
	cr_expect_eq(msd_denials_at(&all, 0)->first_s, 1);
	cr_expect_eq(msd_denials_at(&all, 0)->last_s, 1000);
}

Test(denials, are_bounded_and_the_oldest_goes)
{
	char name[16];

	for (unsigned i = 0; i < MSD_DENIALS_MAX + 3; i++) {
		(void)snprintf(name, sizeof(name), "m%u:f", i);
		deny(name, i);
	}
	cr_expect_eq(all.n, MSD_DENIALS_MAX);
	cr_expect_str_eq(msd_denials_at(&all, 0)->name, "m3:f");
	cr_expect_str_eq(msd_denials_at(&all, MSD_DENIALS_MAX - 1)->name, "m258:f");
}

Test(denials, cuts_names_that_are_too_long)
{
	uint8_t longest[2 * MSD_DENIAL_NAME_BYTES];
	char name[MSD_DENIAL_NAME_BYTES];

	memset(longest, 'f', sizeof(longest));
	msd_denial_put_name(
		name, &(struct msd_acl_target){.module = msd_span_of("zoo"),
					       .function = {longest, sizeof(longest)}});
	cr_assert_eq(memcmp(name, "zoo:ffff", 8), 0);
	cr_assert_eq(strlen(name), MSD_DENIAL_NAME_BYTES - 1);
}

#include <criterion/criterion.h>
#include <string.h>

#include "daemon/limits.h"
#include "daemon/supervisor/descriptors.h"

static const struct msd_limits limits = {
	.max_connections = 1024, .max_modules = 256, .max_uploads = 8};

Test(descriptors, enough_of_them_are_not_spoken_of)
{
	char text[MSD_DESCRIPTORS_TEXT_BYTES];

	cr_expect_null(msd_descriptors_judge(
		&limits, 64 + 320 + 13 * 1024 + 16 * 256 + 1024 + 1138, text));
}

Test(descriptors, of_too_few_it_is_said_what_fits_and_what_to_do)
{
	char text[MSD_DESCRIPTORS_TEXT_BYTES];

	cr_assert_not_null(msd_descriptors_judge(&limits, 1024, text));
	cr_expect_not_null(strstr(text, "RLIMIT_NOFILE is 1024"), "%s", text);
	cr_expect_not_null(strstr(text, "688 connections beside one module"), "%s",
			   text);
	cr_expect_not_null(strstr(text, "LimitNOFILE="), "%s", text);
}

Test(descriptors, of_few_the_last_are_a_quarter)
{
	cr_expect_eq(msd_descriptors_last(128), 32);
	cr_expect_eq(msd_descriptors_last(65536), 320);
}

Test(descriptors, that_fit_no_worker_are_said_to)
{
	char text[MSD_DESCRIPTORS_TEXT_BYTES];

	cr_assert_not_null(msd_descriptors_judge(&limits, 64, text));
	cr_expect_not_null(strstr(text, "no module can be loaded"), "%s", text);
}

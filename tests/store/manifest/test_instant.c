#include <criterion/criterion.h>

#include "store/manifest/instant.h"

Test(instant, is_written_as_it_was_read)
{
	char text[MSD_INSTANT_TEXT];
	uint64_t at = 1;

	cr_assert(msd_instant_parse("1970-01-01T00:00:00Z", &at));
	cr_assert_eq(at, 0);
	cr_assert(msd_instant_parse("2026-11-22T10:00:00Z", &at));
	cr_assert_eq(at, 1795341600);
	cr_assert_str_eq(msd_instant_format(at, text), "2026-11-22T10:00:00Z");
}

Test(instant, what_is_no_time_in_utc_is_refused)
{
	static const char *const bad[] = {
		"",
		"2026-11-22",
		"2026-11-22T10:00:00",
		"2026-11-22T10:00:00+01:00",
		"2026-11-22T10:00:00Z ",
		" 2026-11-22T10:00:00Z",
		"2026-06-31T10:00:00Z",
		"2026-11-22T10:00:60Z",
		"2026-1-2T10:00:00Z",
		"1969-12-31T23:59:59Z",
		"99999-01-01T00:00:00Z",
	};
	uint64_t at;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_not(msd_instant_parse(bad[i], &at), "%s", bad[i]);
}

#include <criterion/criterion.h>
#include <string.h>

#include "proto/base/duration.h"

Test(duration, is_a_number_with_its_unit)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} rows[] = {{"50ms", 50},    {"5s", 5000},  {"2m", 120000},
		    {"1h", 3600000}, {"0.5s", 500}, {".5s", 500},
		    {"1.2ms", 2},    {"0", 0},      {"0s", 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t ms = 77;

		cr_expect_eq(msd_duration_parse(rows[i].text, &ms, NULL), MSD_OK, "%s",
			     rows[i].text);
		cr_expect_eq(ms, rows[i].ms, "%s", rows[i].text);
	}
}

Test(duration, refuses_a_bare_number_and_names_both_forms)
{
	struct msd_diag d = {0};
	uint64_t ms = 77;

	cr_assert_eq(msd_duration_parse("5", &ms, &d), MSD_BAD_REQUEST);
	cr_expect_not_null(strstr(msd_diag_text(&d), "5s"));
	cr_expect_not_null(strstr(msd_diag_text(&d), "5ms"));
	cr_expect_eq(ms, 77, "nothing is written");
	msd_diag_finish(&d);
}

Test(duration, refuses_what_is_none)
{
	static const char *const texts[] = {"",
					    "ms",
					    "5x",
					    "-5s",
					    "1e3s",
					    "5 s",
					    "5sec",
					    "1.2.3s",
					    "nans",
					    "0x10s",
					    "s5",
					    "1h30m",
					    "999999999999999999999h"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct msd_diag d = {0};
		uint64_t ms;

		cr_expect_eq(msd_duration_parse(texts[i], &ms, &d), MSD_BAD_REQUEST,
			     "%s", texts[i]);
		cr_expect_not_null(strstr(msd_diag_text(&d), "50ms"), "%s", texts[i]);
		msd_diag_finish(&d);
	}
}

Test(duration, what_is_written_reads_back)
{
	static const uint64_t rows[] = {0, 1, 50, 1000, 1500, 60000, 120000, 3600000};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[MSD_DURATION_TEXT_MAX];
		uint64_t ms = 77;

		cr_expect_eq(msd_duration_parse(msd_duration_format(rows[i], text), &ms,
						NULL),
			     MSD_OK, "%s", text);
		cr_expect_eq(ms, rows[i], "%s", text);
	}
}

Test(duration, is_written_in_the_largest_whole_unit)
{
	char text[MSD_DURATION_TEXT_MAX];

	cr_expect_str_eq(msd_duration_format(120000, text), "2m");
	cr_expect_str_eq(msd_duration_format(1500, text), "1500ms");
	cr_expect_str_eq(msd_duration_format(0, text), "0ms");
}

Test(duration, may_be_in_microseconds_where_those_are_counted)
{
	static const struct {
		const char *text;
		uint64_t us;
	} rows[] = {
		{"50us", 50}, {"0", 0}, {"0.05ms", 50}, {"1.2us", 2}, {"1s", 1000000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[MSD_DURATION_TEXT_MAX];
		uint64_t us = 77, again = 77;

		cr_expect_eq(msd_duration_parse_us(rows[i].text, &us, NULL), MSD_OK,
			     "%s", rows[i].text);
		cr_expect_eq(us, rows[i].us, "%s", rows[i].text);
		cr_expect_eq(msd_duration_parse_us(msd_duration_format_us(us, text),
						   &again, NULL),
			     MSD_OK, "%s", text);
		cr_expect_eq(again, us, "%s", text);
	}
}

Test(duration, in_microseconds_a_bare_number_is_refused_too)
{
	struct msd_diag d = {0};
	uint64_t us = 77;

	cr_assert_eq(msd_duration_parse_us("50", &us, &d), MSD_BAD_REQUEST);
	cr_expect_not_null(strstr(msd_diag_text(&d), "50us"));
	cr_assert_eq(msd_duration_parse_us("50ns", &us, &d), MSD_BAD_REQUEST);
	cr_expect_not_null(strstr(msd_diag_text(&d), "(us, ms, s, m, h)"));
	cr_assert_eq(msd_duration_parse("50us", &us, &d), MSD_BAD_REQUEST);
	cr_expect_not_null(strstr(msd_diag_text(&d), "(ms, s, m, h)"));
	cr_expect_eq(us, 77, "nothing is written");
	msd_diag_finish(&d);
}

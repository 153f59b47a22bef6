#include <criterion/criterion.h>
#include <string.h>

#include "daemon/supervisor/facts/exposition.h"
#include "proto/base/bytes.h"

static struct msd_buf out;

static const struct msd_family gauge = {"m_size", "How much.", MSD_GAUGE,
					MSD_UNIT_NONE};
static const struct msd_family counter = {"m_seen", "How often.", MSD_COUNTER,
					  MSD_UNIT_NONE};
static const struct msd_family times = {"m_seconds", "How long.", MSD_HISTOGRAM,
					MSD_UNIT_NS};

static void expect_text(const char *expected)
{
	msd_buf_put_u8(&out, '\0');
	cr_assert_not(out.bad);
	cr_expect_str_eq((const char *)out.p, expected);
	msd_buf_finish(&out);
}

static bool has_line(const char *line)
{
	const char *at = strstr((const char *)out.p, line);

	return at != NULL && (at == (const char *)out.p || at[-1] == '\n') &&
	       at[strlen(line)] == '\n';
}

Test(exposition, counter_is_named_by_its_samples)
{
	struct msd_exposition x = {.out = &out};

	msd_exposition_open(&x, &counter);
	msd_exposition_put(&x, &counter, NULL, 0, 7);
	msd_exposition_close(&x);
	expect_text("# HELP m_seen_total How often.\n# TYPE m_seen_total counter\n"
		    "m_seen_total 7\n");
}

Test(exposition, openmetrics_names_a_counter_by_what_it_counts_and_ends)
{
	struct msd_exposition x = {.out = &out, .is_openmetrics = true};

	msd_exposition_open(&x, &counter);
	msd_exposition_put(&x, &counter, NULL, 0, 7);
	msd_exposition_close(&x);
	expect_text("# HELP m_seen How often.\n# TYPE m_seen counter\n"
		    "m_seen_total 7\n# EOF\n");
}

Test(exposition, labels_are_escaped)
{
	struct msd_exposition x = {.out = &out};
	const struct msd_label labels[] = {{"a", "back\\slash"}, {"b", "say \"x\"\n"}};

	msd_exposition_put(&x, &gauge, labels, 2, 1);
	expect_text("m_size{a=\"back\\\\slash\",b=\"say \\\"x\\\"\\n\"} 1\n");
}

Test(exposition, labels_hold_nothing_that_a_terminal_obeys)
{
	struct msd_exposition x = {.out = &out};
	const struct msd_label labels[] = {{"a", "\xc3\xa9\x1b\xc2\x9b\""},
					   {"b", "\xe2\x80\xae\xff\n"}};

	msd_exposition_put(&x, &gauge, labels, 2, 1);
	expect_text("m_size{a=\"\xc3\xa9\\\\x1b\\\\xc2\\\\x9b\\\"\","
		    "b=\"\\\\xe2\\\\x80\\\\xae\\\\xff\\n\"} 1\n");
}

Test(exposition, units_become_base_units_without_rounding)
{
	struct msd_exposition x = {.out = &out};
	struct msd_family f = gauge;

	f.unit = MSD_UNIT_MS;
	msd_exposition_put(&x, &f, NULL, 0, 1005);
	f.unit = MSD_UNIT_US;
	msd_exposition_put(&x, &f, NULL, 0, 1);
	f.unit = MSD_UNIT_NS;
	msd_exposition_put(&x, &f, NULL, 0, UINT64_MAX);
	msd_exposition_put(&x, &f, NULL, 0, 0);
	msd_exposition_put(&x, &f, NULL, 0, 2000000000);
	expect_text("m_size 1.005\nm_size 0.000001\nm_size 18446744073.709551615\n"
		    "m_size 0\nm_size 2\n");
}

Test(exposition, buckets_count_all_that_was_not_longer)
{
	struct msd_exposition x = {.out = &out};
	const struct msd_label label = {"s", "run"};
	struct msd_histogram h = {{0}};

	msd_histogram_note(&h, 1);    /* below the first bucket's end */
	msd_histogram_note(&h, 1500); /* in the second */
	msd_histogram_note(&h,
			   1u << 11); /* in the third: a bucket's end is not in it */
	msd_histogram_note(&h, UINT64_C(1) << 40); /* beyond the last */
	msd_exposition_put_times(&x, &times, &label, 1, &h, 3000000001);
	msd_buf_put_u8(&out, '\0');
	cr_expect(has_line("m_seconds_bucket{s=\"run\",le=\"0.000001024\"} 1"));
	cr_expect(has_line("m_seconds_bucket{s=\"run\",le=\"0.000002048\"} 2"));
	cr_expect(has_line("m_seconds_bucket{s=\"run\",le=\"0.000004096\"} 3"));
	cr_expect(has_line("m_seconds_bucket{s=\"run\",le=\"17.179869184\"} 3"));
	cr_expect(has_line("m_seconds_bucket{s=\"run\",le=\"+Inf\"} 4"));
	cr_expect(has_line("m_seconds_sum{s=\"run\"} 3.000000001"));
	cr_expect(has_line("m_seconds_count{s=\"run\"} 4"));
	msd_buf_finish(&out);
}

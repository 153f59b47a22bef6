#include <criterion/criterion.h>
#include <stdio.h>

#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/request/request.h"

static struct msd_call_stats *call_stats;

static void begin(void)
{
	call_stats = msd_call_stats_new("digits");
	cr_assert_not_null(call_stats);
}

static void end(void)
{
	msd_call_stats_unref(call_stats);
}

TestSuite(call_stats, .init = begin, .fini = end);

Test(call_stats, function_that_was_never_added_is_among_the_others)
{
	cr_expect_eq(msd_call_stats_find(call_stats, msd_span_of("main")),
		     MSD_CALL_STATS_OTHER);
}

Test(call_stats, function_keeps_its_row)
{
	const uint8_t one = msd_call_stats_add(call_stats, msd_span_of("main"));
	const uint8_t two = msd_call_stats_add(call_stats, msd_span_of("mean"));

	cr_expect_neq(one, MSD_CALL_STATS_OTHER);
	cr_expect_neq(one, two);
	cr_expect_eq(msd_call_stats_add(call_stats, msd_span_of("main")), one);
	cr_expect_eq(msd_call_stats_find(call_stats, msd_span_of("mean")), two);
	cr_expect_eq(msd_call_stats_find(call_stats, msd_span_of("main")), one);
	cr_expect_eq(msd_call_stats_find(call_stats, msd_span_of("mai")),
		     MSD_CALL_STATS_OTHER);
	cr_expect_eq(msd_call_stats_find(call_stats, msd_span_of("main")), one);
}

Test(call_stats, the_first_functions_have_rows_and_the_rest_share_one)
{
	char name[16];

	for (unsigned i = 0; i < 2 * MSD_CALL_STATS_FUNCTIONS; i++) {
		(void)snprintf(name, sizeof(name), "f%u", i);
		const uint8_t row = msd_call_stats_add(call_stats, msd_span_of(name));
		cr_expect_eq(row != MSD_CALL_STATS_OTHER, i < MSD_CALL_STATS_FUNCTIONS,
			     "%s", name);
		cr_expect_eq(msd_call_stats_find(call_stats, msd_span_of(name)), row,
			     "%s", name);
	}
	cr_expect_not(msd_call_stats_has_room(call_stats));
	cr_expect_eq(call_stats->n_rows, MSD_CALL_STATS_FUNCTIONS + 1);
}

Test(call_stats, function_called_other_is_among_them)
{
	cr_expect_eq(
		msd_call_stats_add(call_stats, msd_span_of(MSD_CALL_STATS_OTHER_NAME)),
		MSD_CALL_STATS_OTHER);
}

Test(call_stats, calls_are_counted_by_function_and_code)
{
	const uint8_t row = msd_call_stats_add(call_stats, msd_span_of("main"));

	msd_call_stats_note(call_stats, row, MSD_OK);
	msd_call_stats_note(call_stats, row, MSD_OK);
	msd_call_stats_note(call_stats, row, MSD_CALL_FAILED);
	msd_call_stats_note(call_stats, MSD_CALL_STATS_OTHER, MSD_REQ_UNANSWERED);
	cr_expect_eq(msd_call_stats_count(&call_stats->rows[row], MSD_OK), 2);
	cr_expect_eq(msd_call_stats_count(&call_stats->rows[row], MSD_CALL_FAILED), 1);
	cr_expect_eq(msd_call_stats_count(&call_stats->rows[row], MSD_REQ_UNANSWERED),
		     0);
	cr_expect_eq(msd_call_stats_count(&call_stats->rows[0], MSD_REQ_UNANSWERED), 1);
	cr_expect_eq(msd_call_stats_count(&call_stats->rows[0], MSD_OK), 0);
}

Test(call_stats, code_of_nobodys_table_is_an_internal_one)
{
	msd_call_stats_note(call_stats, MSD_CALL_STATS_OTHER, 200);
	cr_expect_eq(msd_call_stats_count(&call_stats->rows[0], MSD_INTERNAL), 1);
}

Test(call_stats, it_lives_as_long_as_somebody_counts)
{
	cr_expect_eq(msd_call_stats_ref(call_stats), call_stats);
	msd_call_stats_unref(call_stats);
	msd_call_stats_note(call_stats, MSD_CALL_STATS_OTHER, MSD_OK);
	cr_expect_eq(msd_call_stats_count(&call_stats->rows[0], MSD_OK), 1);
}

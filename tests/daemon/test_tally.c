#include <criterion/criterion.h>
#include <stdio.h>

#include "daemon/supervisor/module/tally.h"
#include "daemon/supervisor/request/request.h"

static struct msd_tally *tally;

static void begin(void)
{
	tally = msd_tally_new("digits");
	cr_assert_not_null(tally);
}

static void end(void)
{
	msd_tally_unref(tally);
}

TestSuite(tally, .init = begin, .fini = end);

Test(tally, function_that_was_never_added_is_among_the_others)
{
	cr_expect_eq(msd_tally_find(tally, msd_span_of("main")), MSD_TALLY_OTHER);
}

Test(tally, function_keeps_its_row)
{
	const uint8_t one = msd_tally_add(tally, msd_span_of("main"));
	const uint8_t two = msd_tally_add(tally, msd_span_of("mean"));

	cr_expect_neq(one, MSD_TALLY_OTHER);
	cr_expect_neq(one, two);
	cr_expect_eq(msd_tally_add(tally, msd_span_of("main")), one);
	cr_expect_eq(msd_tally_find(tally, msd_span_of("mean")), two);
	cr_expect_eq(msd_tally_find(tally, msd_span_of("main")), one);
	cr_expect_eq(msd_tally_find(tally, msd_span_of("mai")), MSD_TALLY_OTHER);
	cr_expect_eq(msd_tally_find(tally, msd_span_of("main")), one);
}

Test(tally, the_first_functions_have_rows_and_the_rest_share_one)
{
	char name[16];

	for (unsigned i = 0; i < 2 * MSD_TALLY_FUNCTIONS; i++) {
		(void)snprintf(name, sizeof(name), "f%u", i);
		const uint8_t row = msd_tally_add(tally, msd_span_of(name));
		cr_expect_eq(row != MSD_TALLY_OTHER, i < MSD_TALLY_FUNCTIONS, "%s",
			     name);
		cr_expect_eq(msd_tally_find(tally, msd_span_of(name)), row, "%s", name);
	}
	cr_expect_not(msd_tally_has_room(tally));
	cr_expect_eq(tally->n_rows, MSD_TALLY_FUNCTIONS + 1);
}

Test(tally, function_called_other_is_among_them)
{
	cr_expect_eq(msd_tally_add(tally, msd_span_of(MSD_TALLY_OTHER_NAME)),
		     MSD_TALLY_OTHER);
}

Test(tally, calls_are_counted_by_function_and_code)
{
	const uint8_t row = msd_tally_add(tally, msd_span_of("main"));

	msd_tally_note(tally, row, MSD_OK);
	msd_tally_note(tally, row, MSD_OK);
	msd_tally_note(tally, row, MSD_CALL_FAILED);
	msd_tally_note(tally, MSD_TALLY_OTHER, MSD_REQ_UNANSWERED);
	cr_expect_eq(msd_tally_count(&tally->rows[row], MSD_OK), 2);
	cr_expect_eq(msd_tally_count(&tally->rows[row], MSD_CALL_FAILED), 1);
	cr_expect_eq(msd_tally_count(&tally->rows[row], MSD_REQ_UNANSWERED), 0);
	cr_expect_eq(msd_tally_count(&tally->rows[0], MSD_REQ_UNANSWERED), 1);
	cr_expect_eq(msd_tally_count(&tally->rows[0], MSD_OK), 0);
}

Test(tally, code_of_nobodys_table_is_an_internal_one)
{
	msd_tally_note(tally, MSD_TALLY_OTHER, 200);
	cr_expect_eq(msd_tally_count(&tally->rows[0], MSD_INTERNAL), 1);
}

Test(tally, it_lives_as_long_as_somebody_counts)
{
	cr_expect_eq(msd_tally_ref(tally), tally);
	msd_tally_unref(tally);
	msd_tally_note(tally, MSD_TALLY_OTHER, MSD_OK);
	cr_expect_eq(msd_tally_count(&tally->rows[0], MSD_OK), 1);
}

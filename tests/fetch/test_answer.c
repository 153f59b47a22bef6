#include <criterion/criterion.h>

#include "daemon/fetch/transfer/answer.h"

static void expect_range(const char *text, uint64_t from, uint64_t end, uint64_t total)
{
	struct msd_range r;

	cr_assert(msd_range_read(text, &r), "%s", text);
	cr_assert_eq(r.from, from);
	cr_assert_eq(r.end, end);
	cr_assert_eq(r.total, total);
}

Test(range, says_which_bytes_come_and_of_how_many)
{
	expect_range("bytes 100-199/200", 100, 200, 200);
	expect_range("bytes 0-0/1000", 0, 1, 1000);
}

static void expect_none(const char *text)
{
	struct msd_range r;

	cr_assert_not(msd_range_read(text, &r), "%s", text);
}

Test(range, that_leaves_its_end_open_is_none)
{
	expect_none("bytes 100-199/*");
	expect_none("bytes */200");
	expect_none("bytes 100-/200");
	expect_none("bytes 100");
	expect_none("bytes ");
	expect_none("");
}

Test(range, that_contradicts_itself_is_none)
{
	expect_none("bytes 100-99/200");
	expect_none("bytes 100-200/200");
	expect_none("bytes 0-99/100 ");
	expect_none("bytes 0-99/-1");
	expect_none("bytes 0-18446744073709551616/18446744073709551617");
}

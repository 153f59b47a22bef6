#include <criterion/criterion.h>

#include "proto/base/text.h"

Test(text, decimals_have_all_their_digits_and_no_more)
{
	struct msd_buf b = {0};

	msd_text_decimal(&b, 0);
	msd_text_put(&b, " ");
	msd_text_decimal(&b, 10);
	msd_text_put(&b, " ");
	msd_text_decimal(&b, UINT64_MAX);
	msd_buf_put(&b, "", 1);
	cr_expect_str_eq((const char *)b.p, "0 10 18446744073709551615");
	msd_buf_finish(&b);
}

#include <criterion/criterion.h>

#include "runtime/module/c_name.h"

static bool is(const char *name, const char *own)
{
	return msd_c_name_is(msd_span_of(name), own);
}

Test(c_name, what_is_no_letter_or_digit_has_become_an_underscore)
{
	cr_expect(is("x.0/seq:0", "x_0_seq_0"));
	cr_expect(is("serving default-x", "serving_default_x"));
}

Test(c_name, the_identifier_names_itself)
{
	cr_expect(is("x_0_seq_0", "x_0_seq_0"));
}

Test(c_name, another_name_is_not_meant)
{
	cr_expect_not(is("x0", "x_0"));
	cr_expect_not(is("xa0", "x_0"));
	cr_expect_not(is("x", "x_0"));
	cr_expect_not(is("x.0.", "x_0"));
	cr_expect_not(is("", "x"));
}

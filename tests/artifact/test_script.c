#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/script.h"

static void expect_plain(const char *text, const char *want)
{
	struct msd_buf out = {0};

	msd_script_put_plain(&out, msd_span_of(text));
	msd_buf_put_u8(&out, '\0');
	cr_assert_not(out.bad);
	cr_expect_str_eq((const char *)out.p, want);
	msd_buf_finish(&out);
}

Test(script, constants_are_their_digits)
{
	expect_plain("f(A: Tensor([T.int64(2), n * T.int32(-4)], int8))",
		     "f(A: Tensor([2, n * -4], int8))");
}

Test(script, what_is_no_constant_stays)
{
	expect_plain("T.int64(n)", "T.int64(n)");
	expect_plain("T.int64()", "T.int64()");
	expect_plain("T.int64(-)", "T.int64(-)");
	expect_plain("T.float32(2)", "T.float32(2)");
	expect_plain("T.int64(2 + n)", "T.int64(2 + n)");
}

/* The text is a file's: none of its prefixes is read past its end. */
Test(script, every_prefix_stays_as_it_is)
{
	static const char text[] = "T.int64(-64)";

	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		struct msd_buf out = {0};
		uint8_t *copy = malloc(n > 0 ? n : 1);
		memcpy(copy, text, n);
		msd_script_put_plain(&out, (struct msd_span){copy, n});
		cr_expect_eq(out.n, n);
		cr_expect(n == 0 || memcmp(out.p, text, n) == 0);
		msd_buf_finish(&out);
		free(copy);
	}
}

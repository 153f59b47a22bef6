#include <criterion/criterion.h>

#include "proto/utf8.h"
#include "tests/support/exact.h"

static size_t prefix(const char *text, size_t n)
{
	uint8_t *in = exact_copy(text, n);
	size_t at = msd_utf8_prefix((struct msd_span){.p = in, .n = n});

	free(in);
	return at;
}

Test(utf8, well_formed_texts_are_valid)
{
	static const char *const good[] = {
		"",
		"plain ASCII, more than eight bytes",
		"\xc2\x80",
		"\xdf\xbf",
		"\xe0\xa0\x80",
		"\xed\x9f\xbf",
		"\xee\x80\x80",
		"\xef\xbf\xbf",
		"\xf0\x90\x80\x80",
		"\xf4\x8f\xbf\xbf",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cr_assert_eq(prefix(good[i], strlen(good[i])), strlen(good[i]),
			     "row %zu", i);
	}
}

Test(utf8, ill_formed_sequences_stop_where_they_begin)
{
	static const char *const bad[] = {
		"\x80",
		"\xbf",
		"\xc0\xaf",
		"\xc1\xbf",
		"\xe0\x9f\xbf",
		"\xed\xa0\x80",
		"\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xff",
		"\xc2",
		"\xe2\x82",
		"\xf0\x9f\x98",
		"\xe2\x28\xa1",
		"\xe2\x82\x28",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[16] = "abcdefghi";

		strcat(text, bad[i]);
		cr_assert_eq(prefix(bad[i], strlen(bad[i])), 0, "row %zu", i);
		cr_assert_eq(prefix(text, strlen(text)), 9, "row %zu", i);
	}
}

Test(utf8, nul_is_a_character)
{
	cr_assert_eq(prefix("a\0b", 3), 3);
}

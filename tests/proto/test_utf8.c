#include <criterion/criterion.h>

#include "proto/base/utf8.h"
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

/* The character @c as UTF-8, no surrogate, in @ret; its bytes. */
static size_t encode(uint32_t c, uint8_t ret[static 4])
{
	if (c < 0x80) {
		ret[0] = (uint8_t)c;
		return 1;
	}
	const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		ret[i] = (uint8_t)(0x80 | (c & 0x3f));
	ret[0] = (uint8_t)(lead[n] | c);
	return n;
}

static bool is_obeyed(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029 ||
	       (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

Test(utf8, what_is_obeyed_in_place_of_being_shown_is_known_for_each_character)
{
	for (uint32_t c = 0; c <= 0x10ffff; c = c == 0xd7ff ? 0xe000 : c + 1) {
		uint8_t text[5] = "a";
		const size_t n = 1 + encode(c, text + 1);
		size_t n_first;

		cr_assert_eq(msd_utf8_shown((struct msd_span){text, n}),
			     is_obeyed(c) ? 1 : n, "U+%04X", c);
		cr_assert_eq(
			msd_utf8_first((struct msd_span){text + 1, n - 1}, &n_first),
			c);
		cr_assert_eq(n_first, n - 1);
	}
}

Test(utf8, what_is_ill_formed_is_not_shown)
{
	static const char *const bad[] = {
		"\x80", "\xc2", "\xe2\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t *in = exact_copy(bad[i], strlen(bad[i]));
		const struct msd_span s = {in, strlen(bad[i])};
		size_t n;

		cr_expect_eq(msd_utf8_shown(s), 0, "row %zu", i);
		cr_expect_eq(msd_utf8_first(s, &n), 0xfffd, "row %zu", i);
		cr_expect_eq(n, 1, "row %zu", i);
		free(in);
	}
}

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/rights/acl.h"

static bool matches(const char *glob, const char *text)
{
	return msd_glob_match(msd_span_of(glob), msd_span_of(text));
}

Test(glob, without_stars_is_the_name_itself)
{
	cr_expect(matches("digits", "digits"));
	cr_expect(!matches("digits", "digit"));
	cr_expect(!matches("digits", "digits2"));
	cr_expect(!matches("Digits", "digits"));
	cr_expect(matches("", ""));
	cr_expect(!matches("", "a"));
}

Test(glob, star_is_any_bytes_and_none)
{
	cr_expect(matches("*", ""));
	cr_expect(matches("*", "a"));
	cr_expect(matches("team-*", "team-"));
	cr_expect(matches("team-*", "team-a"));
	cr_expect(!matches("team-*", "team"));
	cr_expect(matches("*a*b*", "xaxbx"));
	cr_expect(!matches("*a*b*", "xbxax"));
	cr_expect(matches("a*a", "aa"));
	cr_expect(!matches("a*a", "a"));
}

Test(glob, question_mark_is_one_byte)
{
	cr_expect(matches("v?", "v1"));
	cr_expect(!matches("v?", "v"));
	cr_expect(!matches("v?", "v12"));
	cr_expect(matches("*?", "x"));
	cr_expect(!matches("*?", ""));
}

/* As the definition has it, in as many steps as it takes. */
static bool matches_slowly(const char *g, const char *t)
{
	if (*g == '\0')
		return *t == '\0';
	if (*g == '*') {
		return matches_slowly(g + 1, t) ||
		       (*t != '\0' && matches_slowly(g, t + 1));
	}
	return *t != '\0' && (*g == '?' || *g == *t) && matches_slowly(g + 1, t + 1);
}

static void spell(char *text, size_t n, unsigned number, const char *letters)
{
	const unsigned base = (unsigned)strlen(letters);

	for (size_t i = 0; i < n; i++, number /= base)
		text[i] = letters[number % base];
	text[n] = '\0';
}

Test(glob, agrees_with_the_definition_for_all_short_ones)
{
	char glob[6], text[6];

	for (unsigned g = 0; g < 4 * 4 * 4 * 4 * 4; g++) {
		spell(glob, 5, g, "ab*?");
		for (unsigned t = 0; t < 32; t++) {
			spell(text, 5, t, "ab");
			cr_assert_eq(matches(glob, text), matches_slowly(glob, text),
				     "%s of %s", glob, text);
		}
	}
}

Test(glob, of_very_many_stars_takes_no_longer_than_the_product)
{
	const size_t n = 100000;
	char *glob = malloc(2 * n + 1), text[513];

	cr_assert_not_null(glob);
	for (size_t i = 0; i < n; i++)
		memcpy(glob + 2 * i, "*a", 2);
	glob[2 * n] = '\0';
	memset(text, 'a', 512);
	text[512] = '\0';
	cr_expect(!matches(glob, text), "it wants more than there is");
	memset(glob, '*', 2 * n);
	cr_expect(matches(glob, text));
	free(glob);
}

#include <criterion/criterion.h>
#include <string.h>

#include "proto/base/argv.h"

enum { DEADLINE = MSD_ARGV_NO_LETTER, JSON };

static const struct option rows[] = {{"deadline", required_argument, NULL, DEADLINE},
				     {"json", no_argument, NULL, JSON},
				     {"host", required_argument, NULL, 'H'},
				     {"help", no_argument, NULL, 'h'},
				     {"listen", optional_argument, NULL, 'l'},
				     {0}};

static bool is_number(const char *text)
{
	return text[1] >= '0' && text[1] <= '9';
}

static struct msd_argv line;
static char *words[16];

static void start(const char *const *given)
{
	int n = 1;

	words[0] = (char *)(uintptr_t) "modser";
	for (; given[n - 1] != NULL; n++)
		words[n] = (char *)(uintptr_t)given[n - 1];
	words[n] = NULL;
	msd_argv_start(&line, n, words, rows, is_number);
}
#define START(...) start((const char *const[]){__VA_ARGS__, NULL})

static void expect_next(int val, const char *value)
{
	const char *got;

	cr_assert_eq(msd_argv_next(&line, &got), val, "%s", got);
	cr_assert((got == NULL) == (value == NULL), "%s", got);
	if (value != NULL)
		cr_assert_str_eq(got, value);
}

Test(argv, options_and_words_come_in_their_order)
{
	START("call", "-H", "there", "f", "--json", "x");
	expect_next(MSD_ARGV_WORD, "call");
	expect_next('H', "there");
	expect_next(MSD_ARGV_WORD, "f");
	expect_next(JSON, NULL);
	expect_next(MSD_ARGV_WORD, "x");
	expect_next(MSD_ARGV_END, NULL);
}

Test(argv, numbers_are_words_but_for_a_value)
{
	START("-17", "-H", "-1", "-2", "--deadline", "-3");
	expect_next(MSD_ARGV_WORD, "-17");
	expect_next('H', "-1");
	expect_next(MSD_ARGV_WORD, "-2");
	expect_next(DEADLINE, "-3");
	expect_next(MSD_ARGV_END, NULL);
}

Test(argv, a_value_stands_behind_its_option_or_in_its_word)
{
	START("--deadline=5", "-Hthere", "--host=", "--deadline", "--json");
	expect_next(DEADLINE, "5");
	expect_next('H', "there");
	expect_next('H', "");
	expect_next(DEADLINE, "--json");
	expect_next(MSD_ARGV_END, NULL);
}

Test(argv, a_name_that_is_cut_short_is_no_option)
{
	START("--dead", "5");
	expect_next(MSD_ARGV_UNKNOWN, "--dead");
	START("--dead=5");
	expect_next(MSD_ARGV_UNKNOWN, "--dead=5");
	START("--js");
	expect_next(MSD_ARGV_UNKNOWN, "--js");
	START("--dead");
	expect_next(MSD_ARGV_UNKNOWN, "--dead");
	START("--h"); /* of two */
	expect_next(MSD_ARGV_UNKNOWN, "--h");
}

Test(argv, what_is_unknown_is_told_as_it_stands)
{
	START("--nothing=1", "-x", "--json=1");
	expect_next(MSD_ARGV_UNKNOWN, "--nothing=1");
	expect_next(MSD_ARGV_UNKNOWN, "-x");
	expect_next(MSD_ARGV_UNKNOWN, "--json=1");
}

Test(argv, a_value_that_is_missing_is_told)
{
	START("--deadline");
	expect_next(MSD_ARGV_NO_VALUE, "--deadline");
	START("f", "-H");
	expect_next(MSD_ARGV_WORD, "f");
	expect_next(MSD_ARGV_NO_VALUE, "-H");
}

Test(argv, behind_two_dashes_everything_is_a_word)
{
	START("f", "--", "--json", "-x", "--", "-");
	expect_next(MSD_ARGV_WORD, "f");
	expect_next(MSD_ARGV_WORD, "--json");
	expect_next(MSD_ARGV_WORD, "-x");
	expect_next(MSD_ARGV_WORD, "--");
	expect_next(MSD_ARGV_WORD, "-");
	expect_next(MSD_ARGV_END, NULL);
}

Test(argv, a_lone_dash_is_a_word_and_a_value)
{
	START("-", "-H", "-", "");
	expect_next(MSD_ARGV_WORD, "-");
	expect_next('H', "-");
	expect_next(MSD_ARGV_WORD, "");
	expect_next(MSD_ARGV_END, NULL);
}

Test(argv, who_reads_may_take_the_next_word_as_a_value)
{
	START("--listen", "unix:/x", "--listen=y", "--listen");
	expect_next('l', NULL);
	cr_assert_str_eq(msd_argv_peek(&line), "unix:/x");
	msd_argv_skip(&line);
	expect_next('l', "y");
	expect_next('l', NULL);
	cr_assert_null(msd_argv_peek(&line));
	expect_next(MSD_ARGV_END, NULL);
}

Test(argv, a_line_is_read_from_its_begin_whatever_became_of_the_last)
{
	START("-hx");
	expect_next('h', NULL);
	START("-H", "there");
	expect_next('H', "there");
}

Test(argv, a_count_is_a_whole_number_of_at_least_one)
{
	static const char *const wrong[] = {
		"",    "0",  "-1",  "+1",         "1x",
		"0x1", " 1", "1.0", "4294967296", "99999999999999999999"};
	uint32_t n = 7;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_expect_not(msd_argv_count(wrong[i], &n), "%s", wrong[i]);
	cr_expect_eq(n, 7);
	cr_expect(msd_argv_count("4294967295", &n));
	cr_expect_eq(n, UINT32_MAX);
}

Test(argv, takes_flags_by_words_alone)
{
	bool is = false;

	cr_expect(msd_argv_flag("true", &is));
	cr_expect(is);
	cr_expect_not(msd_argv_flag("1", &is));
	cr_expect(is, "it is as it was");
	cr_expect(msd_argv_flag("no", &is));
	cr_expect_not(is);
}

#include <criterion/criterion.h>
#include <stdlib.h>

#include "daemon/loop/disabled_features.h"

Test(without, names_whole_words_between_commas)
{
	static const struct {
		const char *words;
		bool is_off;
	} cases[] = {{"plans", true},  {"other,plans", true}, {"plans,other", true},
		     {"", false},      {"plan", false},       {"plansx", false},
		     {",,", false},    {"xplans", false},     {"plan,s", false},
		     {",plans", true}, {"other", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(setenv("MODSERD_WITHOUT", cases[i].words, 1), 0);
		cr_expect_eq(msd_feature_is_disabled("plans"), cases[i].is_off, "%s",
			     cases[i].words);
	}
}

Test(without, nothing_is_off_where_nobody_asks)
{
	cr_assert_eq(unsetenv("MODSERD_WITHOUT"), 0);
	cr_assert_not(msd_feature_is_disabled("plans"));
}

#include <criterion/criterion.h>
#include <string.h>

#include "proto/base/spelling.h"

/* What is near @name of some verbs; "" for none. */
static const char *near_verb(const char *name)
{
	static const char *const verbs[] = {"ls", "load", "unload", "logs", "inspect"};
	struct msd_spelling near;

	msd_spelling_start(&near, msd_span_of(name));
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		msd_spelling_look(&near, msd_span_of(verbs[i]));
	return near.best.n > 0 ? (const char *)near.best.p : "";
}

Test(near, finds_what_was_mistyped)
{
	cr_expect_str_eq(near_verb("laod"), "load");
	cr_expect_str_eq(near_verb("unlod"), "unload");
	cr_expect_str_eq(near_verb("log"), "logs");
	cr_expect_str_eq(near_verb("lss"), "ls");
	cr_expect_str_eq(near_verb("insp"), "inspect");
}

Test(near, finds_nothing_for_what_is_far)
{
	cr_expect_str_eq(near_verb("frobnicate"), "");
	cr_expect_str_eq(near_verb("zzzz"), "");
	cr_expect_str_eq(near_verb("lxx"), "", "one letter of three is right");
	cr_expect_str_eq(near_verb(""), "");
}

Test(near, looks_at_so_many_and_no_more)
{
	struct msd_spelling near;

	msd_spelling_start(&near, msd_span_of("load"));
	for (unsigned i = 0; i < MSD_SPELLING_MOST; i++)
		msd_spelling_look(&near, msd_span_of("frobnicate"));
	msd_spelling_look(&near, msd_span_of("loads"));
	cr_expect_eq(near.best.n, 0);
}

Test(near, compares_long_names_by_their_beginning)
{
	char a[200], b[200];

	memset(a, 'a', sizeof(a));
	memset(b, 'a', sizeof(b));
	b[150] = 'b';
	cr_expect_eq(msd_spelling_distance((struct msd_span){(uint8_t *)a, sizeof(a)},
					   (struct msd_span){(uint8_t *)b, sizeof(b)}),
		     0);
}

#include <criterion/criterion.h>
#include <string.h>

#include "proto/limits.h"
#include "proto/method.h"
#include "proto/name.h"

Test(name, valid_names_are_taken)
{
	static const char *const good[] = {"a",    "Z",   "0", "resnet-18_v1.5",
					   "a..b", "9-_."};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_assert(msd_name_valid(msd_span_of(good[i])), "%s", good[i]);
}

Test(name, others_are_refused)
{
	static const char *const bad[] = {"",          ".a",  "-a",  "_a",
					  "a/b",       "a b", "a:b", "\xc3\xa9",
					  "a\xc3\xa9", "../a"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_not(msd_name_valid(msd_span_of(bad[i])), "%s", bad[i]);
	cr_assert_not(msd_name_valid((struct msd_span){(const uint8_t *)"a\0", 2}));
}

Test(name, length_limit_is_exact)
{
	char text[MSD_MAX_NAME_BYTES + 2] = {0};

	memset(text, 'a', MSD_MAX_NAME_BYTES);
	cr_assert(msd_name_valid(msd_span_of(text)));
	text[MSD_MAX_NAME_BYTES] = 'a';
	cr_assert_not(msd_name_valid(msd_span_of(text)));
}

Test(target, splits_at_the_first_colon)
{
	struct msd_span module, function;

	cr_assert(msd_target_split(msd_span_of("add:ns::fn"), &module, &function));
	cr_assert(msd_span_is(module, "add"));
	cr_assert(msd_span_is(function, "ns::fn"));
}

Test(target, without_module_or_function_is_refused)
{
	static const char *const bad[] = {"", "add", "add:", ":fn", ":", "a b:fn"};
	struct msd_span module, function;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_not(msd_target_split(msd_span_of(bad[i]), &module, &function),
			      "%s", bad[i]);
	}
}

Test(target, function_limit_is_exact)
{
	char text[2 + MSD_MAX_FUNC_NAME_BYTES + 2] = "m:";
	struct msd_span module, function;

	memset(text + 2, 'f', MSD_MAX_FUNC_NAME_BYTES);
	cr_assert(msd_target_split(msd_span_of(text), &module, &function));
	text[2 + MSD_MAX_FUNC_NAME_BYTES] = 'f';
	cr_assert_not(msd_target_split(msd_span_of(text), &module, &function));
}

Test(method, each_is_found_by_its_name)
{
	for (int i = 0; i < MSD_M_COUNT; i++) {
		const struct msd_method_row *row = msd_method_row((enum msd_method)i);

		cr_assert_eq(msd_method_find(msd_span_of(row->name)), i);
		cr_assert_eq(row->name_bytes, strlen(row->name));
		cr_assert(strchr("SWL", row->where) != NULL);
		cr_assert_eq(row->params[0], '[');
		cr_assert_neq(row->result[0], '\0');
	}
}

Test(method, unknown_names_are_not_found)
{
	static const char *const bad[] = {"",     "cal",    "calls",
					  "CALL", "module", "module."};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_eq(msd_method_find(msd_span_of(bad[i])), MSD_M_COUNT, "%s",
			     bad[i]);
	}
	cr_assert_null(msd_method_row(MSD_M_COUNT));
}

/* The list of what a plugin brings. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "proto/words/plugin_list.h"

#define GOOD "function mine.scale\n\nkind mine_json\nengine my engine"

static msd_err read_text(const char *text, size_t n, struct msd_plugin_list *ret)
{
	struct msd_diag d = {0};
	msd_err err = msd_plugin_list_read((struct msd_span){(const uint8_t *)text, n},
					   ret, &d);

	msd_diag_finish(&d);
	return err;
}

Test(plugin_list, has_the_words_and_names_in_their_order)
{
	struct msd_plugin_list list;

	cr_assert_eq(read_text(GOOD, sizeof(GOOD), &list), MSD_OK);
	cr_assert_eq(list.n, 3);
	cr_expect_eq(list.items[0].word, MSD_PLUGIN_FUNCTION);
	cr_expect_str_eq(list.items[1].name, "mine_json");
	cr_expect_str_eq(list.items[2].name, "my engine");
	cr_expect_eq(msd_plugin_list_find(&list, MSD_PLUGIN_KIND, "mine_json"),
		     &list.items[1]);
	cr_expect_null(msd_plugin_list_find(&list, MSD_PLUGIN_SYMBOL, "mine_json"));
	cr_expect_str_eq(msd_plugin_word_name(list.items[2].word), "engine");
	msd_plugin_list_finish(&list);
}

Test(plugin_list, refuses_every_prefix_without_its_end)
{
	struct msd_plugin_list list;

	for (size_t n = 0; n < sizeof(GOOD); n++) {
		char *exact = malloc(n > 0 ? n : 1);
		cr_assert_not_null(exact);
		memcpy(exact, GOOD, n);
		cr_expect_eq(read_text(exact, n, &list), MSD_BAD_ARTIFACT);
		free(exact);
	}
}

Test(plugin_list, refuses_lines_of_another_form)
{
	static const char *const bad[] = {
		"function",       "function ", " mine",          "functions a",
		"kind a\nkind a", "kind \x01", "symbol \xc3\xa4"};
	struct msd_plugin_list list;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect_eq(read_text(bad[i], strlen(bad[i]) + 1, &list),
			     MSD_BAD_ARTIFACT, "%s", bad[i]);
	}
}

Test(plugin_list, has_bounds)
{
	const size_t n = MSD_PLUGIN_LIST_BYTES + 1u;
	char *text = calloc(1, n);
	struct msd_plugin_list list;

	cr_assert_not_null(text);
	cr_expect_eq(read_text(text, n, &list), MSD_TOO_LARGE);
	memset(text, 'a', n - 2);
	memcpy(text, "kind ", 5);
	text[5 + MSD_PLUGIN_LIST_NAME_MAX + 1] = '\0';
	cr_expect_eq(read_text(text, n - 1, &list), MSD_BAD_ARTIFACT);
	text[5 + MSD_PLUGIN_LIST_NAME_MAX] = '\0';
	cr_expect_eq(read_text(text, n - 1, &list), MSD_OK);
	cr_expect_eq(list.n, 1);
	msd_plugin_list_finish(&list);
	free(text);
}

#include <criterion/criterion.h>
#include <stdlib.h>

#include "artifact/json.h"
#include "tests/support/fail_alloc.h"

static void expect_put(json_t *json, size_t flags, const char *expected)
{
	struct msd_buf out = {0};

	msd_json_put(&out, json, flags);
	msd_buf_put_u8(&out, '\0');
	cr_assert_not(out.bad);
	cr_expect_str_eq((char *)out.p, expected);
	msd_buf_finish(&out);
}

/* The JSON string for @n bytes at @text. */
static void expect_json(const char *text, size_t n, const char *expected)
{
	expect_put(msd_json_text((struct msd_span){(const uint8_t *)text, n}),
		   JSON_ENCODE_ANY, expected);
}

Test(json, plain_text_is_quoted)
{
	expect_json("", 0, "\"\"");
	expect_json("add one", 7, "\"add one\"");
}

Test(json, what_json_forbids_is_escaped)
{
	expect_json("a\"b\\c", 5, "\"a\\\"b\\\\c\"");
	expect_json("\n\t\x01", 3, "\"\\n\\t\\u0001\"");
	expect_json("\0", 1, "\"\\u0000\"");
}

Test(json, utf8_is_kept_and_other_bytes_are_replaced)
{
	expect_json("\xc3\xa9", 2, "\"\xc3\xa9\"");
	expect_json("\xc3", 1, "\"\xef\xbf\xbd\"");
	expect_json("a\xff\xfe z", 5, "\"a\xef\xbf\xbd\xef\xbf\xbd z\"");
}

Test(json, no_text_is_null)
{
	expect_put(msd_json_string(NULL), JSON_ENCODE_ANY, "null");
}

static json_t *document(void)
{
	static char *texts[] = {(char *)(uintptr_t) "one", NULL};
	json_t *map = json_object();

	msd_json_set(&map, "texts", msd_json_texts(texts, 2));
	msd_json_set(&map, "pair",
		     json_pack("[o,o]", msd_json_string("a"), msd_json_string(NULL)));
	return map;
}

Test(json, keys_keep_their_order)
{
	expect_put(document(), JSON_COMPACT,
		   "{\"texts\":[\"one\",null],\"pair\":[\"a\",null]}");
}

Test(json, a_document_that_memory_was_short_for_makes_the_buffer_bad)
{
	long k = 0;
	bool failed = true;

	json_set_alloc_funcs(malloc, free); /* a library's own calls are not seen */
	for (; failed; k++) {
		struct msd_buf out = {0};

		msd_fail_alloc(k);
		msd_json_put(&out, document(), 0);
		failed = msd_fail_alloc_stop();
		cr_assert_eq(out.bad, failed, "allocation %ld", k);
		msd_buf_finish(&out);
	}
	cr_expect_gt(k, 10);
}

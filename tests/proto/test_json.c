#include <criterion/criterion.h>
#include <string.h>

#include "proto/base/json.h"

/* The JSON string for @n bytes at @text. */
static void expect_json(const char *text, size_t n, const char *expected)
{
	struct msd_buf out = {0};

	msd_json_str(&out, (struct msd_span){(const uint8_t *)text, n});
	msd_buf_put_u8(&out, '\0');
	cr_expect_str_eq((char *)out.p, expected);
	msd_buf_finish(&out);
}

Test(json, plain_text_is_quoted)
{
	expect_json("", 0, "\"\"");
	expect_json("add one", 7, "\"add one\"");
}

Test(json, what_json_forbids_is_escaped)
{
	expect_json("a\"b\\c", 5, "\"a\\\"b\\\\c\"");
	expect_json("\n\t\x01\x7f", 4, "\"\\n\\t\\u0001\\u007f\"");
	expect_json("\0", 1, "\"\\u0000\"");
}

Test(json, what_a_terminal_obeys_is_escaped)
{
	expect_json("a\xc2\x9b"
		    "b\xe2\x80\xae\xe2\x81\xa6"
		    "c",
		    11, "\"a\\u009bb\\u202e\\u2066c\"");
}

Test(json, a_document_of_another_writer_is_escaped_in_its_strings_alone)
{
	struct msd_buf out = {0};

	msd_json_put_shown(&out,
			   msd_span_of("{\n\t\"a\": \"\xe2\x80\xa8\xc3\xa9\x7f\"\n}"));
	msd_buf_put_u8(&out, '\0');
	cr_expect_str_eq((char *)out.p, "{\n\t\"a\": \"\\u2028\xc3\xa9\\u007f\"\n}");
	msd_buf_finish(&out);
}

Test(json, utf8_is_kept_and_other_bytes_are_replaced)
{
	expect_json("\xc3\xa9", 2, "\"\xc3\xa9\"");
	expect_json("\xc3", 1, "\"\\ufffd\"");
	expect_json("a\xff\xfe z", 5, "\"a\\ufffd\\ufffd z\"");
}

Test(json, no_text_is_null)
{
	struct msd_buf out = {0};

	msd_json_cstr(&out, NULL);
	cr_expect_eq(out.n, 4);
	cr_expect_arr_eq(out.p, "null", 4);
	msd_buf_finish(&out);
}

Test(json, parts_are_counted_outside_of_strings)
{
	struct msd_json_parts n;

	msd_json_count(msd_span_of("{\"a{[:,\\\"\":[1,{},[[]]],\"b\":2}"), &n);
	cr_expect_eq(n.n_objects, 2);
	cr_expect_eq(n.n_arrays, 3);
	cr_expect_eq(n.n_pairs, 2);
	cr_expect_eq(n.n_commas, 3);
	cr_expect_eq(n.depth, 4);
}

Test(json, parts_of_what_is_no_json_are_counted)
{
	struct msd_json_parts n;

	msd_json_count(msd_span_of("]]}[[\"\\"), &n);
	cr_expect_eq(n.depth, 2);
	msd_json_count(msd_span_of("\"["), &n);
	cr_expect_eq(n.n_arrays, 0);
	msd_json_count((struct msd_span){0}, &n);
	cr_expect_eq(n.depth, 0);
}

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/infer_ask.h"
#include "daemon/http/infer_data.h"
#include "daemon/http/infer_json.h"

static struct msd_infer_ask ask;
static uint8_t bytes[64];

static msd_err read_behind(const char *text, uint64_t behind)
{
	return msd_infer_ask_read(&ask, msd_span_of(text), behind, NULL);
}

static void finish(void)
{
	msd_infer_ask_finish(&ask);
}

static void expect_refused(const char *text)
{
	cr_expect_eq(read_behind(text, 4), MSD_BAD_REQUEST, "%s", text);
	cr_expect(ask.kept == NULL && ask.values.p == NULL, "nothing is kept");
}

#define INPUT(more) "{\"inputs\":[{\"name\":\"a\",\"datatype\":\"INT8\"," more "}]}"

Test(infer_ask, has_its_inputs_outputs_and_parameters, .fini = finish)
{
	cr_assert_eq(
		read_behind("{\"id\":\"7\",\"inputs\":[{\"name\":\"a\",\"datatype\":"
			    "\"FP32\",\"shape\":[2,1],\"data\":[1,2]},{\"name\":"
			    "\"b\",\"datatype\":\"INT8\",\"shape\":[3],"
			    "\"parameters\":{\"binary_data_size\":3}}],\"outputs\":"
			    "[{\"name\":\"c\",\"parameters\":{\"binary_data\":"
			    "false}}],\"parameters\":{\"deadline_ms\":5,"
			    "\"binary_data_output\":true}}",
			    3),
		MSD_OK);
	cr_expect(msd_span_is(ask.id, "7"));
	cr_expect(ask.has_deadline && ask.deadline_ms == 5 && ask.is_binary);
	cr_assert(ask.n_inputs == 2 && ask.n_outputs == 1);
	cr_expect(ask.inputs[0].has_data && ask.inputs[0].bytes == 8);
	cr_expect(!ask.inputs[1].has_data && ask.inputs[1].bytes == 3);
	cr_expect(msd_span_is(ask.outputs[0].name, "c") && !ask.outputs[0].is_binary);
}

Test(infer_ask, outlives_its_text, .fini = finish)
{
	char text[] = "{\"id\":\"7\",\"inputs\":[{\"name\":\"a\",\"datatype\":"
		      "\"INT8\",\"shape\":[1],\"data\":[1]}],\"outputs\":"
		      "[{\"name\":\"cd\"},{\"name\":\"e\"}]}";

	cr_assert_eq(read_behind(text, 0), MSD_OK);
	memset(text, 'x', sizeof(text));
	cr_expect(msd_span_is(ask.id, "7"));
	cr_expect(msd_span_is(ask.outputs[0].name, "cd"));
	cr_expect(msd_span_is(ask.outputs[1].name, "e"));
	cr_expect(msd_span_is(ask.inputs[0].name, "a"));
	cr_expect_eq(ask.values.p[ask.inputs[0].from], 1);
	cr_expect_gt(msd_infer_ask_bytes(&ask), sizeof(ask.inputs[0]));
}

Test(infer_ask, inputs_lie_one_behind_the_other_in_each_place, .fini = finish)
{
	static const char *const text =
		"{\"inputs\":["
		"{\"name\":\"a\",\"datatype\":\"INT8\",\"shape\":[3],"
		"\"parameters\":{\"binary_data_size\":3}},"
		"{\"name\":\"b\",\"datatype\":\"INT8\",\"shape\":[2],\"data\":[1,2]},"
		"{\"name\":\"c\",\"datatype\":\"INT8\",\"shape\":[1],"
		"\"parameters\":{\"binary_data_size\":1}},"
		"{\"name\":\"d\",\"datatype\":\"INT8\",\"shape\":[1],\"data\":[3]}]}";

	cr_assert_eq(read_behind(text, 4), MSD_OK);
	cr_expect(ask.inputs[0].from == 0 && ask.inputs[2].from == 3);
	cr_expect(ask.inputs[1].from == 0 && ask.inputs[3].from == 2);
	cr_expect(ask.values.n == 3 && memcmp(ask.values.p, "\1\2\3", 3) == 0);
}

static bool splits(const char *field, const char *body, size_t *ret)
{
	struct msd_span text = {0}, behind = {0};
	const bool is_good = msd_infer_split(
		field != NULL ? msd_span_of(field) : (struct msd_span){0},
		msd_span_of(body), 1u << 20, &text, &behind);

	*ret = text.n;
	return is_good && text.n + behind.n == strlen(body);
}

Test(infer_split, is_where_the_field_says)
{
	size_t n;

	cr_expect(splits(NULL, "{}", &n) && n == 2);
	cr_expect(splits("2", "{}abc", &n) && n == 2);
	cr_expect(splits("0", "", &n) && n == 0);
	cr_expect(splits("02", "{}a", &n) && n == 2);
	for (const char *const *bad =
		     (const char *const[]){"", "3", "-1", "+1", " 1", "0x1", "1e0",
					   "99999999999999999999999", "2147483648",
					   NULL};
	     *bad != NULL; bad++)
		cr_expect(!splits(*bad, "{}", &n), "%s", *bad);
}

Test(infer_ask, members_that_are_null_count_as_absent, .fini = finish)
{
	cr_assert_eq(read_behind("{\"id\":null,\"parameters\":null,\"outputs\":null,"
				 "\"inputs\":[{\"name\":\"a\",\"datatype\":\"INT8\","
				 "\"shape\":[1],\"parameters\":null,\"data\":[1]}]}",
				 0),
		     MSD_OK);
	cr_expect_eq(ask.n_inputs, 1);
	cr_expect_eq(ask.n_outputs, 0);
	cr_expect_eq(ask.id.n, 0);
}

static void expect_told(const char *shape, const char *words)
{
	struct msd_infer_ask a;
	struct msd_diag d = {0};
	char text[256];

	(void)snprintf(
		text, sizeof(text),
		"{\"inputs\":[{\"name\":\"a\",\"datatype\":\"INT8\",%s\"data\":[1]}]}",
		shape);
	cr_expect_eq(msd_infer_ask_read(&a, msd_span_of(text), 0, &d), MSD_BAD_REQUEST);
	cr_expect_not_null(strstr(msd_diag_text(&d), words), "%s: %s", shape,
			   msd_diag_text(&d));
	msd_diag_finish(&d);
}

Test(infer_ask, a_wrong_shape_is_refused_by_its_own_words)
{
	expect_told("\"shape\":[3,-1],", "extent 1 of its shape is -1");
	expect_told("\"shape\":[2.0],", "extent 0 of its shape is no whole number");
	expect_told("\"shape\":[\"2\"],", "extent 0 of its shape is no whole number");
	expect_told("\"shape\":6,", "its shape is no array");
	expect_told("", "it has no shape");
	expect_told("\"shape\":null,", "it has no shape");
	expect_told("\"shape\":[4611686018427387904,4],", "more bytes than a request");
}

Test(infer_ask, of_sizes_that_do_not_fit_is_refused)
{
	expect_refused(INPUT("\"shape\":[4]"));
	expect_refused(INPUT("\"shape\":[3],\"parameters\":{\"binary_data_size\":4}"));
	expect_refused(INPUT("\"shape\":[3],\"parameters\":{\"binary_data_size\":3}"));
	expect_refused(INPUT("\"shape\":[5],\"parameters\":{\"binary_data_size\":5}"));
	expect_refused(INPUT("\"shape\":[4],\"data\":[],"
			     "\"parameters\":{\"binary_data_size\":4}"));
	expect_refused(INPUT("\"shape\":[-1],\"data\":[]"));
	expect_refused(
		INPUT("\"shape\":[4294967296,4294967296,4294967296],\"data\":[]"));
	expect_refused(INPUT("\"shape\":[4294967296],\"data\":[]"));
	expect_refused(INPUT("\"shape\":[1.5],\"data\":[]"));
}

Test(infer_ask, needs_no_data_where_there_are_no_elements, .fini = finish)
{
	static const char *const text =
		"{\"inputs\":["
		"{\"name\":\"a\",\"datatype\":\"INT8\",\"shape\":[1],\"data\":[7]},"
		"{\"name\":\"b\",\"datatype\":\"INT8\",\"shape\":[0,5]},"
		"{\"name\":\"c\",\"datatype\":\"INT8\",\"shape\":[0],\"data\":null,"
		"\"parameters\":{\"binary_data_size\":0}}]}";

	cr_assert_eq(read_behind(text, 0), MSD_OK);
	cr_expect(!ask.inputs[2].has_data && ask.inputs[2].bytes == 0);
	cr_expect(ask.inputs[1].has_data && ask.inputs[1].bytes == 0);
	cr_expect_eq(ask.inputs[1].from, 1);
}

Test(infer_ask, data_in_two_places_is_refused_where_there_are_no_elements,
     .fini = finish)
{
	expect_refused(INPUT("\"shape\":[0],\"data\":[],"
			     "\"parameters\":{\"binary_data_size\":0}"));
}

Test(infer_ask, of_what_is_not_done_is_refused)
{
	expect_refused(
		"{\"inputs\":[{\"name\":\"a\",\"datatype\":\"BYTES\",\"shape\":[1],"
		"\"data\":[\"x\"]}]}");
	expect_refused("{\"outputs\":[{\"name\":\"a\",\"parameters\":"
		       "{\"classification\":3}}]}");
	expect_refused("{\"outputs\":[{\"name\":\"a\",\"parameters\":"
		       "{\"shared_memory_region\":\"x\"}}]}");
	expect_refused("{\"outputs\":[{\"name\":\"a\"},{\"name\":\"a\"}]}");
	expect_refused("{\"parameters\":{\"deadline_ms\":4294967296}}");
	expect_refused("{\"inputs\":{}}");
	expect_refused("{\"id\":7}");
	expect_refused("{\"id\":\"a\",\"id\":\"b\"}");
	expect_refused("[]");
	expect_refused("");
}

static msd_err read_data(const char *datatype, const char *shape, const char *data)
{
	char text[256];

	msd_infer_ask_finish(&ask);
	(void)snprintf(text, sizeof(text),
		       "{\"inputs\":[{\"name\":\"a\",\"datatype\":\"%s\",\"shape\":%s,"
		       "\"data\":%s}]}",
		       datatype, shape, data);
	const msd_err err = read_behind(text, 0);
	if (err == MSD_OK && ask.values.n > 0)
		memcpy(bytes, ask.values.p, ask.values.n);
	return err;
}

/* Written again, what was read is @again. */
static void expect_again(const char *datatype, const char *shape, const char *data,
			 const char *again)
{
	struct msd_buf out = {0};

	cr_assert_eq(read_data(datatype, shape, data), MSD_OK, "%s", data);
	cr_assert_eq(msd_infer_data_write(ask.inputs[0].dtype, bytes,
					  ask.inputs[0].n_elements, 1u << 20, &out,
					  NULL),
		     MSD_OK);
	cr_expect(msd_span_is((struct msd_span){out.p, out.n}, again), "%.*s",
		  (int)out.n, (const char *)out.p);
	msd_buf_finish(&out);
}

Test(infer_data, is_the_same_after_both_ways, .fini = finish)
{
	expect_again("FP32", "[2]", "[0.1,-3]", "[0.100000001,-3]");
	expect_again("FP64", "[2]", "[0.1,1e30]", "[0.10000000000000001,1e+30]");
	expect_again("FP32", "[2]", "[-0.0,0.0]", "[-0.0,0]");
	expect_again("FP64", "[1]", "[-0.0]", "[-0.0]");
	expect_again("INT8", "[2]", "[-128,127]", "[-128,127]");
	expect_again("UINT16", "[1]", "[65535]", "[65535]");
	expect_again("INT64", "[1]", "[-9223372036854775807]",
		     "[-9223372036854775807]");
	expect_again("BOOL", "[2]", "[true,false]", "[true,false]");
	expect_again("INT8", "[2,2]", "[[1,2],[3,4]]", "[1,2,3,4]");
	expect_again("INT8", "[2,1,2]", "[[[1,2]],[[3,4]]]", "[1,2,3,4]");
	expect_again("INT8", "[2,2]", "[1,2,3,4]", "[1,2,3,4]");
	expect_again("INT8", "[2,0]", "[[],[]]", "[]");
	expect_again("INT8", "[]", "[5]", "[5]");
}

static void expect_wrong(const char *datatype, const char *shape, const char *data)
{
	cr_expect_eq(read_data(datatype, shape, data), MSD_BAD_REQUEST, "%s", data);
}

/* @part times @n within a request that would be fine; how it was refused. */
static void expect_reading(const char *part, size_t n, const char *why)
{
	const char begin[] = "{\"inputs\":[],\"more\":[", end[] = "0]}";
	char *text = calloc(1, sizeof(begin) + n * strlen(part) + sizeof(end));
	struct msd_diag d = {0};

	(void)strcpy(text, begin);
	for (size_t i = 0; i < n; i++)
		memcpy(text + sizeof(begin) - 1 + i * strlen(part), part, strlen(part));
	memcpy(text + sizeof(begin) - 1 + n * strlen(part), end, sizeof(end));
	const msd_err err = msd_infer_ask_read(&ask, msd_span_of(text), 0, &d);
	cr_expect_eq(err, why != NULL ? MSD_BAD_REQUEST : MSD_OK, "%s", part);
	cr_expect(why == NULL || strstr(msd_diag_text(&d), why) != NULL, "%s", part);
	msd_diag_finish(&d);
	free(text);
}

Test(infer_ask, what_would_take_much_to_read_is_not_read, .fini = finish)
{
	expect_reading("{},", 120000, "120001 objects");
	expect_reading("[],", 200000, "32 MiB");
	expect_reading("{\"\":0},", 100000, "binary_data");
	expect_reading("\"{[,:\",", 100000, NULL);
	finish();
	expect_reading("0,", 500000, NULL);
}

Test(infer_data, that_is_not_of_its_type_and_shape_is_refused, .fini = finish)
{
	expect_wrong("INT8", "[1]", "[128]");
	expect_wrong("UINT8", "[1]", "[-1]");
	expect_wrong("INT8", "[1]", "[1.0]");
	expect_wrong("FP32", "[1]", "[1e39]");
	expect_wrong("FP32", "[1]", "[\"1\"]");
	expect_wrong("BOOL", "[1]", "[1]");
	expect_wrong("FP16", "[1]", "[1]");
	expect_wrong("INT8", "[2]", "[1]");
	expect_wrong("INT8", "[2]", "[1,2,3]");
	expect_wrong("INT8", "[2,2]", "[[1,2],[3]]");
	expect_wrong("INT8", "[2,2]", "[[1,2],3]");
	expect_wrong("INT8", "[2,2]", "[[1,2],[3,[4]]]");
	expect_wrong("INT8", "[1]", "7");
}

Test(infer_data, that_json_cannot_say_is_refused)
{
	const float nan = __builtin_nanf("");
	struct msd_buf out = {0};

	cr_expect_eq(msd_infer_data_write((struct msd_dtype){MSD_DT_FLOAT, 32, 1},
					  (const uint8_t *)&nan, 1, 100, &out, NULL),
		     MSD_BAD_REQUEST);
	cr_expect_eq(msd_infer_data_write((struct msd_dtype){MSD_DT_BFLOAT, 16, 1},
					  bytes, 1, 100, &out, NULL),
		     MSD_BAD_REQUEST);
	msd_buf_finish(&out);
}

Test(infer_data, is_not_written_beyond_the_limit)
{
	static const uint8_t zeros[100];
	struct msd_diag d = {0};
	struct msd_buf out = {0};

	cr_expect_eq(msd_infer_data_write((struct msd_dtype){MSD_DT_UINT, 8, 1}, zeros,
					  100, 200, &out, NULL),
		     MSD_OK);
	out.n = 0;
	cr_expect_eq(msd_infer_data_write((struct msd_dtype){MSD_DT_UINT, 8, 1}, zeros,
					  100, 100, &out, &d),
		     MSD_BAD_REQUEST);
	cr_expect(out.n < 110);
	cr_expect(strstr(msd_diag_text(&d), "--max-json") != NULL);
	msd_diag_finish(&d);
	msd_buf_finish(&out);
}

/* What is said of the data @data of @datatype; "" when they are taken. */
static void expect_said(const char *datatype, const char *data, const char *said)
{
	char text[512];
	struct msd_diag d = {0};

	(void)snprintf(text, sizeof(text),
		       "{\"inputs\":[{\"name\":\"a\",\"datatype\":\"%s\",\"shape\":[1],"
		       "\"data\":[%s]}]}",
		       datatype, data);
	const msd_err err = msd_infer_ask_read(&ask, msd_span_of(text), 0, &d);
	cr_expect_str_eq(err == MSD_OK ? "" : msd_diag_text(&d), said, "%s of %s", data,
			 datatype);
	msd_diag_finish(&d);
}

static void expect_u64(const char *data, uint64_t value)
{
	expect_said("UINT64", data, "");
	cr_assert_eq(ask.values.n, 8);
	cr_expect_eq(msd_le64(ask.values.p), value, "%s", data);
	msd_infer_ask_finish(&ask);
}

Test(infer_ask, takes_all_of_uint64)
{
	expect_u64("18446744073709551615", UINT64_MAX);
	expect_u64("9223372036854775808", (uint64_t)INT64_MAX + 1);
	expect_u64("9223372036854775807", INT64_MAX);
}

Test(infer_ask, takes_integers_as_floats)
{
	double v;

	expect_said("FP64", "-36893488147419103232", "");
	memcpy(&v, ask.values.p, sizeof(v));
	cr_expect_eq(v, -36893488147419103232.0);
	msd_infer_ask_finish(&ask);
}

Test(infer_ask, names_the_tensor_of_a_number_that_is_too_large)
{
	static const char range[] =
		"input a, element 0: it is out of the range of its datatype";

	expect_said("UINT64", "18446744073709551616", range);
	expect_said("UINT64", "-9223372036854775809", range);
	expect_said("INT64", "9223372036854775808", range);
	expect_said("INT8", "99999999999999999999999", range);
	expect_said("FP64", "1e999", range);
	expect_said("FP32", "-1e999", range);
	expect_said("FP32", "1e39", range);
	expect_said("UINT64", "1e999", "input a, element 0: expected an integer");
	expect_said("BOOL", "18446744073709551615",
		    "input a, element 0: expected true or false");
}

Test(infer_ask, takes_no_text_for_a_number, .fini = finish)
{
	expect_said("UINT64", "\"18446744073709551615\"",
		    "input a, element 0: expected an integer");
	expect_said("UINT64", "\"\\u000018446744073709551615\"",
		    "input a, element 0: expected an integer");
	expect_refused("{\"inputs\":[{\"name\":\"a\",\"datatype\":\"UINT64\","
		       "\"shape\":[2],\"data\":[\"\\u00001\",18446744073709551615]}]}");
	expect_refused("{\"inputs\":[],\"id\":018446744073709551615}");
	expect_refused("{\"inputs\":[],\"x\":18446744073709551615.}");
	expect_refused("18446744073709551615");
	expect_refused("{\"inputs\":[],\"x\":18446744073709551615,\"y\":\"");
}

Test(infer_ask, says_of_a_name_with_a_nul_what_is_before_it, .fini = finish)
{
	struct msd_diag d = {0};

	cr_assert_eq(msd_infer_ask_read(
			     &ask,
			     msd_span_of("{\"inputs\":[{\"name\":\"ab\\u0000c\"}]}"), 0,
			     &d),
		     MSD_BAD_REQUEST);
	cr_expect_str_eq(msd_diag_text(&d), "input ab: its name contains a NUL");
	msd_diag_finish(&d);
}

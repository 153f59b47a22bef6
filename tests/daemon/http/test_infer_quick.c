#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "daemon/http/infer_quick.h"
#include "tests/support/fail_alloc.h"

#define INPUT(type, data)                                                              \
	"{\"inputs\":[{\"name\":\"a\",\"datatype\":\"" type                            \
	"\",\"shape\":[1],\"data\":[" data "]}]}"

static bool is_quick(const char *text, uint64_t behind)
{
	struct msd_infer_ask a;
	const bool is = msd_infer_quick_read(&a, msd_span_of(text), behind);

	if (is)
		msd_infer_ask_finish(&a);
	return is;
}

static void expect_same_number(const char *text)
{
	struct msd_infer_ask quick, other;

	cr_assert(msd_infer_quick_read(&quick, msd_span_of(text), 0), "%s", text);
	cr_assert_eq(msd_infer_ask_read(&other, msd_span_of(text), 0, NULL), MSD_OK,
		     "%s", text);
	cr_assert_eq(quick.values.n, other.values.n);
	cr_expect_eq(memcmp(quick.values.p, other.values.p, other.values.n), 0, "%s",
		     text);
	msd_infer_ask_finish(&quick);
	msd_infer_ask_finish(&other);
}

static const char *const numbers[] = {"0",
				      "-0",
				      "-0.0",
				      "1",
				      "-17",
				      "0.1",
				      "0.5e0",
				      "1e5",
				      "1E+5",
				      "1.25e-3",
				      "1e22",
				      "1e23",
				      "1e-45",
				      "1e-400",
				      "1000.5",
				      "16777217",
				      "-3.25",
				      "3.4028234e38",
				      "0.30000000000000004",
				      "9007199254740993.0",
				      "123456789012345678",
				      "-123456789012345678",
				      "0.000000000000001",
				      "99999999999999.9",
				      "3.14159265358979323846264338327950288"};

Test(infer_quick, reads_each_number_to_the_same_bits)
{
	char text[256];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		(void)snprintf(text, sizeof(text), INPUT("FP64", "%s"), numbers[i]);
		expect_same_number(text);
		(void)snprintf(text, sizeof(text), INPUT("FP32", "%s"), numbers[i]);
		expect_same_number(text);
	}
	expect_same_number(INPUT("INT8", "-128"));
	expect_same_number(INPUT("UINT8", "255"));
	expect_same_number(INPUT("UINT16", "-0"));
	expect_same_number(INPUT("INT64", "-999999999999999999"));
	expect_same_number(INPUT("BOOL", " true "));
}

static const char *const other_numbers[] = {INPUT("INT8", "128"),
					    INPUT("INT8", "-129"),
					    INPUT("UINT8", "-1"),
					    INPUT("UINT8", "256"),
					    INPUT("INT8", "1.0"),
					    INPUT("INT8", "1e1"),
					    INPUT("INT8", "01"),
					    INPUT("FP32", "01"),
					    INPUT("FP32", "1."),
					    INPUT("FP32", ".5"),
					    INPUT("FP32", "+1"),
					    INPUT("FP32", "1e"),
					    INPUT("FP32", "1e+"),
					    INPUT("FP32", "-"),
					    INPUT("FP32", "1e39"),
					    INPUT("FP64", "1e999"),
					    INPUT("FP16", "1"),
					    INPUT("BF16", "1"),
					    INPUT("BOOL", "1"),
					    INPUT("BOOL", "truee"),
					    INPUT("FP32", "nan"),
					    INPUT("FP32", "1,2"),
					    INPUT("FP32", ""),
					    INPUT("FP32", "[1]"),
					    INPUT("FP32", "1,"),
					    INPUT("FP32", "1 2"),
					    INPUT("FP32", "\"1\""),
					    INPUT("UINT64", "18446744073709551615"),
					    INPUT("FP64", "1234567890123456789")};

Test(infer_quick, leaves_other_numbers_to_the_general_reader)
{
	for (size_t i = 0; i < sizeof(other_numbers) / sizeof(*other_numbers); i++)
		cr_expect_not(is_quick(other_numbers[i], 0), "%s", other_numbers[i]);
}

#define SHAPED(shape, data)                                                            \
	"{\"inputs\":[{\"name\":\"a\",\"datatype\":\"INT8\",\"shape\":[" shape         \
	"],\"data\":" data "}]}"

Test(infer_quick, reads_nested_arrays)
{
	expect_same_number(SHAPED("2,2", "[[1,2],[3,4]]"));
	expect_same_number(SHAPED("2,1,2", " [ [ [ 1 , 2 ] ] , [[3,4]] ] "));
	expect_same_number(SHAPED("1,1,1", "[[[7]]]"));
	expect_same_number(SHAPED("3,2", "[1,2,3,4,5,6]"));
}

Test(infer_quick, leaves_other_nests_to_the_general_reader)
{
	static const char *const texts[] = {SHAPED("2,2", "[[1,2],[3]]"),
					    SHAPED("2,2", "[[1,2],[3,4,5]]"),
					    SHAPED("2,2", "[[1,2],[3,4],[5,6]]"),
					    SHAPED("2,2", "[[1,2]]"),
					    SHAPED("2,2", "[[1,2],3]"),
					    SHAPED("2,2", "[[1,2][3,4]]"),
					    SHAPED("2,2", "[[[1,2],[3,4]]]"),
					    SHAPED("2,2", "[[1,2],[3,4]"),
					    SHAPED("2,2", "[[1,2],[3,4],]"),
					    SHAPED("4", "[[1,2],[3,4]]"),
					    SHAPED("2,0", "[[],[]]")};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		cr_expect_not(is_quick(texts[i], 0), "%s", texts[i]);
}

#define A "\"name\":\"a\",\"datatype\":\"INT8\",\"shape\":[1]"
static const char *const other_texts[] = {
	"",
	"[]",
	"{",
	"{}x",
	"{\"inputs\":{}}",
	"{\"inputs\":[],\"inputs\":[]}",
	"{\"inputs\":[{" A "}]}",
	"{\"inputs\":[{" A ",\"data\":null}]}",
	"{\"inputs\":[{" A ",\"data\":[1]},]}",
	"{\"inputs\":[{" A ",\"data\":[1]}{" A ",\"data\":[1]}]}",
	"{\"inputs\":[{" A ",\"data\":[1]},{" A ",\"data\":[1]}]}",
	"{\"inputs\":[{" A ",\"data\":[1],\"name\":\"b\"}]}",
	"{\"inputs\":[{" A ",\"data\":[1],\"parameters\":{\"binary_data_size\":1}}]}",
	"{\"inputs\":[{" A ",\"data\":[1],\"more\":1}]}",
	"{\"inputs\":[{" A ",\"parameters\":{\"binary_data_size\":2}}]}",
	"{\"inputs\":[{\"name\":\"\",\"datatype\":\"INT8\",\"shape\":[1],"
	"\"data\":[1]}]}",
	"{\"inputs\":[{\"name\":\"a\\u0062\",\"datatype\":\"INT8\",\"shape\":["
	"1],"
	"\"data\":[1]}]}",
	"{\"inputs\":[],\"outputs\":[{\"name\":\"a\"},{\"name\":\"a\"}]}",
	"{\"inputs\":[],\"outputs\":[{}]}",
	"{\"inputs\":[],\"parameters\":{\"deadline_ms\":4294967296}}",
	"{\"inputs\":[],\"parameters\":{\"binary_data_output\":1}}",
	"{\"inputs\":[],\"id\":7}",
	"{\"inputs\":[],\"id\t\":\"7\"}",
	"{\"inputs\":[],\"id\":\"7 \n\"}"};

Test(infer_quick, leaves_other_texts_to_the_general_reader)
{

	for (size_t i = 0; i < sizeof(other_texts) / sizeof(*other_texts); i++)
		cr_expect_not(is_quick(other_texts[i], 0), "%s", other_texts[i]);
	cr_expect_not(is_quick("{\"inputs\":[]}", 1)); /* bytes of no input */
}

Test(infer_quick, takes_members_in_any_order_and_space_between_them)
{
	static const char text[] =
		" {\n\t\"outputs\" : [ { \"name\" : \"y\" } , {\"parameters\": "
		"{\"binary_data\": false}, \"name\":\"z\"} ] , \"inputs\" : [ { "
		"\"data\" : [ 1 , 2.5 ] , \"shape\" : [ 2 , 1 ] , \"datatype\" : "
		"\"FP64\" , \"name\" : \"x\" } ] ,\"parameters\":{\"deadline_ms\":5,"
		"\"binary_data_output\":true},\"id\":\"7\"} \r\n";
	struct msd_infer_ask a;
	double values[2];

	cr_assert(msd_infer_quick_read(&a, msd_span_of(text), 0));
	cr_assert(a.n_inputs == 1 && a.n_outputs == 2);
	cr_expect(a.inputs[0].ndim == 2 && a.inputs[0].shape[0] == 2);
	memcpy(values, a.values.p, sizeof(values));
	cr_expect(values[0] == 1 && values[1] == 2.5);
	cr_expect(a.outputs[0].is_binary && !a.outputs[1].is_binary);
	cr_expect(a.has_deadline && a.deadline_ms == 5 && msd_span_is(a.id, "7"));
	msd_infer_ask_finish(&a);
}

Test(infer_quick, takes_no_prefix)
{
	static const char text[] = INPUT("FP32", "0.5");

	cr_assert(is_quick(text, 0));
	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		struct msd_infer_ask a;
		cr_expect_not(
			msd_infer_quick_read(
				&a, (struct msd_span){(const uint8_t *)text, n}, 0),
			"%zu", n);
		cr_expect(a.inputs == NULL && a.values.p == NULL);
	}
}

Test(infer_quick, keeps_nothing_without_memory)
{
	static const char text[] = INPUT("FP32", "0.5");

	for (unsigned k = 0;; k++) {
		struct msd_infer_ask a;
		msd_fail_alloc(k);
		const bool is = msd_infer_quick_read(&a, msd_span_of(text), 0);
		const bool failed = msd_fail_alloc_stop();
		cr_assert_eq(is, !failed);
		cr_assert_eq(a.inputs != NULL, is);
		if (is)
			msd_infer_ask_finish(&a);
		if (!failed)
			break;
	}
}

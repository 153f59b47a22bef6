#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/values/word.h"

static modser_kind kind_of(const char *text, msd_err *err)
{
	struct msd_word w;

	*err = msd_word_parse(text, &w, NULL);
	modser_kind kind = w.value.kind;
	msd_word_finish(&w);
	return kind;
}

static const struct {
	const char *text;
	modser_kind kind;
} words[] = {
	{"2", MODSER_INT},
	{"-17", MODSER_INT},
	{"+5", MODSER_INT},
	{"9223372036854775807", MODSER_INT},
	{"-9223372036854775808", MODSER_INT},
	{"2.0", MODSER_FLOAT},
	{"2.", MODSER_FLOAT},
	{".5", MODSER_FLOAT},
	{"-1e-3", MODSER_FLOAT},
	{"1E+9", MODSER_FLOAT},
	{"inf", MODSER_FLOAT},
	{"-inf", MODSER_FLOAT},
	{"nan", MODSER_FLOAT},
	{"true", MODSER_BOOL},
	{"false", MODSER_BOOL},
	{"none", MODSER_NIL},
	{"str:", MODSER_STR},
	{"str:2", MODSER_STR},
	{"dtype:bfloat16", MODSER_DTYPE},
	{"device:cpu:0", MODSER_DEVICE},
	{"device:cuda:1", MODSER_DEVICE},
	{"shape:[1,2]", MODSER_SHAPE},
	{"shape:[]", MODSER_SHAPE},
	{"[1.0,2.0]", MODSER_NIL}, /* until the signature tells its dtype */
	{"float32:[1.0,2.0]", MODSER_TENSOR},
	{"x=int8:[[1],[2]]", MODSER_TENSOR},
	{"zeros:float32[2,3]", MODSER_TENSOR},
	{"zeros:float8_e4m3fn[2]", MODSER_TENSOR},
	{"ones:int8[]", MODSER_TENSOR},
	{"rand:float16[0]", MODSER_TENSOR},
	{"out:float32[2,3]", MODSER_OUT},
	{"out:float32[]", MODSER_OUT},
	{"out:float32[ 2, 3 ]", MODSER_OUT},
};

Test(word, is_of_the_kind_that_it_looks_like)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		msd_err err;

		cr_expect_eq(kind_of(words[i].text, &err), words[i].kind, "%s",
			     words[i].text);
		cr_expect_eq(err, MSD_OK, "%s", words[i].text);
	}
}

static const char *const no_words[] = {"",
				       "@",
				       "x",
				       "-",
				       ".",
				       "1e",
				       "e5",
				       "0x10",
				       "infinity",
				       "True",
				       "9223372036854775808",
				       "-9223372036854775809",
				       "1e999",
				       "dtype:float33",
				       "device:nowhere",
				       "shape:1",
				       "shape:[1,]",
				       "shape:[1,x]",
				       "shape:[1]x",
				       "out:float32",
				       "out:float33[1]",
				       "out:float32[-1]",
				       "out:float32[9223372036854775807]",
				       "out:float32[1",
				       "bytes:x",
				       "bytes:@/no/such/file",
				       "@/no/such/file.npy"};

Test(word, is_refused_when_it_is_nothing)
{
	for (size_t i = 0; i < sizeof(no_words) / sizeof(no_words[0]); i++) {
		msd_err err;

		(void)kind_of(no_words[i], &err);
		cr_expect_neq(err, MSD_OK, "%s", no_words[i]);
	}
}

Test(word, keeps_values_exactly)
{
	struct msd_word w;

	cr_assert_eq(msd_word_parse("-9223372036854775808", &w, NULL), MSD_OK);
	cr_expect_eq(w.value.as.i, INT64_MIN);
	cr_assert_eq(msd_word_parse("1e-3", &w, NULL), MSD_OK);
	cr_expect_eq(w.value.as.f, 1e-3);
	cr_assert_eq(msd_word_parse("-nan", &w, NULL), MSD_OK);
	cr_expect(isnan(w.value.as.f));
	cr_assert_eq(msd_word_parse("out:int8[2,3]", &w, NULL), MSD_OK);
	cr_expect(w.value.as.tensor.ndim == 2 && w.value.as.tensor.shape[1] == 3);
	msd_word_finish(&w);
}

Test(word, that_is_a_number_is_never_an_option)
{
	static const char *const numbers[] = {"-1",   "-1.5", "-inf",
					      "-nan", "-.5",  "-1e3"};
	static const char *const options[] = {"-", "-o", "--json", "-e5", "-1x", "-H1"};

	for (size_t i = 0; i < 6; i++) {
		cr_expect(msd_word_is_number(numbers[i]), "%s", numbers[i]);
		cr_expect_not(msd_word_is_number(options[i]), "%s", options[i]);
	}
}

Test(word, names_a_file_and_how_to_take_it)
{
	char path[] = "/tmp/msd-word-XXXXXX";
	char text[64];
	int64_t n = 1;
	struct msd_buf f = {0};
	struct msd_word w;

	msd_npy_put_header(&f, (struct msd_dtype){MSD_DT_UINT, 16, 1}, &n, 1, 2);
	msd_buf_put(&f, "\x80\x3f", 2);
	int fd = mkstemp(path);
	cr_assert_eq(write(fd, f.p, f.n), (ssize_t)f.n);
	(void)close(fd);
	(void)snprintf(text, sizeof(text), "@%s:bfloat16", path);
	cr_expect_eq(msd_word_parse(text, &w, NULL), MSD_OK);
	cr_expect_eq(w.value.as.tensor.dtype.code, MSD_DT_BFLOAT);
	msd_word_finish(&w);
	(void)snprintf(text, sizeof(text), "bytes:@%s", path);
	cr_expect_eq(msd_word_parse(text, &w, NULL), MSD_OK);
	cr_expect_eq(w.value.as.str.n, f.n);
	msd_word_finish(&w);
	(void)unlink(path);
	msd_buf_finish(&f);
}

Test(word, may_name_its_parameter)
{
	struct msd_word w;

	cr_assert_eq(msd_word_parse("input:0=2", &w, NULL), MSD_OK);
	cr_expect_str_eq(w.name, "input:0");
	cr_expect(w.value.kind == MODSER_INT && w.value.as.i == 2);
	msd_word_finish(&w);
	cr_assert_eq(msd_word_parse("str:a=b", &w, NULL), MSD_OK);
	cr_expect_null(w.name);
	cr_expect_str_eq(w.value.as.str.p, "a=b");
	msd_word_finish(&w);
	cr_assert_eq(msd_word_parse("=2", &w, NULL), MSD_BAD_REQUEST);
	msd_word_finish(&w);
	cr_assert_eq(msd_word_parse("x=", &w, NULL), MSD_BAD_REQUEST);
	msd_word_finish(&w);
}

Test(word, ones_are_one_in_every_type)
{
	static const struct {
		const char *text;
		uint64_t bits;
	} ones[] = {{"ones:float64[1]", 0x3ff0000000000000},
		    {"ones:float32[1]", 0x3f800000},
		    {"ones:float16[1]", 0x3c00},
		    {"ones:bfloat16[1]", 0x3f80},
		    {"ones:int64[1]", 1},
		    {"ones:uint8[1]", 1},
		    {"ones:bool[1]", 1}};

	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++) {
		struct msd_word w;
		uint64_t bits = 0;
		cr_assert_eq(msd_word_parse(ones[i].text, &w, NULL), MSD_OK);
		memcpy(&bits, w.value.as.tensor.data, w.value.as.tensor.bytes);
		cr_expect_eq(bits, ones[i].bits, "%s", ones[i].text);
		msd_word_finish(&w);
	}
}

Test(word, random_floats_lie_in_0_to_1_and_differ)
{
	struct msd_word w;
	const float *v;
	float sum = 0;

	cr_assert_eq(msd_word_parse("rand:float32[10,100]", &w, NULL), MSD_OK);
	v = w.value.as.tensor.data;
	for (size_t i = 0; i < 1000; i++) {
		cr_assert(v[i] >= 0 && v[i] < 1);
		sum += v[i];
	}
	cr_expect(sum > 400 && sum < 600, "%f", (double)sum);
	msd_word_finish(&w);
}

Test(word, random_integers_are_digits)
{
	struct msd_word w;
	unsigned seen = 0;

	cr_assert_eq(msd_word_parse("rand:int64[300]", &w, NULL), MSD_OK);
	const int64_t *v = w.value.as.tensor.data;
	for (size_t i = 0; i < 300; i++) {
		cr_assert(v[i] >= 0 && v[i] <= 9);
		seen |= 1u << v[i];
	}
	cr_expect_eq(seen, 0x3ffu);
	msd_word_finish(&w);
}

Test(word, small_elements_are_made_at_random_and_packed)
{
	struct msd_word w;

	cr_assert_eq(msd_word_parse("ones:int4[3]", &w, NULL), MSD_OK);
	cr_expect_eq(((const uint8_t *)w.data)[0], 0x11);
	msd_word_finish(&w);
	cr_assert_eq(msd_word_parse("ones:float8_e4m3fn[2]", &w, NULL), MSD_OK);
	cr_expect_eq(((const uint8_t *)w.data)[1], 0x38);
	msd_word_finish(&w);
	cr_assert_eq(msd_word_parse("rand:float8_e4m3fn[200]", &w, NULL), MSD_OK);
	for (size_t i = 0; i < 200; i++) /* 0x38 is 1 */
		cr_expect_lt(((const uint8_t *)w.data)[i], 0x38);
	msd_word_finish(&w);
	cr_assert_eq(msd_word_parse("rand:int4[200]", &w, NULL), MSD_OK);
	unsigned seen = 0;
	for (size_t i = 0; i < 100; i++) {
		const uint8_t two = ((const uint8_t *)w.data)[i];
		seen |= 1u << (two & 15) | 1u << (two >> 4);
	}
	cr_expect_eq(seen, 0xffu, "0 to 7, as far as the type goes");
	msd_word_finish(&w);
}

Test(word, what_only_zeros_can_be_made_of_is_said)
{
	struct msd_diag d = {0};
	struct msd_word w;

	cr_expect_eq(msd_word_parse("rand:complex64[2]", &w, &d), MSD_UNSUPPORTED);
	cr_expect_not_null(strstr(msd_diag_text(&d), "only zeros"));
	msd_word_finish(&w);
	msd_diag_finish(&d);
}

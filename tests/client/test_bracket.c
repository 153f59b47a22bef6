#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/values/bracket.h"

static const struct {
	const char *text;
	uint32_t ndim;
	int64_t shape[3];
	size_t n;
} good[] = {{"[1.0,2.0]", 1, {2}, 2},  {"[ 1 , 2 ]", 1, {2}, 2},
	    {"[]", 1, {0}, 0},         {"[[1,2],[3,4],[5,6]]", 2, {3, 2}, 6},
	    {"[[],[]]", 2, {2, 0}, 0}, {"[[[7]]]", 3, {1, 1, 1}, 1}};

Test(bracket, tells_its_shape)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct msd_bracket b;

		cr_assert_eq(msd_bracket_parse(good[i].text, &b, NULL), MSD_OK, "%s",
			     good[i].text);
		cr_expect_eq(b.ndim, good[i].ndim, "%s", good[i].text);
		cr_expect_eq(b.n, good[i].n, "%s", good[i].text);
		for (uint32_t k = 0; k < b.ndim; k++)
			cr_expect_eq(b.shape[k], good[i].shape[k], "%s", good[i].text);
		msd_bracket_finish(&b);
	}
}

Test(bracket, refuses_what_is_none)
{
	static const char *const bad[] = {
		"",       "1",           "[",        "[1",
		"[1,]",   "[,1]",        "[1]]",     "[1] x",
		"[1 2]",  "[[1],2]",     "[1,[2]]",  "[[1,2],[3]]",
		"[[],1]", "[[[1]],[2]]", "[[1],[]]", "[[],[1]]"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct msd_diag d = {0};
		struct msd_bracket b;

		cr_expect_eq(msd_bracket_parse(bad[i], &b, &d), MSD_BAD_REQUEST, "%s",
			     bad[i]);
		msd_bracket_finish(&b);
		msd_diag_finish(&d);
	}
}

Test(bracket, refuses_more_dimensions_than_a_tensor_has)
{
	char text[2 * 40 + 2];
	struct msd_bracket b;

	memset(text, '[', 40);
	memset(text + 40, ']', 40);
	text[80] = '\0';
	cr_expect_eq(msd_bracket_parse(text, &b, NULL), MSD_BAD_REQUEST);
	msd_bracket_finish(&b);
}

/* The elements of @text as @dtype; NULL: refused. */
static void *made(const char *text, const char *dtype)
{
	struct msd_bracket b;
	struct msd_dtype t;
	void *data = NULL;

	cr_assert(msd_dtype_parse(dtype, strlen(dtype), &t));
	cr_assert_eq(msd_bracket_parse(text, &b, NULL), MSD_OK);
	if (msd_bracket_make(&b, t, &data, NULL) != MSD_OK)
		data = NULL;
	msd_bracket_finish(&b);
	return data;
}

#define EXPECT_MADE(text, dtype, type, ...)                                            \
	do {                                                                           \
		const type want[] = {__VA_ARGS__};                                     \
		void *data = made(text, dtype);                                        \
		cr_assert_not_null(data, "%s as %s", text, dtype);                     \
		cr_expect_arr_eq(data, want, sizeof(want), "%s as %s", text, dtype);   \
		free(data);                                                            \
	} while (false)

Test(bracket, becomes_numbers_of_the_dtype)
{
	EXPECT_MADE("[1,2.5]", "float32", float, 1.0f, 2.5f);
	EXPECT_MADE("[1e300]", "float64", double, 1e300);
	EXPECT_MADE("[-128,127]", "int8", int8_t, -128, 127);
	EXPECT_MADE("[255]", "uint8", uint8_t, 255);
	EXPECT_MADE("[-9223372036854775808]", "int64", int64_t, INT64_MIN);
	EXPECT_MADE("[18446744073709551615]", "uint64", uint64_t, UINT64_MAX);
	EXPECT_MADE("[true,0]", "bool", uint8_t, 1, 0);
}

Test(bracket, rounds_to_the_nearest_half_float)
{
	/* 1/3; the largest; beyond it; the smallest; half of it to the even 0; nan */
	EXPECT_MADE("[0.333333333,-65504,65520,5.960464e-8,2.98e-8,nan]", "float16",
		    uint16_t, 0x3555, 0xfbff, 0x7c00, 0x0001, 0x0000, 0x7e00);
	EXPECT_MADE("[1,3.140625,1.00390625]", "bfloat16", uint16_t, 0x3f80, 0x4049,
		    0x3f80);
}

Test(bracket, packs_elements_that_fill_no_byte)
{
	EXPECT_MADE("[1,2,-1]", "int4", uint8_t, 0x21, 0x0f);
	EXPECT_MADE("[15,0,7,8]", "uint4", uint8_t, 0x0f, 0x87);
	EXPECT_MADE("[1,6,-0.5]", "float4_e2m1fn", uint8_t, 0x72, 0x09);
}

Test(bracket, rounds_to_the_nearest_float_of_8_bits)
{
	/* 17 is between 16 and 18: the even one */
	EXPECT_MADE("[1,0.5,448,nan,-2,17]", "float8_e4m3fn", uint8_t, 0x38, 0x30, 0x7e,
		    0x7f, 0xc0, 0x58);
	EXPECT_MADE("[inf,1]", "float8_e5m2", uint8_t, 0x7c, 0x3c);
}

Test(bracket, refuses_numbers_that_the_dtype_has_not)
{
	static const char *const rows[][2] = {{"[128]", "int8"},
					      {"[-129]", "int8"},
					      {"[256]", "uint8"},
					      {"[-1]", "uint8"},
					      {"[1.5]", "int32"},
					      {"[x]", "float32"},
					      {"[2]", "bool"},
					      {"[8]", "int4"},
					      {"[-9]", "int4"},
					      {"[16]", "uint4"},
					      {"[449]", "float8_e4m3fn"},
					      {"[nan]", "float4_e2m1fn"},
					      {"[1]", "complex64"},
					      {"[18446744073709551616]", "uint64"},
					      {"[9223372036854775808]", "int64"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *data = made(rows[i][0], rows[i][1]);

		cr_expect_null(data, "%s as %s", rows[i][0], rows[i][1]);
		free(data);
	}
}

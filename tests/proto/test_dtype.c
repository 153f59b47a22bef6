#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "proto/dtype.h"

static const struct {
	const char *name;
	struct msd_dtype type;
} named[] = {
	{"int8", {0, 8, 1}},
	{"int64", {0, 64, 1}},
	{"uint8", {1, 8, 1}},
	{"float16", {2, 16, 1}},
	{"float32", {2, 32, 1}},
	{"float64", {2, 64, 1}},
	{"bool", {6, 8, 1}},
	{"bfloat16", {4, 16, 1}},
	{"handle", {3, 64, 1}},
	{"complex64", {5, 64, 1}},
	{"complex128", {5, 128, 1}},
	{"int4", {0, 4, 1}},
	{"float8_e3m4", {7, 8, 1}},
	{"float8_e4m3", {8, 8, 1}},
	{"float8_e4m3b11fnuz", {9, 8, 1}},
	{"float8_e4m3fn", {10, 8, 1}},
	{"float8_e4m3fnuz", {11, 8, 1}},
	{"float8_e5m2", {12, 8, 1}},
	{"float8_e5m2fnuz", {13, 8, 1}},
	{"float8_e8m0fnu", {14, 8, 1}},
	{"float6_e2m3fn", {15, 6, 1}},
	{"float6_e3m2fn", {16, 6, 1}},
	{"float4_e2m1fn", {17, 4, 1}},
	{"float32x4", {2, 32, 4}},
	{"float8_e4m3fnx2", {10, 8, 2}},
	{"boolx65535", {6, 8, 65535}},
};

Test(dtype, names_go_both_ways)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		char buf[MSD_DTYPE_NAME_MAX];
		struct msd_dtype t;

		cr_assert(msd_dtype_parse(named[i].name, strlen(named[i].name), &t),
			  "%s", named[i].name);
		cr_assert(msd_dtype_eq(t, named[i].type), "%s", named[i].name);
		cr_assert_str_eq(msd_dtype_format(t, buf), named[i].name);
	}
}

Test(dtype, older_spellings_are_read)
{
	struct msd_dtype t;

	cr_assert(msd_dtype_parse("e4m3_float8", 11, &t));
	cr_assert_eq(t.code, MSD_DT_F8_E4M3FN);
	cr_assert(msd_dtype_parse("e5m2_float8", 11, &t));
	cr_assert_eq(t.code, MSD_DT_F8_E5M2);
}

Test(dtype, older_bool_has_the_same_name)
{
	char buf[MSD_DTYPE_NAME_MAX];

	cr_assert_str_eq(msd_dtype_format((struct msd_dtype){MSD_DT_UINT, 1, 1}, buf),
			 "bool");
}

Test(dtype, types_without_a_name_are_written_as_numbers)
{
	char buf[MSD_DTYPE_NAME_MAX];

	cr_assert_str_eq(msd_dtype_format((struct msd_dtype){99, 8, 1}, buf),
			 "type<99,8,1>");
	cr_assert_str_eq(msd_dtype_format((struct msd_dtype){2, 32, 0}, buf),
			 "type<2,32,0>");
	cr_assert_str_eq(msd_dtype_format((struct msd_dtype){255, 255, 65535}, buf),
			 "type<255,255,65535>");
}

Test(dtype, what_is_no_name_is_refused)
{
	static const char *const bad[] = {"",
					  "int",
					  "int0",
					  "int65",
					  "int032",
					  "float32x",
					  "float33",
					  "float32x0",
					  "float32x65536",
					  "x4",
					  "float32 ",
					  "Float32",
					  "float32x4x4",
					  "bool8_",
					  "int-8",
					  "float999999999999"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct msd_dtype t;

		cr_assert_not(msd_dtype_parse(bad[i], strlen(bad[i]), &t), "%s",
			      bad[i]);
	}
}

static uint64_t bytes_of(struct msd_dtype t, uint64_t n)
{
	uint64_t bytes = UINT64_MAX;

	return msd_dtype_bytes(t, n, &bytes) ? bytes : UINT64_MAX;
}

Test(dtype, bytes_round_up_to_whole_bytes)
{
	cr_assert_eq(bytes_of((struct msd_dtype){2, 32, 1}, 1000), 4000);
	cr_assert_eq(bytes_of((struct msd_dtype){2, 32, 4}, 3), 48);
	cr_assert_eq(bytes_of((struct msd_dtype){0, 4, 1}, 3), 2);
	cr_assert_eq(bytes_of((struct msd_dtype){15, 6, 1}, 9), 7);
	cr_assert_eq(bytes_of((struct msd_dtype){1, 1, 1}, 9), 9); /* older bool */
	cr_assert_eq(bytes_of((struct msd_dtype){2, 32, 1}, 0), 0);
}

Test(dtype, bytes_that_do_not_fit_are_refused)
{
	cr_assert_eq(bytes_of((struct msd_dtype){2, 64, 1}, UINT64_MAX / 8 + 1),
		     UINT64_MAX);
	cr_assert_eq(bytes_of((struct msd_dtype){0, 255, 255}, UINT64_MAX / 8),
		     UINT64_MAX);
	cr_assert_eq(bytes_of((struct msd_dtype){0, 4, 1}, UINT64_MAX),
		     UINT64_MAX / 2 + 1);
}

Test(shape, elements_multiply)
{
	uint64_t n = 0;

	cr_assert(msd_shape_elements((int64_t[]){2, 3, 4}, 3, &n));
	cr_assert_eq(n, 24);
	cr_assert(msd_shape_elements(NULL, 0, &n));
	cr_assert_eq(n, 1);
	cr_assert(msd_shape_elements((int64_t[]){0, INT64_MAX}, 2, &n));
	cr_assert_eq(n, 0);
}

Test(shape, negative_extents_and_overflow_are_refused)
{
	uint64_t n = 7;

	cr_assert_not(msd_shape_elements((int64_t[]){2, -1}, 2, &n));
	cr_assert_not(msd_shape_elements((int64_t[]){INT64_MAX, 3}, 2, &n));
	cr_assert_eq(n, 7);
}

Test(device, names_go_both_ways)
{
	static const char *const names[] = {"cpu",    "cuda",  "cuda_host", "opencl",
					    "vulkan", "metal", "rocm"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char buf[MSD_DTYPE_NAME_MAX];
		struct msd_device dev;

		cr_assert(msd_device_parse(names[i], strlen(names[i]), &dev));
		cr_assert_eq(dev.id, 0);
		cr_assert_str_eq(msd_device_type_format(dev.type, buf), names[i]);
	}
}

Test(device, ordinal_follows_a_colon)
{
	struct msd_device dev;

	cr_assert(msd_device_parse("cuda:12", 7, &dev));
	cr_assert_eq(dev.type, MSD_DEV_CUDA);
	cr_assert_eq(dev.id, 12);
	cr_assert(msd_device_parse("cpu:0", 5, &dev));
	cr_assert_eq(dev.id, 0);
}

Test(device, what_is_no_name_is_refused)
{
	static const char *const bad[] = {"",       "gpu7", "cuda:",   "cuda:-1",
					  "cuda:x", ":0",   "cuda:01", "cuda:1000000"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct msd_device dev;

		cr_assert_not(msd_device_parse(bad[i], strlen(bad[i]), &dev), "%s",
			      bad[i]);
	}
}

Test(device, unknown_types_are_written_as_numbers)
{
	char buf[MSD_DTYPE_NAME_MAX];

	cr_assert_str_eq(msd_device_type_format(15, buf), "device<15>");
	cr_assert_str_eq(msd_device_type_format(INT32_MIN, buf), "device<-2147483648>");
}

/* What tensor.fill takes for each dtype, and what it says of what it does not take. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/daemon/worker/driver.h"

static struct driver w;

/* Fill a resident of @name; what it holds then, or NULL with the error in the driver.
 */
static const void *filled(const char *name, const struct msd_wire_value *value)
{
	struct msd_buf b = {0};
	struct msd_wire_tensor there, out;
	struct msd_dtype dtype;
	const int64_t n = 3;

	cr_assert(msd_dtype_parse(name, strlen(name), &dtype));
	(void)driver_begin(&w, &b, "tensor.alloc", false);
	msd_pack_array(&b, 3);
	msd_pack_cstr(&b, "m");
	msd_pack_dtype(&b, dtype);
	msd_pack_shape(&b, &n, 1);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	driver_tensor(&w, &there);
	driver_fill(&w, &there, value);
	if (strcmp(driver_error(&w), "OK") != 0)
		return NULL;
	out = there;
	out.where = MSD_AT_OUT;
	out.handle = (struct msd_handle){0};
	(void)driver_begin(&w, &b, "tensor.copy", false);
	msd_pack_array(&b, 2);
	msd_pack_tensor(&b, &there);
	msd_pack_tensor(&b, &out);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	driver_tensor(&w, &out);
	return driver_at(&w, &out);
}

static struct msd_wire_value number(double f)
{
	return (struct msd_wire_value){.kind = MSD_K_FLOAT, .as.f = f};
}

static struct msd_wire_value integer(int64_t i)
{
	return (struct msd_wire_value){.kind = MSD_K_INT, .as.i = i};
}

static void expect_refused(const char *dtype, struct msd_wire_value v, const char *text)
{
	cr_assert_null(filled(dtype, &v), "%s", text);
	cr_expect_str_eq(driver_error(&w), "BAD_ARGUMENT");
	cr_expect_str_eq(driver_message(&w), text);
}

Test(worker_fill, what_an_integer_type_does_not_hold_is_refused_with_its_range)
{
	driver_open(&w, MSD_ZOO "calls.so");
	expect_refused("int8", integer(300),
		       "tensor.fill: a tensor of int8 is filled with integers from "
		       "-128 to 127; got 300");
	expect_refused("uint8", integer(-1),
		       "tensor.fill: a tensor of uint8 is filled with integers from 0 "
		       "to 255; got -1");
	expect_refused("int32", number(1.5),
		       "tensor.fill: a tensor of int32 is filled with integers from "
		       "-2147483648 to 2147483647; got 1.5");
	expect_refused("uint64", number(INFINITY),
		       "tensor.fill: a tensor of uint64 is filled with integers from 0 "
		       "to 18446744073709551615; got inf");
	expect_refused("bool", integer(2),
		       "tensor.fill: a tensor of bool is filled with integers from 0 "
		       "to 1; got 2");
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_fill, what_a_float_type_does_not_hold_is_refused_with_its_range)
{
	driver_open(&w, MSD_ZOO "calls.so");
	expect_refused("float32", number(1e300),
		       "tensor.fill: a tensor of float32 is filled with numbers from "
		       "-3.4028235e38 to 3.4028235e38, inf, -inf and nan; got "
		       "1e+300");
	expect_refused("float16", integer(70000),
		       "tensor.fill: a tensor of float16 is filled with numbers from "
		       "-65504 to 65504, inf, -inf and nan; got 70000");
	expect_refused("bfloat16", number(-3.4e38),
		       "tensor.fill: a tensor of bfloat16 is filled with numbers from "
		       "-3.3895314e38 to 3.3895314e38, inf, -inf and nan; got "
		       "-3.4e+38");
	expect_refused("float8_e4m3fn", number(1),
		       "tensor.fill: a tensor of float8_e4m3fn is filled with 0 alone; "
		       "got 1");
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_fill, integers_of_no_width_that_numbers_have_are_filled_with_0_alone)
{
	const struct msd_wire_value zero = integer(0);

	driver_open(&w, MSD_ZOO "calls.so");
	expect_refused("int12", integer(1),
		       "tensor.fill: a tensor of int12 is filled with 0 alone; got 1");
	expect_refused("uint20", integer(1),
		       "tensor.fill: a tensor of uint20 is filled with 0 alone; got 1");
	cr_expect_eq(((const uint8_t *)filled("int12", &zero))[4], 0);
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_fill, the_ends_of_a_range_infinities_and_nan_are_values)
{
	struct msd_wire_value v = integer(-128);

	driver_open(&w, MSD_ZOO "calls.so");
	cr_expect_eq(((const int8_t *)filled("int8", &v))[2], -128);
	v = integer(INT64_MAX);
	cr_expect_eq(((const int64_t *)filled("int64", &v))[2], INT64_MAX);
	v = number(3.4028234663852886e38);
	cr_expect(isfinite(((const float *)filled("float32", &v))[0]));
	v = number(65504);
	cr_expect_eq(((const uint16_t *)filled("float16", &v))[0], 0x7bff);
	v = number(-INFINITY);
	cr_expect_eq(((const uint16_t *)filled("float16", &v))[0], 0xfc00);
	cr_expect_eq(((const uint16_t *)filled("bfloat16", &v))[0], 0xff80);
	cr_expect(isinf(((const float *)filled("float32", &v))[0]));
	v = number(NAN);
	cr_expect(isnan(((const float *)filled("float32", &v))[0]));
	cr_expect(isnan(((const double *)filled("float64", &v))[0]));
	v = number(1e300);
	cr_expect_eq(((const double *)filled("float64", &v))[0], 1e300);
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

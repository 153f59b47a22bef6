#include <criterion/criterion.h>
#include <math.h>

#include "daemon/supervisor/module/life/self_test_case.h"

static void pack_floats(struct msd_buf *b, const float *values, size_t n)
{
	msd_pack_map(b, 3);
	msd_pack_cstr(b, "dtype");
	msd_pack_cstr(b, "float32");
	msd_pack_cstr(b, "shape");
	msd_pack_array(b, 1);
	msd_pack_uint(b, n);
	msd_pack_cstr(b, "data");
	msd_pack_bin(b, values, n * sizeof(*values));
}

/* One test of one input and one output of 33 floats, so that an offset is rounded up.
 */
static struct msd_buf one_test(void)
{
	float values[33] = {1};
	struct msd_buf b = {0};

	msd_pack_array(&b, 1);
	msd_pack_map(&b, 4);
	msd_pack_cstr(&b, "function");
	msd_pack_cstr(&b, "main");
	msd_pack_cstr(&b, "inputs");
	msd_pack_array(&b, 2);
	pack_floats(&b, values, 33);
	pack_floats(&b, values, 33);
	msd_pack_cstr(&b, "outputs");
	msd_pack_array(&b, 1);
	pack_floats(&b, values, 33);
	msd_pack_cstr(&b, "rtol");
	msd_pack_float(&b, 0.5);
	return b;
}

Test(trial_case, is_read_where_it_lies)
{
	struct msd_buf b = one_test();
	struct msd_self_test_case c;
	uint32_t n;

	cr_assert_eq(msd_self_test_check((struct msd_span){b.p, b.n}, &n, NULL),
		     MSD_OK);
	cr_assert_eq(n, 1);
	cr_assert_eq(msd_self_test_case_read((struct msd_span){b.p, b.n}, 0, &c, NULL),
		     MSD_OK);
	cr_assert(msd_span_is(c.function, "main"));
	cr_assert_eq(c.n_inputs, 2);
	cr_assert_eq(c.inputs[1].tensor.offset, 256);
	cr_assert_eq(c.outputs[0].tensor.bytes, 132);
	cr_assert_eq(c.rtol, 0.5);
	cr_assert_eq(c.atol, 0);
	msd_buf_finish(&b);
}

Test(trial_case, of_which_an_end_is_missing_is_refused)
{
	struct msd_buf b = one_test();
	uint32_t n;

	for (size_t i = 0; i < b.n; i++) {
		const struct msd_span cut = {b.p, i};
		cr_assert_neq(msd_self_test_check(cut, &n, NULL), MSD_OK, "%zu bytes",
			      i);
	}
	msd_buf_finish(&b);
}

Test(trial_case, is_one_of_those_that_are_there)
{
	struct msd_buf b = one_test();
	struct msd_self_test_case c;

	cr_assert_eq(msd_self_test_case_read((struct msd_span){b.p, b.n}, 1, &c, NULL),
		     MSD_BAD_REQUEST);
	msd_buf_finish(&b);
}

/* Of one float that must be @wanted. */
static msd_err compare(float wanted, float got, double rtol, double atol)
{
	const struct msd_self_test_value must = {
		.tensor = {.dtype = {MSD_DT_FLOAT, 32, 1}, .bytes = 4},
		.data = (const uint8_t *)&wanted};
	const struct msd_self_test_case c = {.rtol = rtol, .atol = atol};

	return msd_self_test_compare(&c, &must, &must.tensor, (const uint8_t *)&got,
				     NULL);
}

Test(trial_case, takes_what_is_within_its_tolerance)
{
	cr_expect_eq(compare(100, 101, 0.02, 0), MSD_OK);
	cr_expect_eq(compare(100, 103, 0.02, 0), MSD_MODULE_FAILED);
	cr_expect_eq(compare(0, 1e-9F, 0, 1e-8), MSD_OK);
	cr_expect_eq(compare(0, 1e-7F, 0.5, 1e-8), MSD_MODULE_FAILED);
	cr_expect_eq(compare(INFINITY, INFINITY, 0, 0), MSD_OK);
	cr_expect_eq(compare(INFINITY, -INFINITY, 0, 0), MSD_MODULE_FAILED);
	cr_expect_eq(compare(NAN, NAN, 0, 0), MSD_OK);
	cr_expect_eq(compare(1, NAN, 1, 1), MSD_MODULE_FAILED);
}

Test(trial_case, wants_the_dtype_and_the_shape_that_it_says)
{
	const uint8_t bytes[8] = {0};
	const struct msd_self_test_value must = {
		.tensor = {.dtype = {MSD_DT_INT, 32, 1},
			   .ndim = 1,
			   .shape = {2},
			   .bytes = 8},
		.data = bytes};
	const struct msd_self_test_case c = {0};
	struct msd_wire_tensor got = must.tensor;

	cr_expect_eq(msd_self_test_compare(&c, &must, &got, bytes, NULL), MSD_OK);
	got.shape[0] = 1;
	cr_expect_eq(msd_self_test_compare(&c, &must, &got, bytes, NULL),
		     MSD_MODULE_FAILED);
	got = must.tensor;
	got.dtype.code = MSD_DT_UINT;
	cr_expect_eq(msd_self_test_compare(&c, &must, &got, bytes, NULL),
		     MSD_MODULE_FAILED);
}

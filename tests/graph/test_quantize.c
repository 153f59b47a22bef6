/* Quantized numbers: what is refused. The numbers are those of ONNX's own test models
 * (onnx_suite.py). */
#include <criterion/criterion.h>

#include "tests/graph/one.h"

static const float ones[4] = {1, 1, 1, 1};
static const uint8_t zeros[4];

Test(quantize, scales_that_are_not_one_for_each_place_are_refused)
{
	struct one o = one_begin("QuantizeLinear");

	one_add_constant(&o, "float32", 4, ones, sizeof(ones));
	one_add_constant(&o, "float32", 3, ones, 3 * sizeof(float));
	(void)modser_sg_op_set_int(modser_sg_node_op(o.node), "axis", 0);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "its scale does not fit axis 0");
	one_end(&o);
}

Test(quantize, an_axis_that_is_not_there_is_refused)
{
	struct one o = one_begin("QuantizeLinear");

	one_add_constant(&o, "float32", 4, ones, sizeof(ones));
	one_add_constant(&o, "float32", 4, ones, sizeof(ones));
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "axis 1 of 1");
	one_end(&o);
}

Test(quantize, elements_wider_than_16_bits_are_not_made)
{
	static const int32_t zero[1];
	struct one o = one_begin("QuantizeLinear");

	one_add_constant(&o, "float32", 4, ones, sizeof(ones));
	one_add_constant(&o, "float32", 1, ones, sizeof(float));
	one_add_constant(&o, "int32", 1, zero, sizeof(zero));
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "only integers of 8 and 16 bits");
	one_end(&o);
}

Test(quantize, what_is_too_large_becomes_the_largest_that_there_is)
{
	static const float x[4] = {1e9f, -1e9f, 2.5f, 3.5f};
	static const uint8_t want[4] = {255, 0, 2, 4};
	struct one o = one_begin("QuantizeLinear");

	one_add_constant(&o, "float32", 4, x, sizeof(x));
	one_add_constant(&o, "float32", 1, ones, sizeof(float));
	one_add_constant(&o, "uint8", 1, zeros, 1);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK);
	cr_assert_eq(msd_plan_run(o.plan, NULL, &o.d), MSD_OK);
	cr_expect_arr_eq(msd_plan_output(o.plan, 0), want, sizeof(want));
	one_end(&o);
}

Test(quantize, a_product_of_wider_integers_is_refused)
{
	static const int32_t wide[4] = {1, 2, 3, 4};
	struct one o = one_begin("MatMulInteger");

	one_add_constant(&o, "int32", 4, wide, sizeof(wide));
	one_add_constant(&o, "uint8", 4, zeros, sizeof(zeros));
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "input 0 is not of 8-bit integers");
	one_end(&o);
}

/* Quantized numbers: what is refused, and what is more than the scale of one number.
 * The numbers of the rest are those of ONNX's own test models (onnx_suite.py). */
#include <criterion/criterion.h>

#include "tests/graph/one.h"

static const float ones[4] = {1, 1, 1, 1};
static const uint8_t zeros[4];

Test(quantize, scales_that_are_not_one_for_each_place_are_refused)
{
	struct one o = one_begin("QuantizeLinear");

	one_add_constant(&o, "float32", 4, ones);
	one_add_constant(&o, "float32", 3, ones);
	(void)modser_sg_op_set_int(modser_sg_node_op(o.node), "axis", 0);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "its scale does not fit axis 0");
	one_end(&o);
}

Test(quantize, an_axis_that_is_not_there_is_refused)
{
	struct one o = one_begin("QuantizeLinear");

	one_add_constant(&o, "float32", 4, ones);
	one_add_constant(&o, "float32", 4, ones);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "axis 1 of 1");
	one_end(&o);
}

Test(quantize, elements_wider_than_16_bits_are_not_made)
{
	static const int32_t zero[1];
	struct one o = one_begin("QuantizeLinear");

	one_add_constant(&o, "float32", 4, ones);
	one_add_constant(&o, "float32", 1, ones);
	one_add_constant(&o, "int32", 1, zero);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "only integers of 2 to 16 bits");
	one_end(&o);
}

Test(quantize, what_is_too_large_becomes_the_largest_that_there_is)
{
	static const float x[4] = {1e9f, -1e9f, 2.5f, 3.5f};
	static const uint8_t want[4] = {255, 0, 2, 4};
	struct one o = one_begin("QuantizeLinear");

	one_add_constant(&o, "float32", 4, x);
	one_add_constant(&o, "float32", 1, ones);
	one_add_constant(&o, "uint8", 1, zeros);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK);
	cr_assert_eq(msd_plan_run(o.plan, NULL, &o.d), MSD_OK);
	cr_expect_arr_eq(msd_plan_output(o.plan, 0), want, sizeof(want));
	one_end(&o);
}

Test(quantize, a_product_of_wider_integers_is_refused)
{
	static const int32_t wide[4] = {1, 2, 3, 4};
	struct one o = one_begin("MatMulInteger");

	one_add_constant(&o, "int32", 4, wide);
	one_add_constant(&o, "uint8", 4, zeros);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "input 0 is not of 8-bit integers");
	one_end(&o);
}

/* A 1 x 1 x 1 x 3 image, whose padding stands for 0 as its zero point does, and two
 * kernels of three taps, each with a scale of its own. */
Test(quantize, a_convolution_pads_with_the_zero_point_and_scales_by_channel)
{
	static const uint8_t x[3] = {11, 12, 13};
	static const uint8_t x_zero[1] = {10};
	static const int8_t w[6] = {1, 2, 3, -1, -2, -3};
	static const int8_t w_zero[2] = {0, 1};
	static const float scales[2] = {1, 0.5f};
	static const int32_t bias[2] = {4, 0};
	static const int8_t want[6] = {12, 18, 12, -6, -10, -6};
	struct one o = one_begin("QLinearConv");
	modser_sg_op *op = modser_sg_node_op(o.node);

	one_add_shaped(&o, "uint8", 4, (const int64_t[]){1, 1, 1, 3}, x);
	one_add_constant(&o, "float32", 1, ones);
	one_add_constant(&o, "uint8", 1, x_zero);
	one_add_shaped(&o, "int8", 4, (const int64_t[]){2, 1, 1, 3}, w);
	one_add_constant(&o, "float32", 2, scales);
	one_add_constant(&o, "int8", 2, w_zero);
	one_add_constant(&o, "float32", 1, ones);
	one_add_constant(&o, "int8", 1, zeros);
	one_add_constant(&o, "int32", 2, bias);
	(void)modser_sg_op_set_int(op, "kernel_w", 3);
	(void)modser_sg_op_set_int(op, "pad_w0", 1);
	(void)modser_sg_op_set_int(op, "pad_w1", 1);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK, "%s",
		     msd_diag_text(&o.d));
	cr_assert_eq(msd_plan_run(o.plan, NULL, &o.d), MSD_OK);
	const int8_t *got = msd_plan_output(o.plan, 0);
	for (size_t i = 0; i < 6; i++)
		cr_expect_eq(got[i], want[i], "%zu: %d", i, got[i]);
	one_end(&o);
}

Test(quantize, a_convolution_of_other_elements_is_refused)
{
	struct one o = one_begin("ConvInteger");

	one_add_shaped(&o, "float32", 4, (const int64_t[]){1, 1, 2, 2}, ones);
	one_add_shaped(&o, "uint8", 4, (const int64_t[]){1, 1, 1, 1}, zeros);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "input 0 is not of 8-bit integers");
	one_end(&o);
}

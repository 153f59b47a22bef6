/* What spectra and windows refuse, and where they end. The numbers of the rest are
 * those of ONNX's own test models (onnx_suite.py). */
#include <criterion/criterion.h>

#include "tests/graph/one.h"

static const float wave[] = {1, 2, 3, 4, 5, 6};

static const float *output_of(struct one *o)
{
	cr_assert_eq(msd_plan_create(o->g, &o->plan, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
	cr_assert_eq(msd_plan_run(o->plan, NULL, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
	return msd_plan_output(o->plan, 0);
}

static void expect_refused(struct one *o, const char *why)
{
	cr_expect_neq(msd_plan_create(o->g, &o->plan, &o->d), MSD_OK);
	expect_said(o, why);
	one_end(o);
}

/* A DFT of @n numbers of @parts parts each. */
static struct one dft_of(int64_t n, int64_t parts)
{
	struct one o = one_begin("DFT");
	const int64_t dims[] = {1, n, parts};

	one_add_shaped(&o, "float32", 3, dims, wave);
	return o;
}

static void set(const struct one *o, const char *param, int64_t value)
{
	cr_assert_eq(modser_sg_op_set_int(modser_sg_node_op(o->node), param, value), 0);
}

Test(signal, a_longer_transform_sees_zeros_behind_the_numbers)
{
	const int64_t length = 4;
	struct one o = dft_of(2, 1);

	one_add_shaped(&o, "int64", 0, NULL, &length);
	const float *y = output_of(&o); /* 1 + 2 w^k */
	cr_expect_eq(y[0], 3);
	cr_expect_float_eq(y[2], 1, 1e-6);
	cr_expect_float_eq(y[3], -2, 1e-6);
	cr_expect_float_eq(y[4], -1, 1e-6);
	one_end(&o);
}

Test(signal, one_side_of_complex_numbers_is_refused)
{
	struct one o = dft_of(3, 2);

	set(&o, "onesided", 1);
	expect_refused(&o, "two sides");
}

Test(signal, the_axis_of_the_parts_is_not_transformed)
{
	struct one o = dft_of(3, 2);

	set(&o, "axis", -1);
	expect_refused(&o, "its axis is none of the transform's");
}

Test(signal, a_transform_of_no_length_is_refused)
{
	const int64_t length = 0;
	struct one o = dft_of(3, 2);

	one_add_shaped(&o, "int64", 0, NULL, &length);
	expect_refused(&o, "not 1 or more");
}

/* Frames of six numbers, each @step behind the one before. */
static struct one frames_of(const int64_t *step, const int64_t *window)
{
	struct one o = one_begin("STFT");
	const int64_t dims[] = {1, 6, 1};

	one_add_shaped(&o, "float32", 3, dims, wave);
	one_add_shaped(&o, "int64", 0, NULL, step);
	one_add_constant(&o, "float32", *window, wave);
	return o;
}

Test(signal, what_is_left_behind_the_last_whole_frame_is_not_looked_at)
{
	const int64_t step = 3;
	const int64_t window = 2;
	struct one o = frames_of(&step, &window);

	set(&o, "onesided", 0);
	const float *y = output_of(&o); /* frames 1, 2 and 4, 5, weighed by 1, 2 */
	cr_expect_eq(o.node->outputs[0]->dims[1], 2);
	cr_expect_float_eq(y[0], 1 + 4, 1e-6);
	cr_expect_float_eq(y[2], 1 - 4, 1e-6);
	cr_expect_float_eq(y[4], 4 + 10, 1e-6);
	one_end(&o);
}

Test(signal, a_frame_that_is_longer_than_the_signal_is_refused)
{
	const int64_t step = 1;
	const int64_t window = 7;
	static const float more[7];
	struct one o = one_begin("STFT");
	const int64_t dims[] = {1, 6, 1};

	one_add_shaped(&o, "float32", 3, dims, wave);
	one_add_shaped(&o, "int64", 0, NULL, &step);
	one_add_constant(&o, "float32", window, more);
	expect_refused(&o, "longer than the signal");
}

Test(signal, a_step_of_no_length_is_refused)
{
	const int64_t step = 0;
	const int64_t window = 2;
	struct one o = frames_of(&step, &window);

	expect_refused(&o, "not 1 or more");
}

Test(signal, a_window_may_be_empty_or_one_number)
{
	for (int64_t n = 0; n < 2; n++) {
		struct one o = one_begin("HannWindow");

		one_add_shaped(&o, "int64", 0, NULL, &n);
		set(&o, "periodic", 0);
		(void)output_of(&o);
		cr_expect_eq(o.node->outputs[0]->dims[0], n);
		one_end(&o);
	}
}

Test(signal, a_window_of_elements_that_nobody_has_is_refused)
{
	const int64_t n = 4;
	struct one o = one_begin("HannWindow");
	const modser_sg_attr no_type = {MODSER_ATTR_STR, 0, {.s = "apples"}};

	one_add_shaped(&o, "int64", 0, NULL, &n);
	cr_assert_eq(
		modser_sg_op_set_param(modser_sg_node_op(o.node), "dtype", &no_type),
		0);
	expect_refused(&o, "apples");
}

Test(signal, the_determinant_of_no_square_is_refused)
{
	struct one o = one_begin("Det");
	const int64_t dims[] = {2, 3};

	one_add_shaped(&o, "float32", 2, dims, wave);
	expect_refused(&o, "no square matrices");
}

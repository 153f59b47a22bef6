/* Resize with antialias, beside the numbers of ONNX 1.17's own test models, which
 * Debian's do not have yet; and places that lie between two. */
#include <stdlib.h>

#include "tests/graph/one.h"

static const float square[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/* Of the square: by scales, which are floats, or to sizes. */
static struct one resize(const char *mode, const char *dtype, const void *sizes)
{
	const int64_t dims[] = {1, 1, 4, 4};
	const modser_sg_attr text = {MODSER_ATTR_STR, 0, {.s = mode}};
	struct one o = one_begin("Resize");
	modser_sg_op *op = modser_sg_node_op(o.node);

	cr_assert_eq(modser_sg_op_set_param(op, "mode", &text), 0);
	cr_assert_eq(modser_sg_op_set_int(op, "antialias", 1), 0);
	one_add_shaped(&o, "float32", 4, dims, square);
	(void)modser_sg_node_add_input(o.node, NULL);
	if (strcmp(dtype, "int64") == 0)
		(void)modser_sg_node_add_input(o.node, NULL);
	one_add_constant(&o, dtype, 4, sizes);
	return o;
}

static void expect_numbers(struct one *o, size_t n, const float *want)
{
	cr_assert_eq(msd_plan_create(o->g, &o->plan, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
	cr_assert_eq(msd_plan_run(o->plan, NULL, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
	const float *got = msd_plan_output(o->plan, 0);
	for (size_t i = 0; i < n; i++)
		cr_expect_float_eq(got[i], want[i], 1e-5f, "%zu", i);
	one_end(o);
}

static const float scales[] = {1, 1, 0.6f, 0.6f};
static const int64_t sizes[] = {1, 1, 3, 3};

Test(resize, antialias_is_a_linear_filter_as_wide_as_the_axis_shrinks)
{
	const float by_scales[] = {2.875f, 4.5f, 9.375f, 11};
	const float by_sizes[] = {2.3636363f, 3.590909f,  4.818182f,  7.2727275f, 8.5f,
				  9.727273f,  12.181818f, 13.409091f, 14.636364f};
	struct one a = resize("linear", "float32", scales);
	struct one b = resize("linear", "int64", sizes);

	expect_numbers(&a, 4, by_scales);
	expect_numbers(&b, 9, by_sizes);
}

Test(resize, antialias_is_a_cubic_filter_likewise)
{
	const float by_scales[] = {2.5180721f, 4.2858863f, 9.589329f, 11.357142f};
	const float by_sizes[] = {1.7750092f, 3.1200073f, 4.4650054f,  7.1550016f, 8.5f,
				  9.844998f,  12.534994f, 13.8799925f, 15.224991f};
	struct one a = resize("cubic", "float32", scales);
	struct one b = resize("cubic", "int64", sizes);

	expect_numbers(&a, 4, by_scales);
	expect_numbers(&b, 9, by_sizes);
}

Test(resize, antialias_changes_nothing_where_an_axis_grows)
{
	const int64_t same[] = {1, 1, 4, 4};
	struct one a = resize("cubic", "int64", same);

	expect_numbers(&a, 16, square);
}

Test(resize, antialias_of_nothing_is_nothing)
{
	const float none[] = {1, 1, 1e-40f, 0.6f};
	struct one a = resize("linear", "float32", none);

	expect_numbers(&a, 0, square);
}

/* Of @line, as many as @out says, the nearest of each place. */
static struct one of_line(const char *mode, const char *nearest, const float *line,
			  int64_t n, const int64_t *out)
{
	const modser_sg_attr of = {MODSER_ATTR_STR, 0, {.s = mode}};
	const modser_sg_attr by = {MODSER_ATTR_STR, 0, {.s = nearest}};
	struct one o = one_begin("Resize");
	modser_sg_op *op = modser_sg_node_op(o.node);

	cr_assert_eq(modser_sg_op_set_param(op, "coordinate_transformation_mode", &of),
		     0);
	cr_assert_eq(modser_sg_op_set_param(op, "nearest_mode", &by), 0);
	one_add_constant(&o, "float32", n, line);
	(void)modser_sg_node_add_input(o.node, NULL);
	(void)modser_sg_node_add_input(o.node, NULL);
	one_add_constant(&o, "int64", 1, out);
	return o;
}

/* The same of 0 .. @n - 1. */
static void expect_places(const char *mode, const char *nearest, int64_t n,
			  const int64_t *out, const float *want)
{
	static const float line[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	struct one o = of_line(mode, nearest, line, n, out);

	expect_numbers(&o, (size_t)*out, want);
}

/* 2 / (4 / 7) is 3.5, and 3.4999998 in float32. */
Test(resize, what_rounding_leaves_of_a_middle_is_rounded_like_it)
{
	const int64_t out = 4;
	const float up[] = {0, 2, 4, 5};
	const float down[] = {0, 2, 3, 5};

	expect_places("asymmetric", "round_prefer_ceil", 7, &out, up);
	expect_places("asymmetric", "round_prefer_floor", 7, &out, down);
}

/* By half_pixel the fourth of 13 / 7 places is 5, for 3.5 / (7 / 13) is less than 6.5
 * in float32; what float32 makes of the extent shifts this one to 6. */
Test(resize, half_pixel_symmetric_shifts_by_the_extent_in_float32)
{
	const int64_t out = 7;
	const float want[] = {0, 2, 4, 6, 7, 9, 11};

	expect_places("half_pixel_symmetric", "floor", 13, &out, want);
}

/* 1.25 * 559,001 is 698,751.25: no middle, however coarse float32 is there. */
Test(resize, places_far_out_are_no_middles)
{
	enum { IN = 700000, OUT = 560000 };
	const int64_t out = OUT;
	float *line = malloc(IN * sizeof(*line));

	cr_assert_not_null(line);
	for (int i = 0; i < IN; i++)
		line[i] = (float)i;
	struct one o = of_line("asymmetric", "round_prefer_ceil", line, IN, &out);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK);
	cr_assert_eq(msd_plan_run(o.plan, NULL, &o.d), MSD_OK);
	const float *got = msd_plan_output(o.plan, 0);
	for (int i = 0; i < OUT; i++) {
		const int want = (5 * i + 2) / 4; /* halves go up */

		if ((int)got[i] != want)
			cr_assert_fail("%d: %d, not %d", i, (int)got[i], want);
	}
	one_end(&o);
	free(line);
}

/* Of 49 bytes, which are all @c, or the odd numbers. */
static const uint8_t *resize_bytes(struct one *o, const char *mode, bool antialias,
				   int c, const int64_t *to)
{
	const int64_t dims[] = {1, 1, 7, 7};
	const modser_sg_attr text = {MODSER_ATTR_STR, 0, {.s = mode}};
	uint8_t bytes[49];

	*o = one_begin("Resize");
	modser_sg_op *op = modser_sg_node_op(o->node);
	for (int i = 0; i < 49; i++)
		bytes[i] = (uint8_t)(c >= 0 ? c : 2 * i + 1);
	cr_assert_eq(modser_sg_op_set_param(op, "mode", &text), 0);
	cr_assert_eq(modser_sg_op_set_int(op, "antialias", antialias), 0);
	one_add_shaped(o, "uint8", 4, dims, bytes);
	(void)modser_sg_node_add_input(o->node, NULL);
	(void)modser_sg_node_add_input(o->node, NULL);
	one_add_constant(o, "int64", 4, to);
	cr_assert_eq(msd_plan_create(o->g, &o->plan, &o->d), MSD_OK);
	cr_assert_eq(msd_plan_run(o->plan, NULL, &o->d), MSD_OK);
	return msd_plan_output(o->plan, 0);
}

static const int64_t to_5[] = {1, 1, 5, 5};
static const int64_t to_9[] = {1, 1, 9, 9};

static void expect_constant(const char *mode, bool antialias, const int64_t *to)
{
	for (int c = 0; c < 256; c++) {
		struct one o;
		const uint8_t *y = resize_bytes(&o, mode, antialias, c, to);

		for (int64_t i = 0; i < to[2] * to[3]; i++)
			cr_assert_eq(y[i], c, "%s of %d: %d", mode, c, y[i]);
		one_end(&o);
	}
}

Test(resize, an_image_of_one_number_stays_that)
{
	expect_constant("linear", false, to_9);
	expect_constant("linear", true, to_5);
	expect_constant("cubic", false, to_9);
	expect_constant("cubic", true, to_5);
}

/* The numbers of onnx.reference 1.23, whose rounding ONNX Runtime has, too. */
Test(resize, integers_are_rounded_by_a_filter)
{
	static const uint8_t linear[] = {6,  8,  11, 14, 17, 23, 26, 29, 32,
					 34, 44, 46, 49, 52, 54, 64, 66, 69,
					 72, 75, 81, 84, 87, 90, 92};
	static const uint8_t cubic[] = {4,  7,  10, 13, 15, 23, 26, 29, 32,
					35, 43, 46, 49, 52, 55, 63, 66, 69,
					72, 75, 83, 85, 88, 91, 94};
	struct one a, b;
	const uint8_t *y = resize_bytes(&a, "linear", true, -1, to_5);
	const uint8_t *z = resize_bytes(&b, "cubic", true, -1, to_5);

	cr_expect_eq(memcmp(y, linear, sizeof(linear)), 0);
	cr_expect_eq(memcmp(z, cubic, sizeof(cubic)), 0);
	one_end(&a);
	one_end(&b);
}

/* 3.5 is 3, as ONNX Runtime has it. */
Test(resize, integers_between_two_are_cut_off)
{
	static const uint8_t first[] = {1, 2, 3, 5, 7, 8, 10, 11, 13};
	struct one o;
	const uint8_t *y = resize_bytes(&o, "linear", false, -1, to_9);

	cr_expect_eq(memcmp(y, first, sizeof(first)), 0);
	one_end(&o);
}

Test(resize, a_place_between_two_is_that_in_float32)
{
	const int64_t dims[] = {4};
	const float by = 0.6f;
	const modser_sg_attr mode = {MODSER_ATTR_STR, 0, {.s = "floor"}};
	const float want[] = {1, 3};
	struct one o = one_begin("Resize");

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(o.node), "nearest_mode",
					    &mode),
		     0);
	one_add_shaped(&o, "float32", 1, dims, square);
	(void)modser_sg_node_add_input(o.node, NULL);
	one_add_constant(&o, "float32", 1, &by);
	expect_numbers(&o, 2, want);
}

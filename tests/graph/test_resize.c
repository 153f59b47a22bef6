/* Resize with antialias, beside the numbers of ONNX 1.17's own test models, which
 * Debian's do not have yet; and places that lie between two. */
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

/* 0 .. @n - 1, as many as @out says, the nearest of each place. */
static void expect_places(const char *mode, const char *nearest, int64_t n,
			  const int64_t *out, const float *want)
{
	static const float line[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
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

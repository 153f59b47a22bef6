/* What grids, columns, unpoolings and rotations refuse, and where a middle is. The
 * numbers of the rest are those of ONNX's own test models (onnx_suite.py). */
#include <criterion/criterion.h>

#include "tests/graph/one.h"

static const float numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};

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
	msd_err err = msd_plan_create(o->g, &o->plan, &o->d);

	if (err == MSD_OK)
		err = msd_plan_run(o->plan, NULL, &o->d);
	cr_expect_neq(err, MSD_OK);
	expect_said(o, why);
	one_end(o);
}

static struct one centered(const int64_t *sizes, int64_t n_sizes)
{
	struct one o = one_begin("CenterCropPad");
	const int64_t dims[] = {2, 4};

	one_add_shaped(&o, "float32", 2, dims, numbers);
	one_add_constant(&o, "int64", n_sizes, sizes);
	return o;
}

Test(places, of_an_odd_rest_more_is_behind)
{
	static const int64_t sizes[] = {5, 1};
	static const float wanted[] = {0, 2, 6, 0, 0};
	struct one o = centered(sizes, 2);
	const float *y = output_of(&o);

	for (size_t i = 0; i < 5; i++)
		cr_expect_eq(y[i], wanted[i]);
	one_end(&o);
}

/* A file may leave out the piece, or name more of them. */
Test(places, of_a_slice_are_one_piece)
{
	static const int64_t begin = 1;
	static const int64_t end = 2;
	struct one o = one_begin("Slice");

	one_add_constant(&o, "float32", 3, numbers);
	one_add_constant(&o, "int64", 1, &begin);
	one_add_constant(&o, "int64", 1, &end);
	(void)modser_sg_node_add_output(o.node, NULL);
	expect_refused(&o, "its number of pieces is not 1");
}

Test(places, around_nothing_is_padding)
{
	static const int64_t pads[] = {1, 2};
	const void *const in[] = {NULL};
	struct one o = one_begin("Pad");

	one_add_input(&o, "float32", 0);
	one_add_constant(&o, "int64", 2, pads);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK);
	cr_assert_eq(msd_plan_run(o.plan, in, &o.d), MSD_OK);
	const float *y = msd_plan_output(o.plan, 0);
	for (size_t i = 0; i < 3; i++)
		cr_expect_eq(y[i], 0);
	one_end(&o);
}

Test(places, of_nothing_is_nothing)
{
	static const int64_t sizes[] = {5, 0};
	struct one o = centered(sizes, 2);

	(void)output_of(&o);
	cr_expect_eq(o.node->outputs[0]->dims[1], 0);
	one_end(&o);
}

Test(places, a_size_below_0_is_refused)
{
	static const int64_t sizes[] = {2, -1};
	struct one o = centered(sizes, 2);

	expect_refused(&o, "size 1 cannot be");
}

Test(places, a_size_for_less_axes_than_there_are_is_refused)
{
	static const int64_t sizes[] = {2, 2};
	struct one o = centered(sizes, 1);

	expect_refused(&o, "one size for each axis");
}

static struct one columns_of(const int64_t *image, const int64_t *block)
{
	struct one o = one_begin("Col2Im");
	const int64_t dims[] = {1, 2, 4};

	one_add_shaped(&o, "float32", 3, dims, numbers);
	one_add_constant(&o, "int64", 1, image);
	one_add_constant(&o, "int64", 1, block);
	return o;
}

Test(places, elements_that_two_windows_saw_are_summed)
{
	static const int64_t image = 5;
	static const int64_t block = 2;
	static const float wanted[] = {1, 2 + 5, 3 + 6, 4 + 7, 8};
	struct one o = columns_of(&image, &block);
	const float *y = output_of(&o);

	for (size_t i = 0; i < 5; i++)
		cr_expect_eq(y[i], wanted[i]);
	one_end(&o);
}

Test(places, columns_that_do_not_fit_their_image_are_refused)
{
	static const int64_t bad[][2] = {{6, 2}, {5, 3}, {4, 2}, {INT64_MAX, 2}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct one o = columns_of(&bad[i][0], &bad[i][1]);

		expect_refused(&o, i < 3 ? "columns do not fit" : "cannot be");
	}
}

static struct one unpooled(const int64_t *indices, int64_t kernel)
{
	struct one o = one_begin("MaxUnpool");
	const int64_t dims[] = {1, 1, 2};
	const modser_sg_attr shape = {MODSER_ATTR_INTS, 1, {.ints = &kernel}};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(o.node), "kernel_shape",
					    &shape),
		     0);
	one_add_shaped(&o, "float32", 3, dims, numbers);
	one_add_shaped(&o, "int64", 3, dims, indices);
	return o;
}

Test(places, elements_go_back_to_where_they_were)
{
	static const int64_t indices[] = {2, 0};
	struct one o = unpooled(indices, 2);
	const float *y = output_of(&o);

	cr_expect_eq(y[0], 2);
	cr_expect_eq(y[1], 0);
	cr_expect_eq(y[2], 1);
	one_end(&o);
}

Test(places, an_index_that_no_place_has_is_refused)
{
	static const int64_t indices[] = {0, 3};
	struct one o = unpooled(indices, 2);

	expect_refused(&o, "index 3");
}

Test(places, a_grid_of_matrices_that_do_not_fit_is_refused)
{
	static const int64_t size[] = {1, 1, 2, 2};
	struct one o = one_begin("AffineGrid");
	const int64_t dims[] = {1, 2, 4};

	one_add_shaped(&o, "float32", 3, dims, numbers);
	one_add_constant(&o, "int64", 4, size);
	expect_refused(&o, "do not fit its size");
}

/* A place is a row of both tables. */
Test(places, a_table_of_sines_that_is_shorter_is_refused)
{
	const int64_t x[] = {1, 1, 4};
	const int64_t cosines[] = {3, 2};
	const int64_t sines[] = {2, 2};
	const int64_t places[] = {1, 1};
	const int64_t place = 2;
	struct one o = one_begin("RotaryEmbedding");

	cr_assert_eq(modser_sg_op_set_int(modser_sg_node_op(o.node), "num_heads", 1),
		     0);
	one_add_shaped(&o, "float32", 3, x, numbers);
	one_add_shaped(&o, "float32", 2, cosines, numbers);
	one_add_shaped(&o, "float32", 2, sines, numbers);
	one_add_shaped(&o, "int64", 2, places, &place);
	expect_refused(&o, "its tables differ in length");
}

Test(places, of_rows_that_no_cache_takes_are_told_by_their_axis)
{
	const int64_t cache[] = {1, 1, 2, 2};
	const int64_t rows[] = {1, 1, 1, 4};
	struct one o = one_begin("TensorScatter");

	one_add_shaped(&o, "float32", 4, cache, numbers);
	one_add_shaped(&o, "float32", 4, rows, numbers);
	expect_refused(&o, "its update does not fit axis 3");
}

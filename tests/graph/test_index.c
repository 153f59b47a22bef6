/* Operators that go by indices and by values: what they refuse, and extents that only a
 * run tells. The numbers are those of ONNX's own test models (onnx_suite.py). */
#include <criterion/criterion.h>

#include "tests/graph/one.h"

Test(index, of_a_scatter_that_is_outside_fails_the_run)
{
	static const float data[3] = {1, 2, 3};
	static const float update[1] = {9};
	const int64_t wrong[] = {3};
	const void *in[] = {wrong};
	struct one o = one_begin("Scatter");

	one_add_constant(&o, "float32", 3, data);
	one_add_input(&o, "int64", 1);
	one_add_constant(&o, "float32", 1, update);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK);
	cr_assert_eq(msd_plan_run(o.plan, in, &o.d), MSD_BAD_ARGUMENT);
	expect_said(&o, "index 3 of 3");
	one_end(&o);
}

Test(index, a_range_without_an_end_is_refused)
{
	static const float ends[3] = {0, 1, 0};
	struct one o = one_begin("Range");

	for (size_t i = 0; i < 3; i++)
		one_add_constant(&o, "float32", 1, &ends[i]);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "it has no end");
	one_end(&o);
}

Test(index, a_range_that_no_memory_holds_is_refused)
{
	static const int64_t ends[3] = {0, INT64_MAX, 1};
	struct one o = one_begin("Range");

	for (size_t i = 0; i < 3; i++)
		one_add_constant(&o, "int64", 1, &ends[i]);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	one_end(&o);
}

Test(index, places_that_are_not_zero_are_counted_in_each_run)
{
	static const float x[3][3] = {{0, 5, -1}, {0, -0.0f, 0}, {1, 1, 1}};
	static const int64_t counts[3] = {2, 0, 3};
	struct one o = one_begin("NonZero");

	one_add_input(&o, "float32", 3);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK);
	for (size_t i = 0; i < 3; i++) {
		const void *in[] = {x[i]};
		const modser_sg_tensor *y = modser_graph_output(o.g, 0);

		cr_assert_eq(msd_plan_run(o.plan, in, &o.d), MSD_OK);
		cr_expect_eq(modser_sg_tensor_dims(y)[1], counts[i]);
	}
	one_end(&o);
}

Test(index, a_tuple_longer_than_there_are_axes_is_refused)
{
	static const float data[3] = {1, 2, 3};
	static const int64_t at[2] = {0, 0};
	struct one o = one_begin("GatherND");

	one_add_constant(&o, "float32", 3, data);
	one_add_constant(&o, "int64", 2, at);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "more axes than there are");
	one_end(&o);
}

Test(index, indices_that_are_no_integers_are_refused)
{
	static const float data[3] = {1, 2, 3};
	struct one o = one_begin("GatherElements");

	one_add_constant(&o, "float32", 3, data);
	one_add_constant(&o, "float32", 3, data);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_BAD_ARTIFACT);
	expect_said(&o, "int32 or int64");
	one_end(&o);
}

/* Operators that go by indices and by values: what they refuse, and extents that only a
 * run tells. The numbers are those of ONNX's own test models (onnx_suite.py). */
#include <criterion/criterion.h>

#include "tests/graph/one.h"
#include "tests/support/fail_alloc.h"

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

		cr_assert_eq(msd_plan_run(o.plan, in, &o.d), MSD_OK);
		const modser_sg_tensor *y = msd_plan_output_tensor(o.plan, 0);
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

/* One row of @n elements, all that a Unique gives. */
static struct one begin_unique(const char *dtype, int64_t n, const void *x)
{
	struct one o = one_begin("Unique");

	for (int i = 1; i < 4; i++) {
		modser_sg_tensor *t = modser_sg_tensor_create(o.g, "more");

		(void)modser_sg_node_add_output(o.node, t);
		(void)modser_graph_add_output(o.g, t);
	}
	one_add_constant(&o, dtype, n, x);
	return o;
}

static void expect_list(const struct one *o, size_t i, const int64_t *want, size_t n)
{
	cr_assert_eq(modser_sg_tensor_dims(modser_graph_output(o->g, i))[0],
		     (int64_t)n);
	cr_expect_eq(memcmp(msd_plan_output(o->plan, i), want, n * sizeof(*want)), 0);
}

Test(index, a_zero_below_zero_is_zero_and_numbers_below_it_are_first)
{
	static const float x[] = {0, -1, -0.0f, 2, -3, -1};
	struct one o = begin_unique("float32", 6, x);

	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK);
	cr_assert_eq(msd_plan_run(o.plan, NULL, &o.d), MSD_OK);
	cr_expect_eq(memcmp(msd_plan_output(o.plan, 0), (float[]){-3, -1, 0, 2}, 16),
		     0);
	expect_list(&o, 1, (int64_t[]){4, 1, 0, 3}, 4);
	expect_list(&o, 2, (int64_t[]){2, 1, 2, 3, 0, 1}, 6);
	expect_list(&o, 3, (int64_t[]){1, 2, 2, 1}, 4);
	one_end(&o);
}

Test(index, unique_ones_are_compared_by_all_their_bytes)
{
	static const uint64_t x[] = {UINT64_MAX, 1, UINT64_C(1) << 63, 1};
	struct one o = begin_unique("uint64", 4, x);

	(void)modser_sg_op_set_int(modser_sg_node_op(o.node), "sorted", 0);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK);
	cr_assert_eq(msd_plan_run(o.plan, NULL, &o.d), MSD_OK);
	cr_expect_eq(memcmp(msd_plan_output(o.plan, 0), x, 3 * sizeof(*x)), 0);
	expect_list(&o, 1, (int64_t[]){0, 1, 2}, 3);
	expect_list(&o, 2, (int64_t[]){0, 1, 2, 1}, 4);
	one_end(&o);
}

Test(index, without_memory_nothing_is_unique)
{
	static const float x[] = {2, 1, 2};
	struct one o = begin_unique("float32", 3, x);
	bool failed = true;

	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK);
	for (long k = 0; failed; k++) {
		msd_fail_alloc(k);
		const msd_err err = msd_plan_run(o.plan, NULL, NULL);
		failed = msd_fail_alloc_stop();
		cr_assert_eq(err, failed ? MSD_NOMEM : MSD_OK, "allocation %ld", k);
	}
	one_end(&o);
}

/* Reductions of no elements: shapes are ONNX's, numbers ONNX Runtime's where it agrees
 * with ONNX's own evaluator. */
#include <math.h>

#include "graph/op/reduce/reduce.h"
#include "tests/graph/one.h"

/* A Reduction of a tensor of 2 x 0 elements over its last axis: two places. */
static struct one nothing(int64_t type, const char *dtype)
{
	static const int64_t dims[] = {2, 0};
	static const int64_t axes[] = {-1};
	const modser_sg_attr value = {MODSER_ATTR_INTS, 1, {.ints = axes}};
	struct one o = one_begin("Reduction");
	modser_sg_op *op = modser_sg_node_op(o.node);

	cr_assert_eq(modser_sg_op_set_int(op, "type", type), 0);
	cr_assert_eq(modser_sg_op_set_param(op, "axes", &value), 0);
	one_add_shaped(&o, dtype, 2, dims, NULL);
	return o;
}

static const void *run(struct one *o)
{
	cr_assert_eq(msd_plan_create(o->g, &o->plan, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
	cr_assert_eq(msd_plan_run(o->plan, NULL, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
	return msd_plan_output(o->plan, 0);
}

static void expect_both(int64_t type, const char *dtype, const void *want, size_t size)
{
	struct one o = nothing(type, dtype);
	const uint8_t *y = run(&o);

	cr_expect_eq(memcmp(y, want, size), 0, "%s of type %d", dtype, (int)type);
	cr_expect_eq(memcmp(y + size, want, size), 0);
	one_end(&o);
}

#define expect_ends(dtype, type, least, most)                                          \
	expect_both(MSD_REDUCE_MAX, (dtype), &(type){(least)}, sizeof(type));          \
	expect_both(MSD_REDUCE_MIN, (dtype), &(type){(most)}, sizeof(type))

Test(reduce, the_largest_and_the_smallest_of_nothing_are_the_ends_of_their_type)
{
	expect_ends("int8", int8_t, INT8_MIN, INT8_MAX);
	expect_ends("int16", int16_t, INT16_MIN, INT16_MAX);
	expect_ends("int32", int32_t, INT32_MIN, INT32_MAX);
	expect_ends("int64", int64_t, INT64_MIN, INT64_MAX);
	expect_ends("uint8", uint8_t, 0, UINT8_MAX);
	expect_ends("uint16", uint16_t, 0, UINT16_MAX);
	expect_ends("uint32", uint32_t, 0, UINT32_MAX);
	expect_ends("uint64", uint64_t, 0, UINT64_MAX);
	expect_ends("bool", uint8_t, 0, 1);
	expect_ends("float32", float, -INFINITY, INFINITY);
	expect_ends("float64", double, -(double)INFINITY, (double)INFINITY);
	expect_ends("float16", uint16_t, 0xfc00, 0x7c00);
	expect_ends("bfloat16", uint16_t, 0xff80, 0x7f80);
}

Test(reduce, each_sum_of_nothing_is_what_it_begins_with)
{
	static const int64_t zeros[] = {MSD_REDUCE_SUM, MSD_REDUCE_L1, MSD_REDUCE_L2,
					MSD_REDUCE_SQUARES};

	for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++) {
		expect_both(zeros[i], "float32", &(float){0}, 4);
		expect_both(zeros[i], "int32", &(int32_t){0}, 4);
	}
	expect_both(MSD_REDUCE_PROD, "float32", &(float){1}, 4);
	expect_both(MSD_REDUCE_PROD, "int32", &(int32_t){1}, 4);
}

Test(reduce, a_logarithm_of_nothing_is_below_all_numbers)
{
	static const int64_t types[] = {MSD_REDUCE_LOG_SUM, MSD_REDUCE_LOG_SUM_EXP};

	for (size_t i = 0; i < 2; i++) {
		expect_both(types[i], "float32", &(float){-INFINITY}, 4);
		expect_both(types[i], "int32", &(int32_t){INT32_MIN}, 4);
		expect_both(types[i], "int64", &(int64_t){INT64_MIN}, 8);
	}
}

Test(reduce, a_mean_of_nothing_is_no_number)
{
	struct one o = nothing(MSD_REDUCE_MEAN, "float32");

	cr_expect(isnan(*(const float *)run(&o)));
	one_end(&o);
	expect_both(MSD_REDUCE_MEAN, "int32", &(int32_t){0}, 4);
}

static float log_sum_exp(const float x[2])
{
	static const int64_t two = 2;
	struct one o = one_begin("Reduction");

	cr_assert_eq(modser_sg_op_set_int(modser_sg_node_op(o.node), "type",
					  MSD_REDUCE_LOG_SUM_EXP),
		     0);
	one_add_shaped(&o, "float32", 1, &two, x);
	const float y = *(const float *)run(&o);
	one_end(&o);
	return y;
}

Test(reduce, what_is_no_number_stays_so_in_a_logarithm)
{
	cr_expect(isnan(log_sum_exp((const float[]){NAN, NAN})));
	cr_expect(isnan(log_sum_exp((const float[]){-INFINITY, NAN})));
	cr_expect_eq(log_sum_exp((const float[]){-INFINITY, -INFINITY}), -INFINITY);
}

Test(reduce, a_mean_of_large_uint64_is_not_taken_for_a_negative_one)
{
	static const int64_t two = 2;
	const uint64_t x[] = {UINT64_C(1) << 63, UINT64_C(1) << 62};
	struct one o = one_begin("Reduction");

	cr_assert_eq(modser_sg_op_set_int(modser_sg_node_op(o.node), "type",
					  MSD_REDUCE_MEAN),
		     0);
	one_add_shaped(&o, "uint64", 1, &two, x);
	cr_expect_eq(*(const uint64_t *)run(&o), UINT64_C(3) << 61);
	one_end(&o);
}

static msd_err search(struct one *o, const char *op, const int64_t dims[2])
{
	*o = one_begin(op);
	one_add_shaped(o, "float32", 2, dims, NULL); /* over axis 0 */
	return msd_plan_create(o->g, &o->plan, &o->d);
}

Test(reduce, a_search_in_nothing_is_refused_when_a_place_is_asked_for)
{
	static const char *const ops[] = {"ArgMax", "ArgMin"};
	struct one o;

	for (size_t i = 0; i < 2; i++) {
		cr_expect_eq(search(&o, ops[i], (const int64_t[]){0, 2}),
			     MSD_BAD_ARTIFACT);
		expect_said(&o, "there is nothing to search");
		one_end(&o);
		cr_assert_eq(search(&o, ops[i], (const int64_t[]){0, 0}), MSD_OK, "%s",
			     msd_diag_text(&o.d));
		cr_expect_eq(modser_sg_tensor_dims(modser_graph_output(o.g, 0))[0], 1);
		one_end(&o);
	}
}

/* tvm.contrib.sort.*: destination-passing sorts along an axis. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/runtime/relax/builtin_support.h"

static const struct msd_dtype int32 = {MSD_DT_INT, 32, 1};
static const struct msd_dtype float16 = {MSD_DT_FLOAT, 16, 1};

static struct msd_any filled(struct msd_dtype t, const int64_t *dim, size_t n,
			     const void *v)
{
	struct msd_any x = tensor(t, dim, n);

	memcpy(msd_any_dltensor(&x)->data, v, msd_dltensor_bytes(msd_any_dltensor(&x)));
	return x;
}

static const void *data_of(const struct call *c, int i)
{
	return msd_any_dltensor(&c->args[i])->data;
}

Test(sort, argsort_is_stable_in_both_directions)
{
	static const float v[] = {2, 1, 2, 0, 1};
	static const int64_t want[][5] = {{0, 2, 1, 4, 3}, {3, 1, 4, 0, 2}};

	for (int ascend = 0; ascend <= 1; ascend++) {
		struct call c = {0};

		push(&c, filled(float32, (const int64_t[]){5}, 1, v));
		push(&c, tensor(int64, (const int64_t[]){5}, 1));
		PUSH_INTS(&c, -1, ascend);
		expect_ok(&c, "tvm.contrib.sort.argsort");
		cr_assert_arr_eq(data_of(&c, 1), want[ascend], sizeof(want[0]));
		finish(&c);
	}
}

Test(sort, argsort_writes_indices_of_float_dtypes)
{
	static const int64_t v[] = {30, 10, 20};
	static const float want[] = {1, 2, 0};
	struct call c = {0};

	push(&c, filled(int64, (const int64_t[]){3}, 1, v));
	push(&c, tensor(float32, (const int64_t[]){3}, 1));
	PUSH_INTS(&c, 0, 1);
	expect_ok(&c, "tvm.contrib.sort.argsort");
	cr_assert_arr_eq(data_of(&c, 1), want, sizeof(want));
	finish(&c);
}

Test(sort, sort_goes_along_an_inner_axis)
{
	static const int32_t v[] = {5, 1, 3, 2, 4, 0, -1, 7, 8, 6, 9, 2};
	static const int32_t want[] = {3, 0, 4, 1, 5, 2, -1, 2, 8, 6, 9, 7};
	const int64_t dim[] = {2, 3, 2};
	struct call c = {0};

	push(&c, filled(int32, dim, 3, v));
	push(&c, tensor(int32, dim, 3));
	PUSH_INTS(&c, 1, 1);
	expect_ok(&c, "tvm.contrib.sort.sort");
	cr_assert_arr_eq(data_of(&c, 1), want, sizeof(want));
	finish(&c);
}

Test(sort, sort_reads_half_floats)
{
	static const uint16_t v[] = {0x3c00, 0xbc00, 0x4000, 0x0001}; /* 1 -1 2 tiny */
	static const uint16_t want[] = {0x4000, 0x3c00, 0x0001,
					0xbc00}; /* 2 1 tiny -1 */
	struct call c = {0};

	push(&c, filled(float16, (const int64_t[]){4}, 1, v));
	push(&c, tensor(float16, (const int64_t[]){4}, 1));
	PUSH_INTS(&c, 0, 0);
	expect_ok(&c, "tvm.contrib.sort.sort");
	cr_assert_arr_eq(data_of(&c, 1), want, sizeof(want));
	finish(&c);
}

Test(sort, thousands_of_elements_come_out_sorted)
{
	enum { N = 5000 };
	struct call c = {0};

	push(&c, tensor(int64, (const int64_t[]){N}, 1));
	push(&c, tensor(int64, (const int64_t[]){N}, 1));
	int64_t *v = msd_any_dltensor(&c.args[0])->data;
	for (int64_t i = 0; i < N; i++)
		v[i] = i * 2654435761 % 1009;
	PUSH_INTS(&c, 0, 1);
	expect_ok(&c, "tvm.contrib.sort.argsort");
	const int64_t *index = data_of(&c, 1);
	for (int i = 1; i < N; i++) {
		const int64_t a = index[i - 1];
		const int64_t b = index[i];

		cr_assert(v[a] < v[b] || (v[a] == v[b] && a < b), "at %d", i);
	}
	finish(&c);
}

Test(sort, topk_gives_values_and_indices)
{
	static const float v[] = {1, 5, 5, 2, 9, 3, 9, 0};
	static const float values[] = {5, 5, 9, 9};
	static const int32_t indices[] = {1, 2, 0, 2};
	struct call c = {0};

	push(&c, filled(float32, (const int64_t[]){2, 4}, 2, v));
	push(&c, tensor(float32, (const int64_t[]){2, 2}, 2));
	push(&c, tensor(int32, (const int64_t[]){2, 2}, 2));
	PUSH_INTS(&c, 2, -1);
	push(&c, text("both"));
	push(&c, msd_bool(false));
	expect_ok(&c, "tvm.contrib.sort.topk");
	cr_assert_arr_eq(data_of(&c, 1), values, sizeof(values));
	cr_assert_arr_eq(data_of(&c, 2), indices, sizeof(indices));
	finish(&c);
}

Test(sort, topk_of_zero_is_all_of_them)
{
	static const float v[] = {1, 5, -5};
	static const int64_t want[] = {2, 0, 1};
	struct call c = {0};

	push(&c, filled(float32, (const int64_t[]){3}, 1, v));
	push(&c, tensor(int64, (const int64_t[]){3}, 1));
	PUSH_INTS(&c, 0, 0);
	push(&c, text("indices"));
	push(&c, msd_int(1));
	expect_ok(&c, "tvm.contrib.sort.topk");
	cr_assert_arr_eq(data_of(&c, 1), want, sizeof(want));
	finish(&c);
}

/* TVM's comparisons, so its places: a NaN stays where it is compared as equal. */
Test(sort, nans_do_not_lose_elements)
{
	static const float v[] = {3, NAN, 1, NAN, 2, 0, 7, 6, NAN, 5};
	int seen = 0;
	struct call c = {0};

	push(&c, filled(float32, (const int64_t[]){10}, 1, v));
	push(&c, tensor(int64, (const int64_t[]){10}, 1));
	PUSH_INTS(&c, 0, 1);
	expect_ok(&c, "tvm.contrib.sort.argsort");
	for (int i = 0; i < 10; i++)
		seen |= 1 << ((const int64_t *)data_of(&c, 1))[i];
	cr_assert_eq(seen, 0x3ff);
	finish(&c);
}

Test(sort, argsort_nms_leaves_the_rest_in_place)
{
	static const float v[] = {1, 2, 3, 4, 5, 6};
	static const int32_t count[] = {2, 3};
	static const int32_t want[] = {1, 0, 2, 2, 1, 0};
	struct call c = {0};

	push(&c, filled(float32, (const int64_t[]){2, 3}, 2, v));
	push(&c, filled(int32, (const int64_t[]){2}, 1, count));
	push(&c, tensor(int32, (const int64_t[]){2, 3}, 2));
	PUSH_INTS(&c, 1, 0);
	expect_ok(&c, "tvm.contrib.sort.argsort_nms");
	cr_assert_arr_eq(data_of(&c, 2), want, sizeof(want));
	finish(&c);
}

Test(sort, argsort_nms_refuses_more_than_a_lane_has)
{
	static const int32_t count[] = {2, 4};
	struct call c = {0};

	push(&c, tensor(float32, (const int64_t[]){2, 3}, 2));
	memset(msd_any_dltensor(&c.args[0])->data, 0, 24);
	push(&c, filled(int32, (const int64_t[]){2}, 1, count));
	push(&c, tensor(int32, (const int64_t[]){2, 3}, 2));
	PUSH_INTS(&c, 1, 0);
	expect_error(&c, "tvm.contrib.sort.argsort_nms",
		     "ValueError: 4 elements to sort in a lane of 3");
}

Test(sort, an_axis_outside_is_refused)
{
	struct call c = {0};

	push(&c, x34());
	push(&c, x34());
	PUSH_INTS(&c, 2, 1);
	expect_error(&c, "tvm.contrib.sort.sort",
		     "ValueError: Axis out of boundary for input ndim 2");
}

Test(sort, an_output_that_is_too_small_is_refused)
{
	struct call c = {0};

	push(&c, x34());
	push(&c, tensor(int64, (const int64_t[]){3, 3}, 2));
	PUSH_INTS(&c, 1, 1);
	expect_error(&c, "tvm.contrib.sort.argsort",
		     "ValueError: argument 1: expected 3 x 4 x 1 elements");
}

Test(sort, a_dtype_that_is_no_number_is_refused)
{
	const struct msd_dtype complex64 = {MSD_DT_COMPLEX, 64, 1};
	struct call c = {0};

	push(&c, tensor(complex64, (const int64_t[]){3}, 1));
	push(&c, tensor(int64, (const int64_t[]){3}, 1));
	PUSH_INTS(&c, 0, 1);
	expect_error(&c, "tvm.contrib.sort.argsort",
		     "TypeError: Unsupported input dtype: complex64");
}

/* relax.run.nonzero, relax.run.unique and relax.run.shape_to_tensor: results whose size
 * the values tell. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/runtime/relax/builtin_support.h"
#include "tests/runtime/relax/vm_tree.h"

static struct msd_any filled(struct msd_dtype t, const int64_t *dim, size_t n,
			     const void *v)
{
	struct msd_any x = tensor(t, dim, n);

	memcpy(msd_any_dltensor(&x)->data, v, msd_dltensor_bytes(msd_any_dltensor(&x)));
	return x;
}

static void assert_tensor(const struct msd_any *v, struct msd_dtype t,
			  const int64_t *dim, int32_t ndim, const void *want)
{
	const struct msd_dltensor *got = msd_any_dltensor(v);

	cr_assert_not_null(got);
	cr_assert(msd_dtype_eq(got->dtype, t));
	cr_assert_eq(got->ndim, ndim);
	cr_assert_arr_eq(got->shape, dim, (size_t)ndim * sizeof(*dim));
	if (want != NULL) { /* else: no elements */
		cr_assert_arr_eq(got->data, want, msd_dltensor_bytes(got));
	} else {
		cr_assert_eq(msd_dltensor_bytes(got), 0);
	}
}

static const struct msd_any *field(const struct call *c, int64_t i)
{
	const struct msd_array *t =
		(const struct msd_array *)(const void *)c->ret.as.obj;

	cr_assert_eq(c->ret.type, MSD_T_ARRAY);
	cr_assert_lt(i, t->size);
	return &t->items[i];
}

Test(set, nonzero_names_places_row_by_row)
{
	static const float v[] = {0, 1, -0.0F, NAN, 0, 2};
	static const int64_t want[] = {0, 1, 1, 1, 0, 2};
	struct call c = {0};

	push(&c, filled(float32, (const int64_t[]){2, 3}, 2, v));
	expect_ok(&c, "relax.run.nonzero");
	assert_tensor(&c.ret, int64, (const int64_t[]){2, 3}, 2, want);
	finish(&c);
}

Test(set, nonzero_of_a_scalar_is_one_dimension)
{
	static const int64_t v = 3;
	static const int64_t want = 0;
	struct call c = {0};

	push(&c, filled(int64, NULL, 0, &v));
	expect_ok(&c, "relax.run.nonzero");
	assert_tensor(&c.ret, int64, (const int64_t[]){1, 1}, 2, &want);
	finish(&c);
}

Test(set, nonzero_of_nothing_keeps_its_rank)
{
	struct call c = {0};

	push(&c, tensor(int64, (const int64_t[]){0, 3, 2}, 3));
	expect_ok(&c, "relax.run.nonzero");
	assert_tensor(&c.ret, int64, (const int64_t[]){3, 0}, 2, NULL);
	finish(&c);
}

Test(set, unique_sorts_and_takes_nans_for_one)
{
	static const float v[] = {3, NAN, 1, 3, NAN, -2};
	static const float want[] = {-2, 1, 3, NAN};
	struct call c = {0};

	push(&c, filled(float32, (const int64_t[]){2, 3}, 2, v));
	PUSH_INTS(&c, 1, 0, 0, 0);
	expect_ok(&c, "relax.run.unique");
	assert_tensor(&c.ret, float32, (const int64_t[]){4}, 1, want);
	finish(&c);
}

Test(set, unique_unsorted_is_in_order_of_appearance)
{
	static const int64_t v[] = {2, 1, 1, 3, 4, 3};
	static const int64_t values[] = {2, 1, 3, 4};
	static const int64_t index[] = {0, 1, 3, 4};
	static const int64_t inverse[] = {0, 1, 1, 2, 3, 2};
	static const int64_t counts[] = {1, 2, 2, 1};
	const int64_t four = 4;
	struct call c = {0};

	push(&c, filled(int64, (const int64_t[]){6}, 1, v));
	PUSH_INTS(&c, 0, 1, 1, 1);
	expect_ok(&c, "relax.run.unique");
	assert_tensor(field(&c, 0), int64, &four, 1, values);
	assert_tensor(field(&c, 1), int64, &four, 1, index);
	assert_tensor(field(&c, 2), int64, (const int64_t[]){6}, 1, inverse);
	assert_tensor(field(&c, 3), int64, &four, 1, counts);
	finish(&c);
}

Test(set, unique_along_an_axis_compares_rows)
{
	static const int64_t v[] = {1, 1, 0, 2, 2,
				    5, 0, 0, 3}; /* columns 120 120 053 */
	static const int64_t want[] = {0, 1, 5, 2, 3, 0};
	struct call c = {0};

	push(&c, filled(int64, (const int64_t[]){3, 3}, 2, v));
	PUSH_INTS(&c, 1, 0, 0, 1, 1);
	expect_ok(&c, "relax.run.unique");
	assert_tensor(field(&c, 0), int64, (const int64_t[]){3, 2}, 2, want);
	assert_tensor(field(&c, 1), int64, (const int64_t[]){2}, 1,
		      (const int64_t[]){1, 2});
	finish(&c);
}

Test(set, unique_refuses_an_axis_outside)
{
	struct call c = {0};

	push(&c, x34());
	PUSH_INTS(&c, 1, 0, 0, 0, 2);
	expect_error(&c, "relax.run.unique",
		     "ValueError: axis 2 is out of bounds for array of dimension 2");
}

Test(set, unique_refuses_a_dtype_that_is_no_number)
{
	const struct msd_dtype complex64 = {MSD_DT_COMPLEX, 64, 1};
	struct call c = {0};

	push(&c, tensor(complex64, (const int64_t[]){3}, 1));
	PUSH_INTS(&c, 1, 0, 0, 0);
	expect_error(&c, "relax.run.unique",
		     "TypeError: argument 0: unsupported dtype complex64");
}

Test(set, shape_to_tensor_is_int64)
{
	static const int64_t want[] = {4, 3};
	struct call c = {0};

	push(&c, shape_value(want, 2));
	expect_ok(&c, "relax.run.shape_to_tensor");
	assert_tensor(&c.ret, int64, (const int64_t[]){2}, 1, want);
	finish(&c);
}

/* What VM functions assert about their arguments, and symbolic shapes. */
#include <criterion/criterion.h>

#include "runtime/packed/global.h"
#include "tests/runtime/relax/builtin_support.h"
#include "tests/runtime/relax/vm_tree.h"

/* check_tensor_info(x34, ndim, dtype, "CTX ") */
static void push_check(struct call *c, int64_t ndim, struct msd_any dtype)
{
	push(c, x34());
	push(c, msd_int(ndim));
	push(c, dtype);
	push(c, text("CTX "));
}

Test(builtin_check, tensor_of_expected_rank_and_dtype_passes)
{
	struct call c = {0};

	push_check(&c, 2, dtype_value(float32));
	expect_ok(&c, "vm.builtin.check_tensor_info");
	finish(&c);
	push_check(&c, -1, msd_none());
	expect_ok(&c, "vm.builtin.check_tensor_info");
	finish(&c);
}

Test(builtin_check, void_dtype_of_0_22_means_any)
{
	struct call c = {0};

	push_check(&c, 2, dtype_value((struct msd_dtype){MSD_DT_HANDLE, 0, 0}));
	expect_ok(&c, "vm.builtin.check_tensor_info");
	finish(&c);
}

Test(builtin_check, three_arguments_leave_the_dtype_out)
{
	struct call c = {0};

	push(&c, x34());
	push(&c, msd_int(2));
	push(&c, text("CTX "));
	expect_ok(&c, "vm.builtin.check_tensor_info");
	finish(&c);
}

Test(builtin_check, the_two_kinds_of_bool_are_told_apart)
{
	struct call c = {0};
	struct msd_tensor *t =
		msd_tensor_new((struct msd_dtype){MSD_DT_BOOL, 8, 1}, NULL, 0);

	push(&c, msd_of_obj(&t->obj));
	push(&c, msd_int(0));
	push(&c, dtype_value((struct msd_dtype){MSD_DT_UINT, 1, 1}));
	push(&c, text("CTX "));
	expect_error(&c, "vm.builtin.check_tensor_info",
		     "ValueError: CTX expect Tensor with dtype bool (code 1, 1 bits) "
		     "but get bool (code 6, 8 bits)");
	finish(&c);
}

Test(builtin_check, tensor_errors_quote_the_context)
{
	struct call c = {0};

	push_check(&c, 3, dtype_value(float32));
	expect_error(&c, "vm.builtin.check_tensor_info",
		     "ValueError: CTX expect Tensor with ndim 3 but get 2");
	push_check(&c, 2, dtype_value((struct msd_dtype){MSD_DT_FLOAT, 16, 1}));
	expect_error(
		&c, "vm.builtin.check_tensor_info",
		"ValueError: CTX expect Tensor with dtype float16 but get float32");
	push(&c, msd_int(5));
	PUSH_INTS(&c, 2);
	push(&c, dtype_value(float32));
	push(&c, text("CTX "));
	expect_error(&c, "vm.builtin.check_tensor_info",
		     "TypeError: CTX expect a Tensor but get int");
}

static void push_checked(struct call *c, struct msd_any x, struct msd_any want)
{
	push(c, x);
	push(c, want);
	push(c, text("CTX"));
}

Test(builtin_check, shape_by_rank)
{
	struct call c = {0};

	push_checked(&c, shape_value((const int64_t[]){1, 2}, 2), msd_int(2));
	expect_ok(&c, "vm.builtin.check_shape_info");
	finish(&c);
	push_checked(&c, shape_value((const int64_t[]){1, 2}, 2), msd_int(3));
	expect_error(&c, "vm.builtin.check_shape_info",
		     "ValueError: CTX expect Shape with ndim 3 but get 2");
	push_checked(&c, x34(), msd_int(3));
	expect_error(&c, "vm.builtin.check_shape_info",
		     "TypeError: CTX expect a Shape but get tensor");
}

Test(builtin_check, tuple_by_size)
{
	struct call c = {0};

	push_checked(&c, msd_of_obj(&msd_array_new(1)->obj), msd_int(1));
	expect_ok(&c, "vm.builtin.check_tuple_info");
	finish(&c);
	push_checked(&c, msd_of_obj(&msd_array_new(1)->obj), msd_int(2));
	expect_error(&c, "vm.builtin.check_tuple_info",
		     "ValueError: CTX expect a Tuple with 2 elements, but get a Tuple "
		     "with 1 elements");
	push_checked(&c, msd_int(1), msd_int(2));
	expect_error(&c, "vm.builtin.check_tuple_info",
		     "TypeError: CTX expect a Tuple but get int");
}

Test(builtin_check, prim_values_by_dtype)
{
	struct call c = {0};

	push_checked(&c, msd_int(5), dtype_value(int64));
	expect_ok(&c, "vm.builtin.check_prim_value_info");
	finish(&c);
	push_checked(&c, msd_float(5), dtype_value(float32));
	expect_ok(&c, "vm.builtin.check_prim_value_info");
	finish(&c);
	push_checked(&c, msd_float(5), dtype_value(int64));
	expect_error(&c, "vm.builtin.check_prim_value_info",
		     "TypeError: CTX expect a value of dtype int64 but get float");
	push_checked(&c, x34(), dtype_value(int64));
	expect_error(&c, "vm.builtin.check_prim_value_info",
		     "TypeError: CTX expect a value of dtype int64 but get tensor");
}

Test(builtin_check, functions_and_strings)
{
	struct call c = {0};
	struct msd_function *fn = msd_global_find("vm.builtin.copy");

	push(&c, (struct msd_any){.type = MSD_T_FUNCTION, .as.obj = &fn->obj});
	push(&c, text("CTX"));
	expect_ok(&c, "vm.builtin.check_func_info");
	c.args[0] = msd_int(1);
	expect_error(&c, "vm.builtin.check_func_info",
		     "TypeError: CTX expect a Function but get int");
	push(&c, text("abc"));
	push(&c, text("CTX"));
	expect_ok(&c, "vm.builtin.check_string_info");
	finish(&c);
}

/* match_shape(x34, heap(7, 8), 2, codes..., "CTX ") */
static void push_match(struct call *c, const int64_t codes[static 4])
{
	push(c, x34());
	push(c, heap_of(7, 8));
	push(c, msd_int(2));
	push_ints(c, codes, 4);
	push(c, text("CTX "));
}

Test(builtin_shape, match_stores_and_asserts)
{
	struct call c = {0};

	push_match(&c, (const int64_t[]){1, 1, 0, 4});
	expect_ok(&c, "vm.builtin.match_shape");
	cr_assert_eq(cell_of(&c.args[1], 0), 7);
	cr_assert_eq(cell_of(&c.args[1], 1), 3);
	finish(&c);
	push_match(&c, (const int64_t[]){2, 0, 2, 0});
	expect_ok(&c, "vm.builtin.match_shape");
	finish(&c);
}

Test(builtin_shape, mismatches_name_the_extent)
{
	struct call c = {0};

	push_match(&c, (const int64_t[]){0, 3, 0, 5});
	expect_error(
		&c, "vm.builtin.match_shape",
		"RuntimeError: CTX match_cast error, shape[1] mismatch to specified "
		"constant: expect 5 but get 4");
	push_match(&c, (const int64_t[]){3, 0, 0, 4});
	expect_error(
		&c, "vm.builtin.match_shape",
		"RuntimeError: CTX match_cast error, shape[0] mismatch to a previous "
		"populated value: expect 7 but get 3");
}

Test(builtin_shape, match_wants_the_rank)
{
	struct call c = {0};

	push(&c, shape_value((const int64_t[]){1}, 1));
	push(&c, msd_none());
	PUSH_INTS(&c, 2, 0, 1, 0, 1);
	push(&c, text("CTX"));
	expect_error(
		&c, "vm.builtin.match_shape",
		"RuntimeError: CTX match_cast shape size mismatch: expect 2 dimensions "
		"but get 1");
}

Test(builtin_shape, heap_indices_outside_are_refused)
{
	struct call c = {0};

	push_match(&c, (const int64_t[]){1, 2, 0, 4});
	expect_error(&c, "vm.builtin.match_shape",
		     "InternalError: shape heap index 2 is outside 0..1");
	push_match(&c, (const int64_t[]){3, -1, 0, 4});
	expect_error(&c, "vm.builtin.match_shape",
		     "InternalError: shape heap index -1 is outside 0..1");
}

Test(builtin_shape, match_with_too_few_codes_is_refused)
{
	struct call c = {0};

	push(&c, x34());
	push(&c, msd_none());
	PUSH_INTS(&c, INT64_MAX, 0, 3);
	expect_error(&c, "vm.builtin.match_shape",
		     "InternalError: fewer codes than dimensions");
}

Test(builtin_shape, prim_values_match_like_extents)
{
	struct call c = {0};

	push(&c, msd_int(5));
	push(&c, heap_of(5, 0));
	PUSH_INTS(&c, 1, 1);
	push(&c, text("CTX"));
	expect_ok(&c, "vm.builtin.match_prim_value");
	cr_assert_eq(cell_of(&c.args[1], 1), 5);
	finish(&c);
	push(&c, msd_int(5));
	push(&c, heap_of(6, 0));
	PUSH_INTS(&c, 3, 0);
	push(&c, text("CTX"));
	expect_error(&c, "vm.builtin.match_prim_value",
		     "RuntimeError: CTX match_cast error, value mismatch to a previous "
		     "populated value: expect 6 but get 5");
}

Test(builtin_shape, shapes_are_made_of_constants_and_cells)
{
	struct call c = {0};

	push(&c, heap_of(7, 8));
	PUSH_INTS(&c, 2, 1, 1, 0, 9);
	expect_ok(&c, "vm.builtin.make_shape");
	cr_assert_eq(ret_shape(&c)->ndim, 2);
	cr_assert_eq(ret_shape(&c)->dim[0], 8);
	cr_assert_eq(ret_shape(&c)->dim[1], 9);
	finish(&c);
	push(&c, heap_of(7, 8));
	PUSH_INTS(&c, 1, 0);
	expect_ok(&c, "vm.builtin.make_prim_value");
	cr_assert_eq(c.ret.as.i, 7);
	finish(&c);
}

Test(builtin_shape, scalar_shape_needs_no_heap)
{
	struct call c = {0};

	push(&c, msd_none());
	PUSH_INTS(&c, 0);
	expect_ok(&c, "vm.builtin.make_shape");
	cr_assert_eq(ret_shape(&c)->ndim, 0);
	finish(&c);
	push(&c, msd_none());
	PUSH_INTS(&c, 1, 1, 0);
	expect_error(&c, "vm.builtin.make_shape",
		     "InternalError: shape heap index 0 is outside 0..-1");
}

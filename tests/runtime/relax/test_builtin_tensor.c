/* Packed functions on tensors and tuples. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/runtime/relax/builtin_support.h"
#include "tests/runtime/relax/vm_tree.h"

/* A tensor of one element with the bytes of @v. */
static struct msd_any scalar(struct msd_dtype t, const void *v)
{
	struct msd_any x = tensor(t, NULL, 0);

	memcpy(msd_any_dltensor(&x)->data, v, t.bits >= 8 ? t.bits / 8 : 1);
	return x;
}

Test(builtin_tensor, reshape_is_a_view_that_keeps_its_source)
{
	struct call c = {0};

	push(&c, x34());
	push(&c, shape_value((const int64_t[]){4, 3}, 2));
	expect_ok(&c, "vm.builtin.reshape");
	cr_assert_eq(msd_any_dltensor(&c.ret)->data,
		     msd_any_dltensor(&c.args[0])->data);
	msd_any_drop(&c.args[0]);
	cr_assert_eq(msd_any_dltensor(&c.ret)->shape[0], 4);
	memset(msd_any_dltensor(&c.ret)->data, 1, 48); /* still there */
	finish(&c);
}

Test(builtin_tensor, reshape_cannot_grow)
{
	struct call c = {0};

	push(&c, x34());
	push(&c, shape_value((const int64_t[]){4, 4}, 2));
	expect_error(&c, "vm.builtin.reshape",
		     "ValueError: the new shape takes 64 bytes, the tensor has 48");
	push(&c, x34());
	push(&c, shape_value((const int64_t[]){-4, 3}, 2));
	expect_error(&c, "vm.builtin.reshape",
		     "ValueError: the new shape is not valid");
}

static void push_view(struct call *c, struct msd_dtype t, int64_t extent,
		      int64_t offset)
{
	push(c, x34());
	push(c, shape_value(&extent, 1));
	push(c, dtype_value(t));
	push(c, msd_int(offset));
}

Test(builtin_tensor, a_view_of_a_part_keeps_its_source)
{
	struct call c = {0};

	push_view(&c, int64, 2, 16);
	expect_ok(&c, "runtime.TVMTensorCreateView");
	const struct msd_dltensor *view = msd_any_dltensor(&c.ret);
	cr_assert_eq(view->data, msd_any_dltensor(&c.args[0])->data);
	cr_assert_eq(view->byte_offset, 16);
	msd_any_drop(&c.args[0]);
	memset((char *)view->data + 16, 1, 16); /* still there */
	finish(&c);
}

Test(builtin_tensor, a_view_stays_inside)
{
	struct call c = {0};

	push_view(&c, int64, 5, 16);
	expect_error(
		&c, "runtime.TVMTensorCreateView",
		"ValueError: a view of 40 bytes from byte 16 on: the tensor has 48");
	push_view(&c, int64, 1, -8);
	expect_error(
		&c, "runtime.TVMTensorCreateView",
		"ValueError: a view of 8 bytes from byte -8 on: the tensor has 48");
}

Test(builtin_tensor, shape_of_and_copy)
{
	struct call c = {0};

	push(&c, x34());
	expect_ok(&c, "vm.builtin.shape_of");
	cr_assert_eq(ret_shape(&c)->dim[1], 4);
	finish(&c);
	push(&c, x34());
	expect_ok(&c, "vm.builtin.copy");
	cr_assert_eq(c.ret.as.obj, c.args[0].as.obj);
	finish(&c);
}

Test(builtin_tensor, tensor_to_shape_reads_ints_of_one_dimension)
{
	struct call c = {0};

	push(&c, heap_of(5, 6));
	expect_ok(&c, "vm.builtin.tensor_to_shape");
	cr_assert_eq(ret_shape(&c)->dim[1], 6);
	finish(&c);
	push(&c, x34());
	expect_error(&c, "vm.builtin.tensor_to_shape",
		     "ValueError: expected one dimension of at most 32 elements");
	push(&c, tensor(float32, (const int64_t[]){2}, 1));
	expect_error(
		&c, "vm.builtin.tensor_to_shape",
		"TypeError: expected a tensor of integers or bools but got float32");
}

Test(builtin_tensor, conditions_are_read_from_every_int_and_both_bools)
{
	static const struct msd_dtype types[] = {
		{MSD_DT_BOOL, 8, 1}, {MSD_DT_UINT, 1, 1},  {MSD_DT_INT, 8, 1},
		{MSD_DT_INT, 16, 1}, {MSD_DT_INT, 32, 1},  {MSD_DT_INT, 64, 1},
		{MSD_DT_UINT, 8, 1}, {MSD_DT_UINT, 64, 1},
	};
	struct call c = {0};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		for (int64_t v = 0; v <= 1; v++) {
			push(&c, scalar(types[i], &v));
			expect_ok(&c, "vm.builtin.read_if_cond");
			cr_assert_eq(c.ret.type, MSD_T_BOOL);
			cr_assert_eq(c.ret.as.i, v);
			finish(&c);
		}
	}
}

Test(builtin_tensor, conditions_that_are_none)
{
	struct call c = {0};
	float v = 1;

	push(&c, scalar(float32, &v));
	expect_error(
		&c, "vm.builtin.read_if_cond",
		"TypeError: expected a tensor of integers or bools but got float32");
	push(&c, msd_none());
	expect_error(&c, "vm.builtin.read_if_cond",
		     "TypeError: argument 0: expected tensor but got none");
	push(&c, tensor(int64, (const int64_t[]){0}, 1));
	expect_error(&c, "vm.builtin.read_if_cond",
		     "ValueError: the condition has no elements");
	push(&c, msd_int(2));
	expect_ok(&c, "vm.builtin.read_if_cond");
	cr_assert_eq(c.ret.as.i, 1);
	finish(&c);
}

Test(builtin_tensor, to_device_copies_on_the_host_and_names_others)
{
	struct call c = {0};

	push(&c, f32_tensor((const float[]){1, 2}, 2));
	PUSH_INTS(&c, MSD_DEV_CPU, 0);
	expect_ok(&c, "vm.builtin.to_device");
	cr_assert_neq(c.ret.as.obj, c.args[0].as.obj);
	cr_assert_eq(f32_at(&c.ret, 1), 2);
	finish(&c);
	push(&c, x34());
	PUSH_INTS(&c, MSD_DEV_CUDA, 1);
	expect_error(&c, "vm.builtin.to_device",
		     "device cuda:1: this module was not placed there");
}

Test(builtin_tensor, byte_offset_is_removed)
{
	struct call c = {0};

	push(&c, f32_tensor((const float[]){1, 2, 3}, 3));
	msd_any_dltensor(&c.args[0])->byte_offset = 4;
	msd_any_dltensor(&c.args[0])->shape[0] = 2;
	expect_ok(&c, "vm.builtin.ensure_zero_offset");
	cr_assert_eq(msd_any_dltensor(&c.ret)->byte_offset, 0);
	cr_assert_eq(f32_at(&c.ret, 0), 2);
	finish(&c);
	push(&c, x34());
	expect_ok(&c, "vm.builtin.ensure_zero_offset");
	cr_assert_eq(c.ret.as.obj, c.args[0].as.obj);
	finish(&c);
}

Test(builtin_tuple, fields_are_read_and_reset)
{
	struct call c = {0};

	PUSH_INTS(&c, 1, 2);
	expect_ok(&c, "vm.builtin.make_tuple");
	struct msd_any tuple = c.ret;
	c.ret = msd_none();
	finish(&c);
	push(&c, tuple);
	PUSH_INTS(&c, 1);
	expect_ok(&c, "vm.builtin.tuple_getitem");
	cr_assert_eq(c.ret.as.i, 2);
	expect_ok(&c, "vm.builtin.tuple_reset_item");
	expect_ok(&c, "vm.builtin.tuple_getitem");
	cr_assert_eq(c.ret.type, MSD_T_NONE);
	c.args[1] = msd_int(-1);
	expect_error(&c, "vm.builtin.tuple_getitem",
		     "IndexError: index -1 is outside a tuple of 2");
}

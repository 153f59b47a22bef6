#include <criterion/criterion.h>
#include <string.h>

#include "proto/limits.h"
#include "runtime/value/result_memory.h"
#include "runtime/value/value.h"

static const struct msd_dtype f32 = {MSD_DT_FLOAT, 32, 1};

Test(value, layouts_are_those_of_tvm_ffi)
{
	cr_assert_eq(offsetof(struct msd_tensor, dl), 24);
	cr_assert_eq(offsetof(struct msd_str, data), 24);
	cr_assert_eq(offsetof(struct msd_shape, dim), 24);
	cr_assert_eq(offsetof(struct msd_function, call), 24);
	cr_assert_eq(offsetof(struct msd_obj, deleter), 16);
}

Test(value, tensor_data_is_aligned_and_compact)
{
	const int64_t shape[] = {3, 5};
	struct msd_tensor *t = msd_tensor_new(f32, shape, 2);

	cr_assert_eq((uintptr_t)t->dl.data % MSD_TENSOR_ALIGN, 0);
	cr_assert_eq(msd_dltensor_bytes(&t->dl), 60);
	cr_assert_null(t->dl.strides);
	cr_assert_eq(t->dl.shape[1], 5);
	memset(t->dl.data, 1, 60);
	msd_obj_unref(&t->obj);
}

Test(value, tensor_of_no_elements_exists)
{
	const int64_t shape[] = {0, 7};
	struct msd_tensor *t = msd_tensor_new(f32, shape, 2);

	cr_assert_not_null(t);
	cr_assert_eq(msd_dltensor_bytes(&t->dl), 0);
	msd_obj_unref(&t->obj);
}

Test(value, impossible_tensors_are_refused)
{
	const int64_t negative[] = {-1};
	const int64_t huge[] = {INT64_MAX, INT64_MAX};

	cr_assert_null(msd_tensor_new(f32, negative, 1));
	cr_assert_null(msd_tensor_new(f32, huge, 2));
	cr_assert_null(msd_tensor_new(f32, huge, MSD_MAX_NDIM + 1));
}

static void count_release(void *ctx, void *data)
{
	(void)data;
	++*(int *)ctx;
}

Test(value, view_keeps_its_owner_and_releases_once)
{
	const int64_t shape[] = {4};
	struct msd_storage *s = msd_storage_new(16);
	int released = 0;
	struct msd_tensor *t = msd_tensor_view(s->data, s->device, f32, shape, 1,
					       &s->obj, count_release, &released);
	struct msd_any copy;
	struct msd_any v = msd_of_obj(&t->obj);

	msd_obj_unref(&s->obj);
	cr_assert(msd_any_copy(&v, &copy));
	msd_any_drop(&v);
	cr_assert_eq(released, 0);
	memset(t->dl.data, 0, 16); /* still there: the view holds it */
	msd_any_drop(&copy);
	cr_assert_eq(released, 1);
	cr_assert_eq(copy.type, MSD_T_NONE);
}

Test(value, array_drops_its_items)
{
	struct msd_array *a = msd_array_new(2);
	struct msd_str *s = msd_str_new("text", 4, MSD_T_STR);
	struct msd_span text;

	msd_obj_ref(&s->obj);
	a->items[1] = msd_of_obj(&s->obj);
	msd_obj_unref(&a->obj);
	struct msd_any v = msd_of_obj(&s->obj);
	cr_assert(msd_any_str(&v, &text));
	cr_assert(msd_span_is(text, "text"));
	cr_assert_eq(s->data[4], '\0');
	msd_any_drop(&v);
}

Test(value, weak_reference_outlives_content)
{
	struct msd_array *a = msd_array_new(1);
	struct msd_any v = msd_of_obj(&a->obj);

	a->obj.counts += (uint64_t)1 << 32; /* somebody's weak reference */
	msd_any_drop(&v);
	cr_assert_eq(a->obj.counts, (uint64_t)1 << 32);
	free(a);
}

Test(value, copy_of_borrowed_kinds_is_owned)
{
	char text[] = "borrowed";
	struct msd_any raw = {.type = MSD_T_RAW_STR, .as.str = text};
	const int64_t shape[] = {2};
	struct msd_tensor *t = msd_tensor_new(f32, shape, 1);
	struct msd_any dl = {.type = MSD_T_DLTENSOR, .as.dl = &t->dl};
	struct msd_any copy;
	struct msd_span s;

	cr_assert(msd_any_copy(&raw, &copy));
	text[0] = 'X';
	cr_assert(msd_any_str(&copy, &s) && msd_span_is(s, "borrowed"));
	msd_any_drop(&copy);
	((float *)t->dl.data)[1] = 7;
	cr_assert(msd_any_copy(&dl, &copy));
	msd_obj_unref(&t->obj);
	cr_assert_eq(copy.type, MSD_T_TENSOR);
	cr_assert_eq(((float *)msd_any_dltensor(&copy)->data)[1], 7);
	msd_any_drop(&copy);
}

Test(value, copy_of_a_strided_tensor_is_refused)
{
	int64_t shape[] = {2, 2};
	int64_t strides[] = {1, 2};
	float data[4] = {0};
	struct msd_dltensor t = {.data = data,
				 .device = {.type = MSD_DEV_CPU},
				 .ndim = 2,
				 .dtype = f32,
				 .shape = shape,
				 .strides = strides};
	struct msd_any v = {.type = MSD_T_DLTENSOR, .as.dl = &t};
	struct msd_any copy;

	cr_assert_not(msd_any_copy(&v, &copy));
	cr_assert_eq(copy.type, MSD_T_NONE);
}

Test(value, every_string_kind_gives_its_text)
{
	struct msd_any small = {.type = MSD_T_SMALL_STR, .small = 3, .as.bytes = "abc"};
	struct msd_any number = msd_int(1);
	struct msd_span s;

	cr_assert(msd_any_str(&small, &s) && msd_span_is(s, "abc"));
	cr_assert_not(msd_any_str(&number, &s));
	cr_assert_str_eq(msd_type_name(MSD_T_DLTENSOR), "tensor");
	cr_assert_str_eq(msd_type_name(12345), "object");
}

/* A caller that has memory for one tensor. */
struct lender {
	struct msd_result_memory base; /* first member */
	_Alignas(MSD_TENSOR_ALIGN) uint8_t room[MSD_TENSOR_ALIGN];
	uint64_t asked;
};

static void *lend_room(struct msd_result_memory *m, struct msd_dtype dtype,
		       uint64_t bytes)
{
	struct lender *l = (struct lender *)m;

	cr_expect(msd_dtype_eq(dtype, f32));
	l->asked = bytes;
	return bytes <= sizeof(l->room) ? l->room : NULL;
}

static void *data_of_result(int64_t n)
{
	struct msd_tensor *t = msd_result_tensor_new(f32, &n, 1);

	cr_assert_not_null(t);
	void *data = t->dl.data;
	cr_expect_eq(t->dl.shape[0], n);
	msd_obj_unref(&t->obj);
	return data;
}

Test(value, a_result_is_in_its_callers_memory_where_that_has_room)
{
	struct lender l = {.base = {lend_room}};

	msd_result_memory_set(&l.base);
	cr_expect_eq(data_of_result(4), l.room);
	cr_expect_eq(l.asked, 16);
	cr_expect_neq(data_of_result(1000), l.room);
	cr_expect_eq(l.asked, 4000);
	l.asked = 1;
	(void)data_of_result(0);
	cr_expect_eq(l.asked, 1, "nothing takes no room");
	msd_result_memory_set(NULL);
	cr_expect_neq(data_of_result(4), l.room);
}

#include <criterion/criterion.h>
#include <string.h>

#include "tests/daemon/worker/driver.h"

static struct driver w;

static void alloc(int64_t n, struct msd_wire_tensor *ret)
{
	struct msd_buf b = {0};

	(void)driver_begin(&w, &b, "tensor.alloc", false);
	msd_pack_array(&b, 3);
	msd_pack_cstr(&b, "m");
	msd_pack_dtype(&b, (struct msd_dtype){MSD_DT_FLOAT, 32, 1});
	msd_pack_shape(&b, &n, 1);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	driver_tensor(&w, ret);
}

static void free_tensor(const struct msd_wire_tensor *t)
{
	struct msd_buf b = {0};

	(void)driver_begin(&w, &b, "tensor.free", false);
	msd_pack_array(&b, 1);
	msd_pack_tensor(&b, t);
	driver_send(&w, &b);
	(void)driver_receive(&w);
}

Test(worker_tensors, resident_tensor_keeps_what_a_call_wrote)
{
	struct msd_buf b = {0};
	struct msd_wire_tensor resident, t;

	driver_open(&w, MSD_ZOO "calls.so");
	alloc(4, &resident);
	(void)driver_call(&w, &b, "addone", 2);
	*driver_put_tensor(&w, &b, 4) = 41.0f;
	msd_pack_tensor(&b, &resident);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "OK", "%s", driver_message(&w));
	(void)driver_call(&w, &b, "addone", 2);
	msd_pack_tensor(&b, &resident);
	driver_put_out(&b, 4);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	driver_out(&w, 0, &t);
	cr_assert_eq(*(const float *)driver_at(&w, &t), 43.0f);
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_tensors, copy_goes_in_and_out)
{
	struct msd_buf b = {0};
	struct msd_wire_tensor resident, t;

	driver_open(&w, MSD_ZOO "calls.so");
	alloc(1, &resident);
	(void)driver_begin(&w, &b, "tensor.copy", false);
	msd_pack_array(&b, 2);
	*driver_put_tensor(&w, &b, 1) = 7.0f;
	msd_pack_tensor(&b, &resident);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "OK", "%s", driver_message(&w));
	(void)driver_begin(&w, &b, "tensor.copy", false);
	msd_pack_array(&b, 2);
	msd_pack_tensor(&b, &resident);
	driver_put_out(&b, 1);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	driver_tensor(&w, &t);
	cr_assert_eq(*(const float *)driver_at(&w, &t), 7.0f);
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_tensors, copy_to_a_device_makes_a_new_tensor)
{
	struct msd_buf b = {0};
	struct msd_wire_tensor made, t;

	driver_open(&w, MSD_ZOO "calls.so");
	(void)driver_begin(&w, &b, "tensor.copy", false);
	msd_pack_array(&b, 2);
	*driver_put_tensor(&w, &b, 1) = 9.0f;
	msd_pack_device(&b, (struct msd_device){MSD_DEV_CPU, 0});
	driver_send(&w, &b);
	(void)driver_receive(&w);
	driver_tensor(&w, &made);
	cr_assert_eq(made.where, MSD_AT_RESIDENT);
	(void)driver_begin(&w, &b, "tensor.copy", false);
	msd_pack_array(&b, 2);
	msd_pack_tensor(&b, &made);
	driver_put_out(&b, 1);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	driver_tensor(&w, &t);
	cr_assert_eq(*(const float *)driver_at(&w, &t), 9.0f);
	(void)driver_end(&w);
}

Test(worker_tensors, stale_handle_is_an_error_everywhere)
{
	struct msd_buf b = {0};
	struct msd_wire_tensor t;

	driver_open(&w, MSD_ZOO "calls.so");
	alloc(4, &t);
	free_tensor(&t);
	cr_assert_str_eq(driver_error(&w), "OK");
	free_tensor(&t);
	cr_assert_str_eq(driver_error(&w), "STALE_HANDLE");
	(void)driver_call(&w, &b, "addone", 2);
	msd_pack_tensor(&b, &t);
	driver_put_out(&b, 4);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "STALE_HANDLE");
	cr_assert_not_null(strstr(driver_message(&w), "argument 0"));
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

Test(worker_tensors, other_shape_than_it_was_made_with_is_refused)
{
	struct msd_buf b = {0};
	struct msd_wire_tensor t;

	driver_open(&w, MSD_ZOO "calls.so");
	alloc(4, &t);
	t.shape[0] = 1024;
	t.bytes = 4096;
	(void)driver_call(&w, &b, "addone", 2);
	msd_pack_tensor(&b, &t);
	driver_put_out(&b, 1024);
	driver_send(&w, &b);
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "BAD_ARGUMENT");
	(void)driver_end(&w);
}

Test(worker_tensors, device_that_is_not_there_is_unsupported_by_name)
{
	struct msd_buf b = {0};
	const int64_t n = 4;

	driver_open(&w, MSD_ZOO "calls.so");
	(void)driver_begin(&w, &b, "tensor.alloc", false);
	msd_pack_array(&b, 4);
	msd_pack_cstr(&b, "m");
	msd_pack_dtype(&b, (struct msd_dtype){MSD_DT_FLOAT, 32, 1});
	msd_pack_shape(&b, &n, 1);
	msd_pack_device(&b, (struct msd_device){MSD_DEV_CUDA, 0});
	driver_send(&w, &b);
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "UNSUPPORTED");
	cr_assert_not_null(strstr(driver_message(&w), "cuda"));
	(void)driver_end(&w);
}

Test(worker_tensors, elements_that_no_tensor_has_are_refused)
{
	static const struct msd_dtype none[] = {
		{MSD_DT_UINT, 1, 1},   {MSD_DT_BOOL, 1, 1}, {18, 8, 1},
		{200, 8, 1},           {MSD_DT_INT, 8, 0},  {MSD_DT_INT, 0, 1},
		{MSD_DT_HANDLE, 64, 1}};
	const int64_t n = 4;

	driver_open(&w, MSD_ZOO "calls.so");
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		struct msd_buf b = {0};

		(void)driver_begin(&w, &b, "tensor.alloc", false);
		msd_pack_array(&b, 3);
		msd_pack_cstr(&b, "m");
		msd_pack_dtype(&b, none[i]);
		msd_pack_shape(&b, &n, 1);
		driver_send(&w, &b);
		(void)driver_receive(&w);
		cr_expect_str_eq(driver_error(&w), "BAD_ARGUMENT", "%zu: %s", i,
				 driver_message(&w));
	}
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
}

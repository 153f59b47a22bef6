/* Every call of the driver fails once, at every place of a module's life: each time the
 * error is clean, nothing is left behind, and the next try works. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/memory.h"
#include "runtime/load/loaded.h"
#include "tests/runtime/cuda/cuda_support.h"
#include "tests/runtime/cuda/stub.h"
#include "tests/runtime/support.h"

#define MAX_CALLS 400

/* Copy @in there, call, copy back into @out: the first error. */
static msd_err call_once(struct lib *lib, struct msd_dev *dev, const char *function,
			 struct msd_tensor *in, struct msd_tensor *out,
			 struct msd_diag *d)
{
	struct msd_tensor *there[2] = {NULL, NULL};
	const size_t n = msd_dltensor_bytes(&in->dl);
	struct msd_any ret;
	msd_err err = MSD_OK;

	for (int k = 0; err == MSD_OK && k < 2; k++)
		err = msd_dev_tensor(dev, in->dl.dtype, in->dl.shape, 1, &there[k], d);
	if (err == MSD_OK)
		err = msd_dev_copy(dev, there[0]->dl.data, NULL, in->dl.data, n, d);
	if (err == MSD_OK) {
		struct msd_any args[] = {msd_of_obj(&there[0]->obj),
					 msd_of_obj(&there[1]->obj)};
		err = lib_call(lib, function, args, 2, &ret);
		if (err != MSD_OK)
			(void)msd_diag_set(d, err, "%s", msd_diag_text(&lib->d));
	}
	if (err == MSD_OK)
		err = msd_dev_copy(NULL, out->dl.data, dev, there[1]->dl.data, n, d);
	if (err == MSD_OK)
		err = msd_dev_sync(dev, d);
	for (int k = 0; k < 2; k++) {
		if (there[k] != NULL)
			msd_obj_unref(&there[k]->obj);
	}
	return err;
}

/* Open, place, call twice, close: the first error. */
static msd_err life(const char *file, const char *function, struct msd_diag *d)
{
	const struct msd_device device = {MSD_DEV_CUDA, 0};
	struct msd_tensor *in = tensor_counting(1000);
	struct msd_tensor *out = tensor_like(in);
	struct msd_dev *dev = NULL;
	struct lib lib;

	lib_must_open(&lib, fixture_path(file));
	msd_err err = msd_dev_open(device, &dev, d);
	if (err == MSD_OK)
		err = msd_loaded_place(lib.loaded, device, d);
	for (int i = 0; err == MSD_OK && i < 2; i++) {
		err = call_once(&lib, dev, function, in, out, d);
		if (err == MSD_OK)
			cr_expect_eq(((float *)out->dl.data)[999], 1000.0f);
	}
	lib_close(&lib);
	msd_dev_close(dev);
	msd_obj_unref(&in->obj);
	msd_obj_unref(&out->obj);
	return err;
}

static void expect_no_trace_of_failures(const char *file, const char *function,
					int code)
{
	uint32_t n_devices;
	struct msd_diag d = {0};
	unsigned k = 1;

	if (fixture_path(file) == NULL)
		return;
	cr_assert_eq(msd_device_cuda.count(&n_devices, &d), MSD_OK); /* cuInit */
	for (; k < MAX_CALLS; k++) {
		(void)cache_fresh();
		stub()->fail_at(k, code);
		msd_err err = life(file, function, &d);
		const bool was_reached = stub()->calls() >= k;
		cache_remove();
		cr_assert_eq(stub()->violations(), 0, "call %u: %s", k,
			     stub()->first_violation());
		cr_assert_eq(stub()->alive(), 0, "call %u leaves %u objects", k,
			     stub()->alive());
		if (err != MSD_OK)
			cr_assert_gt(strlen(msd_diag_text(&d)), 10);
		msd_diag_finish(&d);
		if (!was_reached) {
			cr_expect_eq(err, MSD_OK);
			break;
		}
	}
	cr_expect_lt(k, MAX_CALLS);
	cr_expect_gt(k, 30);
}

Test(cuda_fail, any_call_with_an_error)
{
	expect_no_trace_of_failures("tvm-0.27/addone_cuda_ptx.so", "addone", 999);
}

Test(cuda_fail, any_call_out_of_memory)
{
	expect_no_trace_of_failures("tvm-0.27/addone_cuda.so", "addone", OUT_OF_MEMORY);
}

Test(cuda_fail, any_call_with_a_fault)
{
	expect_no_trace_of_failures("tvm-0.8/cuda_ops/cuda_ops_cubin.so", "addone",
				    ILLEGAL_ADDRESS);
}

Test(cuda_fail, a_fault_is_told_from_an_error_by_the_call)
{
	const char *file = "tvm-0.27/addone_cuda_cubin.so";
	struct msd_diag d = {0};

	if (fixture_path(file) == NULL)
		return;
	stub()->fault_at(1);
	cr_expect_eq(life(file, "addone", &d), MSD_GPU_FAULT);
	cr_expect_not_null(strstr(msd_diag_text(&d), "CUDA_ERROR_ILLEGAL_ADDRESS"));
	msd_diag_finish(&d);
}

/* CUresult in the driver's documentation: the context is lost, and so is the process.
 */
static const int fatal[] = {214, 220, 226, 700, 702, 709, 710, 714,
			    715, 716, 717, 718, 719, 721, 810, 911};

static bool is_fatal(int code)
{
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++) {
		if (fatal[i] == code)
			return true;
	}
	return false;
}

Test(cuda_fail, the_lasting_errors_are_faults_and_no_others)
{
	uint32_t n_devices;
	struct msd_diag d = {0};

	cr_assert_eq(msd_device_cuda.count(&n_devices, &d), MSD_OK); /* cuInit */
	for (int code = 1; code < 1000; code++) {
		stub()->fail_at(1, code);
		const msd_err err = msd_device_cuda.count(&n_devices, &d);
		cr_expect_neq(err, MSD_OK);
		cr_expect_eq(err == MSD_GPU_FAULT, is_fatal(code), "%d: %s", code,
			     msd_diag_text(&d));
	}
	msd_diag_finish(&d);
}

Test(cuda_fail, a_device_in_exclusive_mode_is_told_as_that)
{
	uint32_t n_devices;
	struct msd_diag d = {0};
	struct msd_dev *dev;

	cr_assert_eq(msd_device_cuda.count(&n_devices, &d), MSD_OK);
	stub()->fail_on("cuDevicePrimaryCtxRetain", 46);
	cr_expect_neq(msd_dev_open((struct msd_device){MSD_DEV_CUDA, 0}, &dev, &d),
		      MSD_OK);
	cr_expect_not_null(strstr(msd_diag_text(&d), "exclusive mode"), "%s",
			   msd_diag_text(&d));
	msd_diag_finish(&d);
}

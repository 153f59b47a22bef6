/* Machines without a driver, or with one that does not start. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/device.h"

static void expect_absent(const char *library, const char *want)
{
	struct msd_diag d = {0};
	struct msd_dev *dev;

	cr_assert_eq(setenv("MODSERD_LIBCUDA", library, 1), 0);
	cr_expect_eq(msd_dev_open((struct msd_device){MSD_DEV_CUDA, 0}, &dev, &d),
		     MSD_UNSUPPORTED);
	cr_expect_not_null(strstr(msd_diag_text(&d), want), "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
}

Test(cuda_absent, a_driver_that_is_not_there_is_named)
{
	expect_absent("/nowhere/libcuda.so.1",
		      "no device cuda:0: no CUDA driver: /nowhere/libcuda.so.1");
}

Test(cuda_absent, a_library_that_is_no_driver_is_named)
{
	expect_absent("libm.so.6", "the CUDA driver libm.so.6 has no cu");
}

#ifdef TEST_CUDA_STUB_LIBRARY
Test(cuda_absent, the_toolkits_stub_library_is_told_as_that)
{
	expect_absent(TEST_CUDA_STUB_LIBRARY,
		      "cuInit: CUDA_ERROR_STUB_LIBRARY (34), this is the toolkit's "
		      "stub, which programs are linked with, and no driver");
}
#endif

static void note_absent(void *ctx, const char *backend, const char *why)
{
	if (strcmp(backend, "cuda") == 0)
		*(bool *)ctx = strstr(why, "no CUDA driver") != NULL;
}

Test(cuda_absent, the_list_of_devices_says_why)
{
	bool was_told = false;

	cr_assert_eq(setenv("MODSERD_LIBCUDA", "/nowhere/libcuda.so.1", 1), 0);
	msd_devices_list(NULL, note_absent, &was_told);
	cr_expect(was_told);
}

/* Memory of a device that is nearly full. */
#include <criterion/criterion.h>

#include "runtime/device/memory.h"
#include "tests/runtime/cuda/cuda_support.h"
#include "tests/runtime/cuda/stub.h"

#define MIB ((size_t)1024 * 1024)

static void *take(struct msd_dev *dev, size_t bytes)
{
	struct msd_diag d = {0};
	void *p = NULL;

	cr_assert_eq(msd_dev_alloc(dev, bytes, &p, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	return p;
}

Test(cuda_memory, large_blocks_are_rounded_by_less_than_two_mib)
{
	const size_t sizes[] = {16 * MIB + 1, 33 * MIB, 40 * MIB + 5, 64 * MIB};
	struct msd_dev *dev = cuda_open(0);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		void *p = take(dev, sizes[i]);
		cr_expect_geq(stub()->last_alloc(), sizes[i]);
		cr_expect_lt(stub()->last_alloc(), sizes[i] + 2 * MIB);
		msd_dev_free(dev, p, sizes[i]);
	}
	msd_dev_close(dev);
	expect_clean();
}

Test(cuda_memory, a_large_block_is_kept_for_the_next_of_its_size)
{
	struct msd_dev *dev = cuda_open(0);
	void *p = take(dev, 33 * MIB);

	msd_dev_free(dev, p, 33 * MIB);
	cr_expect_eq(take(dev, 34 * MIB), p);
	cr_expect_eq(stub()->count("cuMemAlloc"), 1);
	msd_dev_free(dev, p, 34 * MIB);
	msd_dev_close(dev);
	expect_clean();
}

Test(cuda_memory, the_exact_size_is_tried_when_a_larger_block_is_not_there)
{
	const size_t sizes[] = {33 * MIB, 3 * MIB - 7};
	struct msd_dev *dev = cuda_open(0);

	for (size_t i = 0; i < 2; i++) {
		stub()->set_memory(sizes[i]);
		void *p = take(dev, sizes[i]);
		cr_expect_eq(stub()->last_alloc(), sizes[i]);
		msd_dev_free(dev, p, sizes[i]);
		/* It is too small for the pool: the driver has it back. */
		cr_expect_eq(stub()->count("cuMemFree"), i + 1);
	}
	msd_dev_close(dev);
	expect_clean();
}

Test(cuda_memory, what_other_devices_keep_idle_is_given_back_first)
{
	struct msd_dev *first = cuda_open(0);
	struct msd_dev *second = cuda_open(1);

	stub()->set_memory(40 * MIB);
	void *p = take(first, 30 * MIB);
	msd_dev_free(first, p, 30 * MIB);
	cr_expect_eq(stub()->count("cuMemFree"), 0);
	p = take(second, 30 * MIB);
	cr_expect_eq(stub()->count("cuMemFree"), 1);
	msd_dev_free(second, p, 30 * MIB);
	msd_dev_close(first);
	msd_dev_close(second);
	expect_clean();
}

Test(cuda_memory, more_than_there_is_says_how_much)
{
	struct msd_dev *dev = cuda_open(0);
	struct msd_diag d = {0};
	void *p;

	stub()->set_memory(33 * MIB);
	cr_expect_eq(msd_dev_alloc(dev, 33 * MIB + 1, &p, &d), MSD_NOMEM);
	cr_expect_str_eq(msd_diag_text(&d),
			 "34603009 bytes: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2), "
			 "said by the stand-in driver");
	msd_diag_finish(&d);
	msd_dev_close(dev);
	expect_clean();
}

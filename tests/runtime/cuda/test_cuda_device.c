/* Devices, memory, copies and pinned ranges, on the stand-in driver. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/device/memory.h"
#include "runtime/device/pinned.h"
#include "tests/runtime/cuda/cuda_support.h"
#include "tests/runtime/cuda/stub.h"
#include "tests/runtime/device/device_support.h"
#include "tests/runtime/support.h"

static void must(msd_err err, struct msd_diag *d)
{
	cr_assert(err == MSD_OK, "%s", msd_diag_text(d));
}

static void find_cuda(void *ctx, const struct msd_device_info *info)
{
	if (info->device.type == MSD_DEV_CUDA && info->device.id == 1)
		*(struct msd_device_info *)ctx = *info;
}

Test(cuda_device, is_listed_with_its_facts)
{
	struct msd_device_info info = {0};

	msd_devices_list(find_cuda, NULL, &info);
	cr_expect_str_eq(info.name, "Stand-in 1");
	cr_expect_str_eq(info.capability, "9.0");
	cr_expect_str_eq(info.driver, "13.0");
	cr_expect_eq(info.memory_bytes, (uint64_t)8 << 30);
	cr_expect_eq(info.compute_units, 132);
	cr_expect_eq(info.max_threads, 1024);
	cr_expect_eq(info.max_block[0], 1024);
	cr_expect_eq(info.max_block[2], 64);
	cr_expect_eq(info.shared_bytes, 49152);
	cr_expect_eq(info.registers, 65536);
	cr_expect_eq(info.warp_threads, 32);
	cr_expect_eq(info.clock_khz, 1980000);
	cr_expect_eq(info.cache_bytes, 50u << 20);
	cr_expect_eq(info.api_version, 13000);
	cr_expect_eq(stub()->count("cuDevicePrimaryCtxRetain"), 0);
}

Test(cuda_device, says_how_much_memory_is_free)
{
	struct msd_dev *dev = cuda_open(0);
	struct msd_diag d = {0};
	uint64_t before = 0, after = 0;
	void *p;

	must(dev->ops->free_bytes(dev, &before, &d), &d);
	must(msd_dev_alloc(dev, 1 << 20, &p, &d), &d);
	must(dev->ops->free_bytes(dev, &after, &d), &d);
	cr_expect_leq(after + (1 << 20), before);
	msd_dev_free(dev, p, 1 << 20);
	msd_dev_close(dev);
}

Test(cuda_device, that_is_not_there_is_refused)
{
	struct msd_diag d = {0};
	struct msd_dev *dev;

	cr_expect_eq(msd_dev_open((struct msd_device){MSD_DEV_CUDA, 2}, &dev, &d),
		     MSD_UNSUPPORTED);
	cr_expect_str_eq(msd_diag_text(&d), "no device cuda:2: this machine has 2");
	msd_diag_finish(&d);
}

Test(cuda_device, copies_come_back_after_one_sync)
{
	struct msd_dev *dev = cuda_open(0);
	struct msd_diag d = {0};
	unsigned char out[1000];
	unsigned char in[1000];
	void *p;
	void *q;

	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (unsigned char)(i * 7);
	must(msd_dev_alloc(dev, sizeof(in), &p, &d), &d);
	must(msd_dev_alloc(dev, sizeof(in), &q, &d), &d);
	cr_expect_eq((uintptr_t)p % 128, 0);
	must(msd_dev_copy(dev, p, NULL, in, sizeof(in), &d), &d);
	must(msd_dev_copy(dev, q, dev, p, sizeof(in), &d), &d);
	must(dev->ops->fill(dev, (char *)q + 10, 0xee, 20, &d), &d);
	must(msd_dev_copy(NULL, out, dev, q, sizeof(out), &d), &d);
	must(msd_dev_sync(dev, &d), &d);
	memset(in + 10, 0xee, 20);
	cr_expect_arr_eq(out, in, sizeof(in));
	cr_expect_eq(stub()->count("cuStreamQuery"), 1);
	msd_dev_free(dev, p, sizeof(in));
	msd_dev_free(dev, q, sizeof(in));
	msd_dev_close(dev);
	expect_clean();
}

Test(cuda_device, a_tensor_travels_between_two_devices)
{
	struct msd_dev *a = cuda_open(0);
	struct msd_dev *b = cuda_open(1);
	struct msd_diag d = {0};
	struct msd_any there = to_device(a, tensor_counting(100));
	struct msd_tensor *want = tensor_counting(100);
	struct msd_any here = zeros_on(b, want);

	must(msd_dev_copy(b, msd_any_dltensor(&here)->data, a,
			  msd_any_dltensor(&there)->data, 400, &d),
	     &d);
	expect_on_device(b, here, want);
	msd_any_drop(&there);
	msd_dev_close(a);
	msd_dev_close(b);
	expect_clean();
}

static void *copy_in_thread(void *arg)
{
	struct msd_dev *dev = arg;
	struct msd_diag d = {0};
	unsigned char byte = 7;
	void *p = NULL;

	msd_err err = msd_dev_alloc(dev, 1, &p, &d);
	if (err == MSD_OK)
		err = msd_dev_copy(dev, p, NULL, &byte, 1, &d);
	byte = 0;
	if (err == MSD_OK)
		err = msd_dev_copy(NULL, &byte, dev, p, 1, &d);
	if (err == MSD_OK)
		err = msd_dev_sync(dev, &d);
	msd_dev_free(dev, p, 1);
	msd_diag_finish(&d);
	return err == MSD_OK ? NULL : arg;
}

Test(cuda_device, any_thread_may_use_it)
{
	struct msd_dev *dev = cuda_open(0);
	pthread_t thread;
	void *failed = dev;

	cr_assert_eq(pthread_create(&thread, NULL, copy_in_thread, dev), 0);
	(void)pthread_join(thread, &failed);
	cr_expect_null(failed);
	msd_dev_close(dev);
	expect_clean();
}

Test(cuda_device, memory_is_kept_for_the_next_taker)
{
	struct msd_dev *dev = cuda_open(0);
	struct msd_diag d = {0};

	for (int i = 0; i < 100; i++) {
		void *p;
		must(msd_dev_alloc(dev, 100000, &p, &d), &d);
		msd_dev_free(dev, p, 100000);
	}
	cr_expect_eq(stub()->count("cuMemAlloc"), 1);
	msd_dev_close(dev);
	expect_clean();
}

Test(cuda_device, memory_that_is_not_there_says_how_much)
{
	struct msd_dev *dev = cuda_open(0);
	struct msd_diag d = {0};
	void *p;

	cr_expect_eq(msd_dev_alloc(dev, (size_t)1 << 44, &p, &d), MSD_NOMEM);
	cr_expect_not_null(strstr(msd_diag_text(&d), "CUDA_ERROR_OUT_OF_MEMORY (2)"),
			   "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
	msd_dev_close(dev);
	expect_clean();
}

Test(cuda_device, no_page_is_pinned_twice)
{
	struct msd_dev *dev = cuda_open(0);
	struct msd_diag d = {0};
	char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(p, MAP_FAILED);
	must(dev->ops->pin(dev, p, 2 * 4096, &d), &d);
	cr_expect_eq(dev->ops->pin(dev, p + 4096, 2 * 4096, &d), MSD_CALL_FAILED);
	cr_expect_not_null(strstr(msd_diag_text(&d), "(712)"), "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
	dev->ops->unpin(dev, p);
	(void)munmap(p, 3 * 4096);
	msd_dev_close(dev);
	expect_clean();
}

/* The stub's query never says that the work is done, so a wait that did not go over to
 * the driver, which sleeps, would not end. */
Test(cuda_device, a_long_wait_burns_no_core)
{
	struct msd_dev *dev = cuda_open(0);
	struct msd_diag d = {0};
	void *p;

	must(msd_dev_alloc(dev, 100, &p, &d), &d);
	must(dev->ops->fill(dev, p, 1, 100, &d), &d);
	stub()->set_delay(1);
	must(msd_dev_sync(dev, &d), &d);
	cr_expect_geq(stub()->count("cuStreamQuery"), 1);
	cr_expect_eq(stub()->count("cuStreamSynchronize"), 1);
	must(msd_dev_sync(dev, &d), &d); /* nothing is left to wait for */
	cr_expect_eq(stub()->count("cuStreamSynchronize"), 1);
	msd_dev_free(dev, p, 100);
	msd_dev_close(dev);
	expect_clean();
}

Test(cuda_device, opened_twice_has_one_context)
{
	struct msd_dev *a = cuda_open(0);
	struct msd_dev *b = cuda_open(0);

	cr_expect_eq(a, b);
	msd_dev_close(a);
	cr_expect_eq(stub()->count("cuDevicePrimaryCtxRelease"), 0);
	msd_dev_close(b);
	expect_clean();
}

static void *pages(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);

	cr_assert_neq(p, MAP_FAILED);
	return p;
}

Test(cuda_device, ranges_are_pinned_whenever_they_come)
{
	void *before = pages(8192);
	void *after = pages(4096);
	struct msd_diag d = {0};

	cr_expect_not(msd_pinned_add(before, 8192, &d)); /* no device is open */
	struct msd_dev *dev = cuda_open(0);
	cr_expect_eq(stub()->pinned_bytes(), 8192);
	cr_expect(msd_pinned_add(after, 4096, &d));
	cr_expect_eq(stub()->pinned_bytes(), 12288);
	msd_pinned_remove(before);
	cr_expect_eq(stub()->pinned_bytes(), 4096);
	msd_dev_close(dev);
	cr_expect_eq(stub()->pinned_bytes(), 0);
	msd_pinned_remove(after);
	expect_clean();
}

Test(cuda_device, one_device_pins_for_all_and_hands_over)
{
	void *p = pages(4096);
	struct msd_dev *a = cuda_open(0);
	struct msd_dev *b = cuda_open(1);
	struct msd_diag d = {0};

	cr_expect(msd_pinned_add(p, 4096, &d));
	cr_expect_eq(stub()->count("cuMemHostRegister"), 1);
	msd_dev_close(a);
	cr_expect_eq(stub()->pinned_bytes(), 4096);
	msd_pinned_remove(p);
	cr_expect_eq(stub()->pinned_bytes(), 0);
	msd_dev_close(b);
	expect_clean();
}

Test(cuda_device, a_range_that_cannot_be_pinned_does_no_harm)
{
	struct msd_dev *dev = cuda_open(0);
	char *p = pages(4096);
	struct msd_diag d = {0};

	cr_expect_not(msd_pinned_add(p + 1, 100, &d));
	cr_expect_not_null(strstr(msd_diag_text(&d), "cuMemHostRegister"));
	msd_diag_finish(&d);
	cr_expect_eq(stub()->pinned_bytes(), 0);
	msd_pinned_remove(p + 1);
	msd_dev_close(dev);
	expect_clean();
}

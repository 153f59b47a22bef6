/* The stream that work goes to, the device's own time, and the barrier over all blocks:
 * what host code of a library asks for beside its kernels. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "runtime/abi/exports.h"
#include "runtime/device/cuda/cuda.h"
#include "runtime/device/memory.h"
#include "runtime/value/error.h"
#include "tests/runtime/cuda/cuda_support.h"
#include "tests/runtime/cuda/stub.h"

/* Another stream, of the stand-in's own, as a library makes one. */
static void *stream_make(void)
{
	void *stream = NULL;
	int (*create)(void **, unsigned);
	void *symbol = stub_symbol("cuStreamCreate");

	memcpy(&create, &symbol, sizeof(create));
	cr_assert_eq(create(&stream, 0), 0);
	return stream;
}

static void stream_finish(void *stream)
{
	int (*destroy)(void *);
	void *symbol = stub_symbol("cuStreamDestroy_v2");

	memcpy(&destroy, &symbol, sizeof(destroy));
	cr_assert_eq(destroy(stream), 0);
}

static int set(int id, void *stream, void **before)
{
	return TVMFFIEnvSetStream(MSD_DEV_CUDA, id, stream, before);
}

Test(cuda_stream, that_is_set_is_the_one_until_the_next)
{
	struct msd_dev *dev = cuda_open(0);
	void *own = TVMFFIEnvGetStream(MSD_DEV_CUDA, 0);
	void *other = stream_make();
	void *before = NULL;

	cr_expect_eq(set(0, other, &before), 0);
	cr_expect_eq(before, own);
	cr_expect_eq(TVMFFIEnvGetStream(MSD_DEV_CUDA, 0), other);
	cr_expect_eq(set(0, own, &before), 0);
	cr_expect_eq(before, other);
	cr_expect_eq(TVMFFIEnvGetStream(MSD_DEV_CUDA, 0), own);
	stream_finish(other);
	msd_dev_close(dev);
	expect_clean();
}

/* Written on one, read on the other: without an order between them the old bytes. */
Test(cuda_stream, that_is_set_comes_after_the_one_before)
{
	struct msd_dev *dev = cuda_open(0);
	void *own = TVMFFIEnvGetStream(MSD_DEV_CUDA, 0);
	void *other = stream_make();
	const char in[] = "first on one, then on the other";
	char out[sizeof(in)] = "";
	struct msd_diag d = {0};
	void *p;

	cr_assert_eq(msd_dev_alloc(dev, sizeof(in), &p, &d), MSD_OK);
	cr_expect_eq(msd_dev_copy(dev, p, NULL, in, sizeof(in), &d), MSD_OK);
	cr_expect_eq(set(0, other, NULL), 0);
	cr_expect_eq(msd_dev_copy(NULL, out, dev, p, sizeof(in), &d), MSD_OK);
	cr_expect_eq(msd_dev_sync(dev, &d), MSD_OK);
	cr_expect_str_eq(out, in);
	cr_expect_eq(set(0, own, NULL), 0);
	msd_dev_free(dev, p, sizeof(in));
	stream_finish(other);
	msd_dev_close(dev);
	expect_clean();
}

/* A device that is opened again may have the addresses that it had. */
Test(cuda_stream, that_was_set_is_not_the_reopened_devices)
{
	struct msd_dev *dev = cuda_open(0);
	struct msd_cuda *cuda = msd_cuda_of(dev);
	struct cu_stream *own = cuda->own_stream;
	void *other = stream_make();
	struct msd_diag d = {0};

	cr_expect_eq(set(0, other, NULL), 0);
	msd_cuda_stream_close(cuda);
	cuda->order = NULL;
	cr_assert_eq(msd_cuda_stream_open(cuda, &d), MSD_OK);
	struct cu_stream *reopened = cuda->own_stream;
	cuda->own_stream = own;
	cr_expect_eq(msd_cuda_stream(cuda), own);
	cuda->own_stream = reopened;
	stream_finish(other);
	msd_dev_close(dev);
	expect_clean();
}

static void *ask_stream(void *ret)
{
	*(void **)ret = TVMFFIEnvGetStream(MSD_DEV_CUDA, 0);
	return NULL;
}

Test(cuda_stream, that_is_set_is_the_threads)
{
	struct msd_dev *dev = cuda_open(0);
	void *own = TVMFFIEnvGetStream(MSD_DEV_CUDA, 0);
	void *other = stream_make();
	void *theirs = NULL;
	pthread_t thread;

	cr_expect_eq(set(0, other, NULL), 0);
	cr_assert_eq(pthread_create(&thread, NULL, ask_stream, &theirs), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_expect_eq(theirs, own);
	cr_expect_eq(set(0, own, NULL), 0);
	stream_finish(other);
	msd_dev_close(dev);
	expect_clean();
}

Test(cuda_stream, of_a_device_that_is_not_there_is_refused)
{
	struct msd_diag d = {0};

	cr_expect_neq(set(7, NULL, NULL), 0);
	cr_expect_eq(msd_abi_fetch_error(&d), MSD_UNSUPPORTED);
	cr_expect_not_null(strstr(msd_diag_text(&d), "cuda:7"), "%s",
			   msd_diag_text(&d));
	cr_expect_neq(TVMFFIEnvSetStream(MSD_DEV_CPU, 0, NULL, NULL), 0);
	msd_abi_clear();
	msd_diag_finish(&d);
}

Test(cuda_stream, time_is_the_devices_between_the_marks)
{
	struct msd_dev *dev = cuda_open(0);
	char bytes[64] = {0};
	struct msd_diag d = {0};
	uint64_t ns = 0;
	void *p;

	cr_assert_eq(msd_dev_alloc(dev, sizeof(bytes), &p, &d), MSD_OK);
	cr_expect_not(dev->ops->elapsed(dev, &ns)); /* nothing was noted */
	cr_expect_eq(msd_dev_copy(dev, p, NULL, bytes, sizeof(bytes), &d), MSD_OK);
	dev->ops->mark(dev, MSD_DEV_BEGIN);
	cr_expect_eq(dev->ops->fill(dev, p, 1, sizeof(bytes), &d), MSD_OK);
	cr_expect_eq(dev->ops->fill(dev, p, 2, sizeof(bytes), &d), MSD_OK);
	dev->ops->mark(dev, MSD_DEV_END);
	cr_expect_eq(msd_dev_copy(NULL, bytes, dev, p, sizeof(bytes), &d), MSD_OK);
	cr_expect_not(dev->ops->elapsed(dev, &ns)); /* nobody has waited */
	cr_expect_eq(msd_dev_sync(dev, &d), MSD_OK);
	cr_expect(dev->ops->elapsed(dev, &ns));
	cr_expect_eq(ns, 2 * STUB_COPY_NS);
	msd_dev_free(dev, p, sizeof(bytes));
	msd_dev_close(dev);
	expect_clean();
}

/* A driver that gives no events loses the time and nothing else. */
Test(cuda_stream, time_that_cannot_be_had_does_no_harm)
{
	struct msd_diag d = {0};
	uint64_t ns = 0;

	struct msd_dev *warm = cuda_open(1); /* cuInit is behind */
	stub()->fail_on("cuEventCreate", 999);
	struct msd_dev *dev = cuda_open(0);
	dev->ops->mark(dev, MSD_DEV_BEGIN);
	dev->ops->mark(dev, MSD_DEV_END);
	cr_expect_eq(msd_dev_sync(dev, &d), MSD_OK);
	cr_expect_not(dev->ops->elapsed(dev, &ns));
	msd_dev_close(dev);
	msd_dev_close(warm);
	expect_clean();
}

static msd_err barrier(const char *code, uint32_t *ret, struct msd_diag *d)
{
	struct msd_kernel kernel = {.name = msd_span_of("stub_nothing")};
	struct msd_device_blob blob = {msd_span_of("ptx"), msd_span_of(code), &kernel,
				       1};
	struct msd_dev *dev = cuda_open(0);
	struct msd_dev_program *program;
	uint64_t state = 0;

	(void)cache_fresh();
	msd_err err = dev->ops->load(dev, &blob, &program, d);
	cr_assert_eq(err, MSD_OK, "%s", msd_diag_text(d));
	err = dev->ops->reset_barrier(program, d);
	if (err == MSD_OK) {
		state = stub()->last_global();
		cr_expect_eq(msd_dev_copy(NULL, ret, dev, (void *)(uintptr_t)state,
					  sizeof(*ret), d),
			     MSD_OK);
		cr_expect_eq(msd_dev_sync(dev, d), MSD_OK);
	}
	dev->ops->unload(program);
	msd_dev_close(dev);
	cache_remove();
	expect_clean();
	return err;
}

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"
#define KERNEL ".visible .entry stub_nothing() { ret; }\n"

Test(cuda_stream, a_barrier_begins_with_nobody)
{
	struct msd_diag d = {0};
	uint32_t state = 7;

	cr_expect_eq(barrier(HEAD ".visible .global .align 4 .u32 "
				  "__tvm_global_barrier_state;\n" KERNEL,
			     &state, &d),
		     MSD_OK, "%s", msd_diag_text(&d));
	cr_expect_eq(state, 0);
	msd_diag_finish(&d);
}

Test(cuda_stream, a_barrier_that_is_not_in_the_code_is_named)
{
	struct msd_diag d = {0};
	uint32_t state;

	cr_expect_eq(barrier(HEAD KERNEL, &state, &d), MSD_BAD_ARTIFACT);
	cr_expect_not_null(strstr(msd_diag_text(&d), "__tvm_global_barrier_state"),
			   "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
}

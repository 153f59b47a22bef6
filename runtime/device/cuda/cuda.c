/*
 * CUDA as a device: the primary context of one GPU, with its memory and copies on one
 * stream.
 *
 * Happy path: open retains the context and creates the stream. Copies and launches go
 * to the stream, and host reads wait for it. A fault of the context is reported as
 * MSD_GPU_FAULT: only a new process clears it.
 */
#include "runtime/device/cuda/cuda.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/clock.h"

#define SPIN_NS 50000u         /* spin without yielding */
#define YIELD_NS MSD_NS_PER_MS /* then yield to other threads */

static msd_err cuda_count(uint32_t *ret_n, struct msd_diag *d)
{
	const struct msd_cuda_api *api = msd_cuda_api(d);
	int n = 0;

	if (api == NULL)
		return MSD_UNSUPPORTED;
	int code = api->device_count(&n);
	if (code != MSD_CU_SUCCESS)
		return msd_cuda_error(d, "cuDeviceGetCount", code);
	if (n <= 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "the CUDA driver knows no device");
	}
	*ret_n = (uint32_t)n < MSD_MAX_DEVICES ? (uint32_t)n : MSD_MAX_DEVICES;
	return MSD_OK;
}

static int attribute(const struct msd_cuda_api *api, int which, int device)
{
	int value = 0;

	return api->device_attribute(&value, which, device) == MSD_CU_SUCCESS ? value
									      : 0;
}

static msd_err device_find(uint32_t ordinal, int *ret, struct msd_diag *d)
{
	const struct msd_cuda_api *api = msd_cuda_api(d);

	if (api == NULL)
		return MSD_UNSUPPORTED;
	int code = api->device_get(ret, (int)ordinal);
	return code == MSD_CU_SUCCESS ? MSD_OK : msd_cuda_error(d, "cuDeviceGet", code);
}

/* X(field, the driver's attribute) */
#define LIMIT_MAP(X)                                                                   \
	X(max_threads, MAX_THREADS_PER_BLOCK)                                          \
	X(max_block[0], MAX_BLOCK_DIM_X)                                               \
	X(max_block[1], MAX_BLOCK_DIM_Y)                                               \
	X(max_block[2], MAX_BLOCK_DIM_Z)                                               \
	X(shared_bytes, MAX_SHARED_MEMORY_PER_BLOCK)                                   \
	X(registers, MAX_REGISTERS_PER_BLOCK)                                          \
	X(warp_threads, WARP_SIZE)                                                     \
	X(clock_khz, CLOCK_RATE)                                                       \
	X(cache_bytes, L2_CACHE_SIZE)

static void describe_limits(const struct msd_cuda_api *api, int device,
			    struct msd_device_info *ret)
{
	int version = 0;

#define READ_LIMIT(field, name)                                                        \
	ret->field = (uint64_t)attribute(api, MSD_CU_DEVICE_ATTRIBUTE_##name, device);
	LIMIT_MAP(READ_LIMIT)
#undef READ_LIMIT
	if (api->driver_version(&version) == MSD_CU_SUCCESS && version > 0)
		ret->api_version = (uint64_t)version;
}

static msd_err cuda_describe(uint32_t ordinal, struct msd_device_info *ret,
			     struct msd_diag *d)
{
	int device;
	size_t memory = 0;
	msd_err err = device_find(ordinal, &device, d);

	if (err != MSD_OK)
		return err;
	const struct msd_cuda_api *api = msd_cuda_api(d);
	int sms = attribute(api, MSD_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
	*ret = (struct msd_device_info){
		.device = {MSD_DEV_CUDA, (int32_t)ordinal},
		.platform = "NVIDIA CUDA",
		.compute_units = sms > 0 ? (uint32_t)sms : 0,
	};
	if (api->device_name(ret->name, sizeof(ret->name) - 1, device) !=
	    MSD_CU_SUCCESS)
		ret->name[0] = '\0';
	if (api->device_memory(&memory, device) == MSD_CU_SUCCESS)
		ret->memory_bytes = memory;
	(void)snprintf(ret->capability, sizeof(ret->capability), "%d.%d",
		       attribute(api, MSD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
				 device),
		       attribute(api, MSD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
				 device));
	msd_cuda_driver_version(ret->driver);
	describe_limits(api, device, ret);
	return MSD_OK;
}

static msd_err cuda_enter(struct msd_dev *dev, struct msd_diag *d)
{
	return msd_cuda_enter(msd_cuda_of(dev), d);
}

static void *cuda_stream(struct msd_dev *dev)
{
	return msd_cuda_stream(msd_cuda_of(dev));
}

msd_err msd_cuda_of_thread(struct msd_cuda **ret, struct msd_diag *d)
{
	const struct msd_device named = msd_dev_current();
	struct msd_dev *dev = named.type == MSD_DEV_CUDA ? msd_dev_peek(named) : NULL;

	for (int32_t id = 0; dev == NULL && id < (int32_t)MSD_MAX_DEVICES; id++)
		dev = msd_dev_peek((struct msd_device){MSD_DEV_CUDA, id});
	if (dev == NULL)
		return msd_diag_set(d, MSD_UNSUPPORTED, "no CUDA device is open");
	*ret = msd_cuda_of(dev);
	return MSD_OK;
}

static void cuda_close(struct msd_dev *dev)
{
	struct msd_cuda *cuda = msd_cuda_of(dev);

	if (cuda->context != NULL) {
		msd_cuda_reenter(cuda);
		msd_cuda_stream_close(cuda);
		(void)cuda->api->context_set(NULL);
		(void)cuda->api->context_release(cuda->device);
	}
	free(cuda);
}

static msd_err context_open(struct msd_cuda *cuda, struct msd_diag *d)
{
	struct cu_context *context = NULL;

	/*
	 * Otherwise a thread that waits for the device uses a full core. A driver may
	 * refuse this if a library has already created the context; that is harmless.
	 */
	(void)cuda->api->context_flags(cuda->device, MSD_CU_CTX_SCHED_BLOCKING_SYNC);
	int code = cuda->api->context_retain(&context, cuda->device);

	if (code != MSD_CU_SUCCESS)
		return msd_cuda_error(d, "cuDevicePrimaryCtxRetain", code);
	cuda->context = context;
	msd_err err = msd_cuda_enter(cuda, d);
	if (err != MSD_OK)
		return err;
	return msd_cuda_stream_open(cuda, d);
}

static msd_err cuda_open(uint32_t ordinal, struct msd_dev **ret, struct msd_diag *d)
{
	struct msd_cuda *cuda = calloc(1, sizeof(*cuda));

	if (cuda == NULL)
		return msd_diag_no_memory(d);
	cuda->dev.ops = &msd_device_cuda;
	cuda->dev.device = (struct msd_device){MSD_DEV_CUDA, (int32_t)ordinal};
	msd_err err = device_find(ordinal, &cuda->device, d);
	if (err == MSD_OK)
		err = cuda_describe(ordinal, &cuda->info, d);
	if (err == MSD_OK) {
		cuda->api = msd_cuda_api(d);
		cuda->capability =
			10 * attribute(cuda->api,
				       MSD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
				       cuda->device) +
			attribute(cuda->api,
				  MSD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
				  cuda->device);
		err = context_open(cuda, d);
	}
	if (err != MSD_OK) {
		cuda_close(&cuda->dev);
		return err;
	}
	*ret = &cuda->dev;
	return MSD_OK;
}

static cu_address address_of(const void *p)
{
	return (cu_address)(uintptr_t)p;
}

static msd_err cuda_free_bytes(struct msd_dev *dev, uint64_t *ret, struct msd_diag *d)
{
	const struct msd_cuda *cuda = msd_cuda_of(dev);
	size_t n_free = 0, total = 0;
	msd_err err = msd_cuda_enter(cuda, d);

	if (err != MSD_OK)
		return err;
	const int code = cuda->api->mem_info(&n_free, &total);
	if (code != MSD_CU_SUCCESS)
		return msd_cuda_error(d, "cuMemGetInfo", code);
	*ret = n_free;
	return MSD_OK;
}

static msd_err cuda_alloc(struct msd_dev *dev, size_t bytes, void **ret,
			  struct msd_diag *d)
{
	const struct msd_cuda *cuda = msd_cuda_of(dev);
	cu_address address = 0;
	msd_err err = msd_cuda_enter(cuda, d);

	if (err != MSD_OK)
		return err;
	int code = cuda->api->mem_alloc(&address, bytes);
	if (code != MSD_CU_SUCCESS) {
		err = msd_cuda_error(d, "cuMemAlloc", code);
		return msd_diag_wrap(d, err, "%zu bytes", bytes);
	}
	*ret = (void *)(uintptr_t)address;
	return MSD_OK;
}

/* The driver waits for work that uses the memory. */
static void cuda_free(struct msd_dev *dev, void *p)
{
	const struct msd_cuda *cuda = msd_cuda_of(dev);

	msd_cuda_reenter(cuda);
	(void)cuda->api->mem_free(address_of(p));
}

static msd_err done(const char *function, int code, size_t n, struct msd_diag *d)
{
	if (code == MSD_CU_SUCCESS)
		return MSD_OK;
	msd_err err = msd_cuda_error(d, function, code);
	return msd_diag_wrap(d, err, "%zu bytes", n);
}

static msd_err cuda_write(struct msd_dev *dev, void *dst, const void *host_src,
			  size_t n, struct msd_diag *d)
{
	const struct msd_cuda *cuda = msd_cuda_of(dev);
	msd_err err = msd_cuda_enter_uncaptured(cuda, "it copies from the host", d);

	if (err != MSD_OK)
		return err;
	return done("cuMemcpyHtoDAsync",
		    cuda->api->copy_to_device(address_of(dst), host_src, n,
					      msd_cuda_stream(cuda)),
		    n, d);
}

static msd_err cuda_read(struct msd_dev *dev, void *host_dst, const void *src, size_t n,
			 struct msd_diag *d)
{
	const struct msd_cuda *cuda = msd_cuda_of(dev);
	msd_err err = msd_cuda_enter_uncaptured(cuda, "it copies to the host", d);

	if (err != MSD_OK)
		return err;
	return done("cuMemcpyDtoHAsync",
		    cuda->api->copy_to_host(host_dst, address_of(src), n,
					    msd_cuda_stream(cuda)),
		    n, d);
}

static msd_err cuda_copy(struct msd_dev *dev, void *dst, const void *src, size_t n,
			 struct msd_diag *d)
{
	const struct msd_cuda *cuda = msd_cuda_of(dev);
	msd_err err = msd_cuda_enter(cuda, d);

	if (err != MSD_OK)
		return err;
	return done("cuMemcpyDtoDAsync",
		    cuda->api->copy_on_device(address_of(dst), address_of(src), n,
					      msd_cuda_stream(cuda)),
		    n, d);
}

static msd_err cuda_fill(struct msd_dev *dev, void *dst, uint8_t value, size_t n,
			 struct msd_diag *d)
{
	const struct msd_cuda *cuda = msd_cuda_of(dev);
	msd_err err = msd_cuda_enter(cuda, d);

	if (err != MSD_OK)
		return err;
	return done("cuMemsetD8Async",
		    cuda->api->fill(address_of(dst), value, n, msd_cuda_stream(cuda)),
		    n, d);
}

/* Short work is detected at once. A longer wait sleeps and wakes some tens of
 * microseconds late. */
static int wait_for(const struct msd_cuda *cuda, const char **ret_function)
{
	struct cu_stream *stream = msd_cuda_stream(cuda);
	const uint64_t begin = msd_now_ns();
	uint64_t gone = 0;
	int code;

	*ret_function = "cuStreamQuery";
	do {
		if (gone > SPIN_NS)
			(void)sched_yield();
		code = cuda->api->stream_query(stream);
		gone = msd_now_ns() - begin;
	} while (code == MSD_CU_ERROR_NOT_READY && gone < YIELD_NS);
	if (code != MSD_CU_ERROR_NOT_READY)
		return code;
	*ret_function = "cuStreamSynchronize";
	return cuda->api->stream_sync(stream);
}

static msd_err cuda_sync(struct msd_dev *dev, struct msd_diag *d)
{
	const struct msd_cuda *cuda = msd_cuda_of(dev);
	msd_err err = msd_cuda_enter_uncaptured(cuda, "it waits for the device", d);

	if (err != MSD_OK)
		return err;
	const char *function;
	int code = wait_for(cuda, &function);
	return code == MSD_CU_SUCCESS ? MSD_OK : msd_cuda_error(d, function, code);
}

/* The registration is valid for every context, so another device of this process
 * finds it. */
static msd_err cuda_pin(struct msd_dev *dev, void *p, size_t n, struct msd_diag *d)
{
	const struct msd_cuda *cuda = msd_cuda_of(dev);
	msd_err err = msd_cuda_enter(cuda, d);

	if (err != MSD_OK)
		return err;
	return done("cuMemHostRegister",
		    cuda->api->host_register(p, n, MSD_CU_MEMHOSTREGISTER_PORTABLE), n,
		    d);
}

static void cuda_unpin(struct msd_dev *dev, void *p)
{
	const struct msd_cuda *cuda = msd_cuda_of(dev);

	msd_cuda_reenter(cuda);
	(void)cuda->api->host_unregister(p);
}

const struct msd_device_ops msd_device_cuda = {
	.abi = MSD_DEVICE_ABI,
	.type = MSD_DEV_CUDA,
	.name = "cuda",
	.kind = "cuda",
	.count = cuda_count,
	.describe = cuda_describe,
	.free_bytes = cuda_free_bytes,
	.open = cuda_open,
	.close = cuda_close,
	.enter = cuda_enter,
	.stream = cuda_stream,
	.set_stream = msd_cuda_set_stream,
	.mark = msd_cuda_mark,
	.elapsed = msd_cuda_elapsed,
	.alloc = cuda_alloc,
	.free = cuda_free,
	.write = cuda_write,
	.read = cuda_read,
	.copy = cuda_copy,
	.fill = cuda_fill,
	.sync = cuda_sync,
	.pin = cuda_pin,
	.unpin = cuda_unpin,
	.load = msd_cuda_load,
	.unload = msd_cuda_unload,
	.launch = msd_cuda_launch,
	.reset_barrier = msd_cuda_reset_barrier,
	.capture_begin = msd_cuda_capture_begin,
	.capture_end = msd_cuda_capture_end,
	.graph_launch = msd_cuda_graph_launch,
	.graph_free = msd_cuda_graph_free,
};

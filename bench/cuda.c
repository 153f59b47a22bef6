/*
 * bench_cuda [ROUNDS]: compare launches and copies of the runtime's CUDA backend with
 * direct calls of the driver API, alternating in one process and context; copies from
 * and to ordinary and pinned memory. Prints medians and their ratio; exits with 77
 * without a driver or a device.
 */
#include "bench/device.h"
#include "bench/turns.h"
#include "runtime/device/cuda/api.h"

#define PTX                                                                            \
	".version 6.0\n.target sm_50\n.address_size 64\n"                              \
	".visible .entry addone_kernel(.param .u64 a, .param .u64 b, .param .u64 n) "  \
	"{ ret; }\n"
#define COPY_BYTES ((size_t)64 << 20)

/* The driver, called directly. */
struct plain {
	const struct msd_cuda_api *api;
	struct cu_stream *stream;
	struct cu_function *function;
	cu_address mem;
};

static void plain_open(void *ctx)
{
	struct plain *p = ctx;
	struct cu_context *context;
	struct cu_module *module;
	int device;

	p->api = msd_cuda_api(NULL);
	bench_must(p->api != NULL && p->api->device_get(&device, 0) == MSD_CU_SUCCESS &&
			   p->api->context_retain(&context, device) == MSD_CU_SUCCESS &&
			   p->api->context_set(context) == MSD_CU_SUCCESS &&
			   p->api->stream_create(&p->stream, MSD_CU_STREAM_DEFAULT) ==
				   MSD_CU_SUCCESS &&
			   p->api->mem_alloc(&p->mem, COPY_BYTES) == MSD_CU_SUCCESS &&
			   p->api->module_load(&module, PTX, 0, NULL, NULL) ==
				   MSD_CU_SUCCESS &&
			   p->api->module_function(&p->function, module,
						   "addone_kernel") == MSD_CU_SUCCESS,
		   "the driver");
}

static double plain_run(void *ctx, int what, void *host)
{
	struct plain *p = ctx;
	int64_t n = BENCH_ITEMS;
	void *values[] = {&p->mem, &p->mem, &n};
	int code = MSD_CU_SUCCESS;
	double begin = bench_now_us();

	for (int i = 0; what == BENCH_LAUNCH && i < BENCH_LAUNCHES; i++) {
		code |= p->api->launch(p->function, 1, 1, 1, BENCH_ITEMS, 1, 1, 0,
				       p->stream, values, NULL);
	}
	if (what == BENCH_TO_DEVICE || what == BENCH_TO_DEVICE_PINNED) {
		code = p->api->copy_to_device(p->mem, host, COPY_BYTES, p->stream);
	} else if (what != BENCH_LAUNCH) {
		code = p->api->copy_to_host(host, p->mem, COPY_BYTES, p->stream);
	}
	code |= p->api->stream_sync(p->stream);
	bench_must(code == MSD_CU_SUCCESS, "the driver");
	return bench_now_us() - begin;
}

int main(int argc, char **argv)
{
	struct plain p = {0};

	return bench_device(&(struct bench_backend){.type = MSD_DEV_CUDA,
						    .format = "ptx",
						    .code = PTX,
						    .kernel = "addone_kernel",
						    .n_buffers = 2,
						    .copy_bytes = COPY_BYTES,
						    .is_pinning = true,
						    .open = plain_open,
						    .run = plain_run,
						    .ctx = &p},
			    argc, argv);
}

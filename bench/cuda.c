/*
 * bench_cuda [ROUNDS]: launches and copies of the runtime's CUDA backend beside the
 * same made with the driver API directly, in one process and context, in turns; copies
 * from and to ordinary and pinned memory. Prints medians and their ratio; 77 without a
 * driver or a device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/turns.h"
#include "runtime/device/cuda_api.h"
#include "runtime/device/launch.h"
#include "runtime/device/memory.h"
#include "runtime/device/pinned.h"

#define PTX                                                                            \
	".version 6.0\n.target sm_50\n.address_size 64\n"                              \
	".visible .entry addone_kernel(.param .u64 a, .param .u64 b, .param .u64 n) "  \
	"{ ret; }\n"
#define ITEMS 64
#define LAUNCHES 500 /* of one round */
#define COPY_BYTES ((size_t)64 << 20)

enum { LAUNCH, TO_DEVICE, TO_HOST, TO_DEVICE_PINNED, TO_HOST_PINNED, N_WHAT };
static const char *const what[] = {"launch", "host to device", "device to host",
				   "pinned to device", "device to pinned"};

/* The driver without anything between. */
struct plain {
	const struct msd_cuda_api *api;
	struct cu_stream *stream;
	struct cu_function *function;
	cu_address mem;
};

static void plain_open(struct plain *p)
{
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

static bool is_to_device(int which)
{
	return which == TO_DEVICE || which == TO_DEVICE_PINNED;
}

static double plain_run(void *ctx, int which, void *host)
{
	struct plain *p = ctx;
	int64_t n = ITEMS;
	void *values[] = {&p->mem, &p->mem, &n};
	int code = MSD_CU_SUCCESS;
	double begin = bench_now_us();

	for (int i = 0; which == LAUNCH && i < LAUNCHES; i++)
		code |= p->api->launch(p->function, 1, 1, 1, ITEMS, 1, 1, 0, p->stream,
				       values, NULL);
	if (is_to_device(which))
		code = p->api->copy_to_device(p->mem, host, COPY_BYTES, p->stream);
	else if (which != LAUNCH)
		code = p->api->copy_to_host(host, p->mem, COPY_BYTES, p->stream);
	code |= p->api->stream_sync(p->stream);
	bench_must(code == MSD_CU_SUCCESS, "the driver");
	return bench_now_us() - begin;
}

/* The runtime. */
struct ours {
	struct msd_dev *dev;
	struct msd_dtype args[3];
	struct msd_span tags[2];
	struct msd_kernel kernel;
	struct msd_device_blob blob;
	struct msd_dev_program *program;
	struct msd_launch_plan plan;
	void *mem;
};

static struct msd_span span(const char *text)
{
	return (struct msd_span){(const uint8_t *)text, strlen(text)};
}

static void ours_open(struct ours *o)
{
	struct msd_diag d = {0};

	o->args[0] = o->args[1] = (struct msd_dtype){MSD_DT_HANDLE, 64, 1};
	o->args[2] = (struct msd_dtype){MSD_DT_INT, 64, 1};
	o->tags[0] = span("blockIdx.x");
	o->tags[1] = span("threadIdx.x");
	o->kernel = (struct msd_kernel){.name = span("addone_kernel"),
					.args = o->args,
					.n_args = 3,
					.tags = o->tags,
					.n_tags = 2};
	o->blob = (struct msd_device_blob){.format = span("ptx"),
					   .code = span(PTX),
					   .kernels = &o->kernel,
					   .n_kernels = 1};
	msd_err err = o->dev->ops->load(o->dev, &o->blob, &o->program, &d);
	if (err == MSD_OK)
		err = msd_launch_plan_make(&o->kernel, &o->plan, &d);
	if (err == MSD_OK)
		err = msd_dev_alloc(o->dev, COPY_BYTES, &o->mem, &d);
	bench_must(err == MSD_OK, msd_diag_text(&d));
}

static double ours_run(void *ctx, int which, void *host)
{
	struct ours *o = ctx;
	const struct msd_any mem = {.type = MSD_T_POINTER, .as.p = o->mem};
	const struct msd_any args[] = {mem, mem, msd_int(ITEMS), msd_int(1),
				       msd_int(ITEMS)};
	msd_err err = MSD_OK;
	double begin = bench_now_us();

	for (int i = 0; which == LAUNCH && err == MSD_OK && i < LAUNCHES; i++)
		err = msd_launch_run(&o->plan, o->dev, o->program, 0, args, 5, NULL);
	if (is_to_device(which))
		err = msd_dev_copy(o->dev, o->mem, NULL, host, COPY_BYTES, NULL);
	else if (which != LAUNCH)
		err = msd_dev_copy(NULL, host, o->dev, o->mem, COPY_BYTES, NULL);
	if (err == MSD_OK)
		err = msd_dev_sync(o->dev, NULL);
	bench_must(err == MSD_OK, "the runtime");
	return bench_now_us() - begin;
}

int main(int argc, char **argv)
{
	const int rounds = bench_rounds(argc, argv);
	struct msd_diag d = {0};
	struct plain p = {0};
	struct ours o = {0};
	void *host = aligned_alloc(4096, COPY_BYTES);

	bench_must(host != NULL, "out of memory");
	memset(host, 1, COPY_BYTES);
	if (msd_dev_open((struct msd_device){MSD_DEV_CUDA, 0}, &o.dev, &d) != MSD_OK) {
		(void)printf("skip: %s\n", msd_diag_text(&d));
		return 77;
	}
	plain_open(&p);
	ours_open(&o);
	for (int i = 0; i < N_WHAT; i++) {
		if (i == TO_DEVICE_PINNED)
			msd_pinned_add(host, COPY_BYTES);
		bench_take_turns(&(struct bench_turn){.what = what[i],
						      .per = i == LAUNCH ? LAUNCHES : 1,
						      .plain = plain_run,
						      .ours = ours_run,
						      .plain_ctx = &p,
						      .ours_ctx = &o,
						      .which = i,
						      .host = host},
				 rounds);
	}
	return 0; /* the process ends: drivers clean up by themselves */
}

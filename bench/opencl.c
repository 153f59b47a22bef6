/*
 * bench_opencl [ROUNDS]: launches and copies of the runtime's OpenCL backend beside the
 * same made with OpenCL directly, in one process, in turns. Prints medians and their
 * ratio; 77 without an OpenCL device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/turns.h"
#include "runtime/device/launch.h"
#include "runtime/device/memory.h"
#include "runtime/device/opencl_api.h"

#define SOURCE                                                                         \
	"__kernel void add_one(__global float *x, long n)\n"                           \
	"{ if (get_global_id(0) < n) x[get_global_id(0)] += 1.0f; }\n"
#define ITEMS 64
#define LAUNCHES 500 /* of one round */
#define COPY_BYTES ((size_t)16 << 20)

enum { LAUNCH, TO_DEVICE, TO_HOST, N_WHAT };
static const char *const what[] = {"launch", "host to device", "device to host"};

/* OpenCL without anything between. */
struct plain {
	const struct msd_opencl_api *api;
	struct cl_queue *queue;
	struct cl_mem *mem;
	struct cl_kernel *kernel;
};

static void plain_open(struct plain *p)
{
	const char *source = SOURCE;
	const size_t n = strlen(source);
	struct msd_opencl_place place = {0};
	int32_t code;

	p->api = msd_opencl_api(NULL);
	bench_must(p->api != NULL && msd_opencl_place(0, &place, NULL) == MSD_OK,
		   "no device");
	struct cl_context *context =
		p->api->clCreateContext(NULL, 1, &place.device, NULL, NULL, &code);
	bench_must(code == CL_OK, "clCreateContext");
	p->queue = p->api->clCreateCommandQueue(context, place.device, 0, &code);
	bench_must(code == CL_OK, "clCreateCommandQueue");
	p->mem = p->api->clCreateBuffer(context, CL_READ_WRITE_FLAG, COPY_BYTES, NULL,
					&code);
	bench_must(code == CL_OK, "clCreateBuffer");
	struct cl_program *program =
		p->api->clCreateProgramWithSource(context, 1, &source, &n, &code);
	bench_must(code == CL_OK, "clCreateProgramWithSource");
	bench_must(p->api->clBuildProgram(program, 1, &place.device, NULL, NULL,
					  NULL) == CL_OK,
		   "clBuildProgram");
	p->kernel = p->api->clCreateKernel(program, "add_one", &code);
	bench_must(code == CL_OK, "clCreateKernel");
}

static double plain_run(void *ctx, int which, void *host)
{
	struct plain *p = ctx;
	const size_t global = ITEMS;
	const size_t local = ITEMS;
	const int64_t n = ITEMS;
	int32_t code = CL_OK;
	double begin = bench_now_us();

	for (int i = 0; which == LAUNCH && i < LAUNCHES; i++) {
		code |= p->api->clSetKernelArg(p->kernel, 0, sizeof(p->mem), &p->mem);
		code |= p->api->clSetKernelArg(p->kernel, 1, sizeof(n), &n);
		code |= p->api->clEnqueueNDRangeKernel(p->queue, p->kernel, 1, NULL,
						       &global, &local, 0, NULL, NULL);
	}
	if (which == TO_DEVICE)
		code = p->api->clEnqueueWriteBuffer(p->queue, p->mem, 0, 0, COPY_BYTES,
						    host, 0, NULL, NULL);
	if (which == TO_HOST)
		code = p->api->clEnqueueReadBuffer(p->queue, p->mem, 0, 0, COPY_BYTES,
						   host, 0, NULL, NULL);
	code |= p->api->clFinish(p->queue);
	bench_must(code == CL_OK, "OpenCL");
	return bench_now_us() - begin;
}

/* The runtime. */
struct ours {
	struct msd_dev *dev;
	struct msd_dtype args[2];
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

	o->args[0] = (struct msd_dtype){MSD_DT_HANDLE, 64, 1};
	o->args[1] = (struct msd_dtype){MSD_DT_INT, 64, 1};
	o->tags[0] = span("blockIdx.x");
	o->tags[1] = span("threadIdx.x");
	o->kernel = (struct msd_kernel){.name = span("add_one"),
					.args = o->args,
					.n_args = 2,
					.tags = o->tags,
					.n_tags = 2};
	o->blob = (struct msd_device_blob){.format = span("cl"),
					   .code = span(SOURCE),
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
	const struct msd_any args[] = {{.type = MSD_T_POINTER, .as.p = o->mem},
				       msd_int(ITEMS),
				       msd_int(1),
				       msd_int(ITEMS)};
	msd_err err = MSD_OK;
	double begin = bench_now_us();

	for (int i = 0; which == LAUNCH && err == MSD_OK && i < LAUNCHES; i++)
		err = msd_launch_run(&o->plan, o->dev, o->program, 0, args, 4, NULL);
	if (which == TO_DEVICE)
		err = msd_dev_copy(o->dev, o->mem, NULL, host, COPY_BYTES, NULL);
	if (which == TO_HOST)
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
	if (msd_dev_open((struct msd_device){MSD_DEV_OPENCL, 0}, &o.dev, &d) !=
	    MSD_OK) {
		(void)printf("skip: %s\n", msd_diag_text(&d));
		return 77;
	}
	plain_open(&p);
	ours_open(&o);
	for (int i = 0; i < N_WHAT; i++)
		bench_take_turns(&(struct bench_turn){.what = what[i],
						      .per = i == LAUNCH ? LAUNCHES : 1,
						      .plain = plain_run,
						      .ours = ours_run,
						      .plain_ctx = &p,
						      .ours_ctx = &o,
						      .which = i,
						      .host = host},
				 rounds);
	return 0; /* the process ends: drivers clean up by themselves */
}

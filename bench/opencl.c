/*
 * bench_opencl [ROUNDS]: compare launches and copies of the runtime's OpenCL backend
 * with direct OpenCL calls, alternating in one process. Prints medians and their
 * ratio; exits with 77 without an OpenCL device.
 */
#include <string.h>

#include "bench/device.h"
#include "bench/turns.h"
#include "runtime/device/opencl/api.h"

#define SOURCE                                                                         \
	"__kernel void add_one(__global float *x, long n)\n"                           \
	"{ if (get_global_id(0) < n) x[get_global_id(0)] += 1.0f; }\n"
#define COPY_BYTES ((size_t)16 << 20)

/* OpenCL, called directly. */
struct plain {
	const struct msd_opencl_api *api;
	struct cl_queue *queue;
	struct cl_mem *mem;
	struct cl_kernel *kernel;
};

static void plain_open(void *ctx)
{
	struct plain *p = ctx;
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

static double plain_run(void *ctx, int what, void *host)
{
	struct plain *p = ctx;
	const size_t global = BENCH_ITEMS;
	const size_t local = BENCH_ITEMS;
	const int64_t n = BENCH_ITEMS;
	int32_t code = CL_OK;
	double begin = bench_now_us();

	for (int i = 0; what == BENCH_LAUNCH && i < BENCH_LAUNCHES; i++) {
		code |= p->api->clSetKernelArg(p->kernel, 0, sizeof(p->mem), &p->mem);
		code |= p->api->clSetKernelArg(p->kernel, 1, sizeof(n), &n);
		code |= p->api->clEnqueueNDRangeKernel(p->queue, p->kernel, 1, NULL,
						       &global, &local, 0, NULL, NULL);
	}
	if (what == BENCH_TO_DEVICE) {
		code = p->api->clEnqueueWriteBuffer(p->queue, p->mem, 0, 0, COPY_BYTES,
						    host, 0, NULL, NULL);
	}
	if (what == BENCH_TO_HOST) {
		code = p->api->clEnqueueReadBuffer(p->queue, p->mem, 0, 0, COPY_BYTES,
						   host, 0, NULL, NULL);
	}
	code |= p->api->clFinish(p->queue);
	bench_must(code == CL_OK, "OpenCL");
	return bench_now_us() - begin;
}

int main(int argc, char **argv)
{
	struct plain p = {0};

	return bench_device(&(struct bench_backend){.type = MSD_DEV_OPENCL,
						    .format = "cl",
						    .code = SOURCE,
						    .kernel = "add_one",
						    .n_buffers = 1,
						    .copy_bytes = COPY_BYTES,
						    .open = plain_open,
						    .run = plain_run,
						    .ctx = &p},
			    argc, argv);
}

/* Build OpenCL programs: from source with its build log, from a binary, from the
 * cache. */
#include <stdlib.h>

#include "proto/base/clock.h"
#include "runtime/device/build_log.h"
#include "runtime/device/cache.h"
#include "runtime/device/opencl/opencl.h"

/* The device's compiler rejects the program, usually because it lacks a feature that
 * the code needs. */
static msd_err build_failed(struct msd_opencl *cl, struct cl_program *program,
			    int32_t code, struct msd_diag *d)
{
	size_t n = 0;
	char *log = NULL;

	(void)msd_opencl_error(d, "clBuildProgram", code);
	if (d != NULL)
		d->code = MSD_UNSUPPORTED;
	if (cl->api->clGetProgramBuildInfo(program, cl->place.device, CL_BUILD_LOG_INFO,
					   0, NULL, &n) == CL_OK &&
	    n > 1 && n < SIZE_MAX)
		log = calloc(1, n + 1);
	if (log != NULL &&
	    cl->api->clGetProgramBuildInfo(program, cl->place.device, CL_BUILD_LOG_INFO,
					   n, log, NULL) == CL_OK)
		(void)msd_build_log_add(d, MSD_UNSUPPORTED, log);
	free(log);
	return MSD_UNSUPPORTED;
}

/* Build @program, which is released on failure. */
static msd_err build(struct msd_opencl *cl, struct cl_program *program,
		     struct cl_program **ret, struct msd_diag *d)
{
	int32_t code = cl->api->clBuildProgram(program, 1, &cl->place.device, NULL,
					       NULL, NULL);
	if (code != CL_OK) {
		msd_err err = build_failed(cl, program, code, d);
		(void)cl->api->clReleaseProgram(program);
		return err;
	}
	*ret = program;
	return MSD_OK;
}

msd_err msd_opencl_build_binary(struct msd_opencl *cl, struct msd_span binary,
				struct cl_program **ret, struct msd_diag *d)
{
	const uint8_t *bytes = binary.p;
	int32_t status = CL_OK;
	int32_t code;
	struct cl_program *program = cl->api->clCreateProgramWithBinary(
		cl->context, 1, &cl->place.device, &binary.n, &bytes, &status, &code);

	if (code != CL_OK) {
		(void)msd_opencl_error(d, "clCreateProgramWithBinary", code);
		if (d != NULL)
			d->code = MSD_BAD_ARTIFACT;
		return MSD_BAD_ARTIFACT;
	}
	return build(cl, program, ret, d);
}

static msd_err compile(struct msd_opencl *cl, struct msd_span source,
		       struct cl_program **ret, struct msd_diag *d)
{
	const char *text = (const char *)source.p;
	int32_t code;
	struct cl_program *program = cl->api->clCreateProgramWithSource(
		cl->context, 1, &text, &source.n, &code);

	if (code != CL_OK)
		return msd_opencl_error(d, "clCreateProgramWithSource", code);
	return build(cl, program, ret, d);
}

/*
 * Cache the driver's binary of the source; a driver that does not provide it is fine.
 */
static void keep(struct msd_opencl *cl, const struct msd_cache_key *key,
		 struct cl_program *program)
{
	size_t n = 0;
	uint8_t *bytes;

	if (cl->api->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES_INFO, sizeof(n),
				      &n, NULL) != CL_OK ||
	    n == 0 || n > MSD_CACHE_MAX_BYTES)
		return;
	bytes = malloc(n);
	if (bytes != NULL &&
	    cl->api->clGetProgramInfo(program, CL_PROGRAM_BINARIES_INFO, sizeof(bytes),
				      &bytes, NULL) == CL_OK)
		msd_cache_put(key, (struct msd_span){bytes, n});
	free(bytes);
}

msd_err msd_opencl_build_source(struct msd_opencl *cl, struct msd_span source,
				struct cl_program **ret, struct msd_diag *d)
{
	struct msd_device_info info;
	struct msd_buf binary = {0};
	msd_err err = msd_opencl_describe((uint32_t)cl->dev.device.id, &info, d);

	if (err != MSD_OK)
		return err;
	const struct msd_cache_key key = {
		.kind = "opencl",
		.parts = {source, msd_span_of(info.platform), msd_span_of(info.name),
			  msd_span_of(info.capability), msd_span_of(info.driver)},
		.n_parts = 5,
	};
	err = MSD_NOT_FOUND;
	if (msd_cache_get(&key, &binary)) {
		struct msd_diag ignored = {0};
		err = msd_opencl_build_binary(cl, (struct msd_span){binary.p, binary.n},
					      ret, &ignored);
		msd_diag_finish(&ignored);
		if (err != MSD_OK)
			msd_cache_drop(&key);
	}
	msd_buf_finish(&binary);
	if (err == MSD_OK)
		return err;
	const uint64_t begin_ns = msd_now_ns();
	err = compile(cl, source, ret, d);
	msd_build_note(begin_ns);
	if (err == MSD_OK)
		keep(cl, &key, *ret);
	return err;
}

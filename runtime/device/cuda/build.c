/*
 * Prepare device code for one context: a cubin or fatbin is loaded unchanged. PTX and
 * CUDA C are first compiled for this device and stored in the build cache.
 *
 * Happy path: the blob's format and its first bytes decide. Code is loaded from the
 * cache if the entry still loads, else compiled, loaded, and cached.
 */
#include "runtime/device/cuda/build.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "runtime/device/build_log.h"
#include "runtime/device/cache.h"
#include "runtime/device/cuda/image.h"
#include "runtime/device/cuda/source.h"

/* Buffer for the driver's error log. */
struct log {
	char text[MSD_BUILD_LOG_MAX];
	int options[2];
	void *values[2];
};

static void log_init(struct log *log)
{
	log->text[0] = '\0';
	log->text[MSD_BUILD_LOG_MAX - 1] = '\0';
	log->options[0] = MSD_CU_JIT_ERROR_LOG_BUFFER;
	log->values[0] = log->text;
	log->options[1] = MSD_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
	log->values[1] = (void *)(uintptr_t)(MSD_BUILD_LOG_MAX - 1);
}

static msd_err refused(const struct log *log, const char *function, int code,
		       struct msd_diag *d)
{
	return msd_build_log_add(d, msd_cuda_error(d, function, code), log->text);
}

/* @image is a whole, aligned and NUL-terminated copy of @code. */
static msd_err image_load(const struct msd_cuda *cuda, const char *image,
			  struct msd_span code, struct cu_module **ret,
			  struct msd_diag *d)
{
	struct log log;

	log_init(&log);
	int result = cuda->api->module_load(ret, image, 2, log.options, log.values);
	if (result == MSD_CU_SUCCESS)
		return MSD_OK;
	msd_err err = refused(&log, "cuModuleLoadDataEx", result, d);
	if (result != MSD_CU_ERROR_INVALID_IMAGE)
		return err;
	const char *doubt = msd_cuda_image_doubt(code, msd_cuda_driver_major(), &err);
	return msd_diag_wrap(d, err, "%s", doubt);
}

static msd_err copy_load(const struct msd_cuda *cuda, struct msd_span code,
			 struct cu_module **ret, struct msd_diag *d)
{
	char *image = msd_cuda_image_copy(code);
	msd_err err = image != NULL ? image_load(cuda, image, code, ret, d)
				    : msd_diag_no_memory(d);

	free(image);
	return err;
}

/* @link owns the cubin. */
static msd_err link_run(const struct msd_cuda *cuda, struct cu_link *link, char *ptx,
			size_t n, const struct log *log, struct msd_span *ret,
			struct msd_diag *d)
{
	void *cubin = NULL;
	size_t size = 0;
	int code = cuda->api->link_add(link, MSD_CU_JIT_INPUT_PTX, ptx, n, "module.ptx",
				       0, NULL, NULL);

	if (code != MSD_CU_SUCCESS)
		return refused(log, "cuLinkAddData", code, d);
	code = cuda->api->link_complete(link, &cubin, &size);
	if (code != MSD_CU_SUCCESS)
		return refused(log, "cuLinkComplete", code, d);
	*ret = (struct msd_span){cubin, size};
	return MSD_OK;
}

/* Compile PTX to a cubin for the context's device. The driver's size counts the NUL. */
static msd_err ptx_compile(const struct msd_cuda *cuda, char *ptx, size_t n,
			   struct msd_buf *ret, struct msd_diag *d)
{
	struct cu_link *link = NULL;
	struct msd_span cubin = {0};
	struct log log;

	log_init(&log);
	int code = cuda->api->link_create(2, log.options, log.values, &link);
	if (code != MSD_CU_SUCCESS)
		return refused(&log, "cuLinkCreate", code, d);
	msd_err err = link_run(cuda, link, ptx, n, &log, &cubin, d);
	if (err == MSD_OK) {
		msd_buf_put(ret, cubin.p, cubin.n);
		if (ret->bad)
			err = msd_diag_no_memory(d);
	}
	(void)cuda->api->link_destroy(link);
	return err;
}

static msd_err ptx_build(const struct msd_cuda *cuda, struct msd_span code,
			 struct msd_buf *ret, struct msd_diag *d)
{
	char *ptx = msd_cuda_image_copy(code);
	msd_err err = ptx != NULL ? ptx_compile(cuda, ptx, strlen(ptx) + 1, ret, d)
				  : msd_diag_no_memory(d);

	free(ptx);
	return err;
}

static msd_err source_build(const struct msd_cuda *cuda, struct msd_span source,
			    struct msd_buf *ret, struct msd_diag *d)
{
	struct msd_buf text = {0};
	bool is_ptx;
	msd_err err =
		msd_cuda_source_compile(source, cuda->capability, &text, &is_ptx, d);

	if (err == MSD_OK && is_ptx) {
		err = ptx_build(cuda, (struct msd_span){text.p, text.n}, ret, d);
		msd_buf_finish(&text);
	} else if (err == MSD_OK) {
		*ret = text; /* moved */
	} else {
		msd_buf_finish(&text);
	}
	return err;
}

/* Load from the cache if the entry still loads. */
static bool cached_load(const struct msd_cuda *cuda, const struct msd_cache_key *key,
			struct cu_module **ret)
{
	struct msd_buf cubin = {0};
	enum msd_cuda_code what;
	bool ok = false;

	if (msd_cache_get(key, &cubin)) {
		const struct msd_span code = {cubin.p, cubin.n};
		ok = msd_cuda_image_check(msd_span_of("cubin"), code, &what, NULL) ==
			     MSD_OK &&
		     copy_load(cuda, code, ret, NULL) == MSD_OK;
		if (!ok)
			msd_cache_drop(key);
	}
	msd_buf_finish(&cubin);
	return ok;
}

/* Append the compiler's identity and options to the key, for source only. The driver
 * compiles PTX, and the key already contains the driver. */
static msd_err compiler_put(const struct msd_cuda *cuda, enum msd_cuda_code what,
			    struct msd_buf *ret, struct msd_diag *d)
{
	if (what == MSD_CUDA_SOURCE)
		return msd_cuda_source_key(cuda->capability, ret, d);
	msd_buf_put(ret, "ptx", 3);
	return ret->bad ? msd_diag_no_memory(d) : MSD_OK;
}

static msd_err keyed_load(const struct msd_cuda *cuda,
			  const struct msd_device_blob *blob, enum msd_cuda_code what,
			  struct msd_span compiler, struct cu_module **ret,
			  struct msd_diag *d)
{
	const struct msd_cache_key key = {
		.kind = "cuda",
		.parts = {blob->code, compiler, msd_span_of(cuda->info.name),
			  msd_span_of(cuda->info.capability),
			  msd_span_of(cuda->info.driver)},
		.n_parts = 5,
	};
	struct msd_buf cubin = {0};

	if (cached_load(cuda, &key, ret))
		return MSD_OK;
	const uint64_t begin_ns = msd_now_ns();
	msd_err err = what == MSD_CUDA_PTX ? ptx_build(cuda, blob->code, &cubin, d)
					   : source_build(cuda, blob->code, &cubin, d);
	msd_build_note(begin_ns);
	if (err == MSD_OK)
		err = copy_load(cuda, (struct msd_span){cubin.p, cubin.n}, ret, d);
	if (err == MSD_OK)
		msd_cache_put(&key, (struct msd_span){cubin.p, cubin.n});
	msd_buf_finish(&cubin);
	return err;
}

static msd_err compiled_load(const struct msd_cuda *cuda,
			     const struct msd_device_blob *blob,
			     enum msd_cuda_code what, struct cu_module **ret,
			     struct msd_diag *d)
{
	struct msd_buf compiler = {0};
	msd_err err = compiler_put(cuda, what, &compiler, d);

	if (err == MSD_OK) {
		err = keyed_load(cuda, blob, what,
				 (struct msd_span){compiler.p, compiler.n}, ret, d);
	}
	msd_buf_finish(&compiler);
	return err;
}

msd_err msd_cuda_build(const struct msd_cuda *cuda, const struct msd_device_blob *blob,
		       struct cu_module **ret, struct msd_diag *d)
{
	enum msd_cuda_code what;
	msd_err err = msd_cuda_image_check(blob->format, blob->code, &what, d);

	if (err != MSD_OK)
		return err;
	if (what == MSD_CUDA_PTX || what == MSD_CUDA_SOURCE)
		return compiled_load(cuda, blob, what, ret, d);
	return copy_load(cuda, blob->code, ret, d);
}

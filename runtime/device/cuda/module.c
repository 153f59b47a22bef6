/* A blob as a loaded module; all kernels are looked up at load. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/cuda/build.h"

struct msd_dev_program {
	struct msd_cuda *cuda;
	struct cu_module *module;
	pthread_mutex_t lock;
	struct msd_cuda_kernel *kernels; /* as in the blob */
};

static msd_err wrapped(struct msd_diag *d, msd_err err, const struct msd_kernel *k)
{
	return msd_diag_wrap(d, err, "kernel %.*s",
			     (int)(k->name.n < 128 ? k->name.n : 128),
			     (const char *)k->name.p);
}

/* Number of bytes passed for parameter @i. */
static size_t width(const struct msd_kernel *from, size_t i)
{
	uint64_t bytes = 0;

	if (from->extra != NULL && from->extra[i] == 1)
		return sizeof(struct cu_tensor_map);
	return msd_dtype_bytes(from->args[i], 1, &bytes) ? (size_t)bytes : 0;
}

static msd_err differs(const struct msd_kernel *from, size_t i, size_t size,
		       struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "parameter %zu has %zu bytes in the code, and the module "
			    "gives it %zu",
			    i, size, width(from, i));
}

/* Drivers before 12.4 do not report a kernel's parameters; launches then trust the
 * module. */
static msd_err parameters_check(const struct msd_cuda_api *api,
				const struct msd_kernel *from,
				struct msd_cuda_kernel *k, struct msd_diag *d)
{
	size_t offset;
	size_t size;
	int code = MSD_CU_SUCCESS;
	size_t n = 0;

	if (api->parameter == NULL)
		return MSD_OK;
	for (; n <= from->n_args; n++) {
		code = api->parameter(k->function, n, &offset, &size);
		if (code != MSD_CU_SUCCESS)
			break;
		if (n < from->n_args && size != width(from, n))
			return differs(from, n, size, d);
	}
	if (code != MSD_CU_SUCCESS && code != MSD_CU_ERROR_INVALID_VALUE) {
		msd_err err = msd_cuda_error(d, "cuFuncGetParamInfo", code);
		return err == MSD_GPU_FAULT ? err : MSD_OK;
	}
	if (n != from->n_args) {
		return msd_diag_set(
			d, MSD_BAD_ARTIFACT,
			"the code takes %s%zu parameters, but the module gives %zu",
			n > from->n_args ? "at least " : "", n, from->n_args);
	}
	k->is_checked = true;
	return MSD_OK;
}

static msd_err kernel_find(struct msd_dev_program *p, const struct msd_kernel *from,
			   struct msd_cuda_kernel *k, struct msd_diag *d)
{
	const struct msd_cuda_api *api = p->cuda->api;
	char *name = strndup((const char *)from->name.p, from->name.n);
	int bytes = 0;

	if (name == NULL)
		return msd_diag_no_memory(d);
	const char *function = "cuModuleGetFunction";
	int code = api->module_function(&k->function, p->module, name);
	if (code == MSD_CU_SUCCESS) {
		/* Also loads the kernel if the driver is lazy. */
		function = "cuFuncGetAttribute";
		code = api->function_get(
			&bytes, MSD_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, k->function);
	}
	free(name);
	if (code != MSD_CU_SUCCESS)
		return wrapped(d, msd_cuda_error(d, function, code), from);
	k->static_shared = bytes > 0 ? (uint32_t)bytes : 0;
	msd_err err = parameters_check(api, from, k, d);
	return err == MSD_OK ? err : wrapped(d, err, from);
}

void msd_cuda_unload(struct msd_dev_program *p)
{
	if (p == NULL)
		return;
	/* Queued work may still run it, on any stream. */
	if (p->module != NULL) {
		msd_cuda_reenter(p->cuda);
		(void)p->cuda->api->context_sync();
		(void)p->cuda->api->module_unload(p->module);
	}
	(void)pthread_mutex_destroy(&p->lock);
	free(p->kernels);
	free(p);
}

msd_err msd_cuda_load(struct msd_dev *dev, const struct msd_device_blob *blob,
		      struct msd_dev_program **ret, struct msd_diag *d)
{
	struct msd_dev_program *p = calloc(1, sizeof(*p));

	if (p == NULL || pthread_mutex_init(&p->lock, NULL) != 0) {
		free(p);
		return msd_diag_no_memory(d);
	}
	p->cuda = msd_cuda_of(dev);
	p->kernels = calloc(blob->n_kernels + 1, sizeof(*p->kernels));
	msd_err err =
		p->kernels != NULL ? msd_cuda_enter(p->cuda, d) : msd_diag_no_memory(d);
	if (err == MSD_OK)
		err = msd_cuda_build(p->cuda, blob, &p->module, d);
	for (size_t i = 0; err == MSD_OK && i < blob->n_kernels; i++)
		err = kernel_find(p, &blob->kernels[i], &p->kernels[i], d);
	if (err != MSD_OK) {
		msd_cuda_unload(p);
		return err;
	}
	*ret = p;
	return MSD_OK;
}

struct msd_cuda *msd_cuda_program_device(struct msd_dev_program *p)
{
	return p->cuda;
}

struct msd_cuda_kernel *msd_cuda_kernel_lock(struct msd_dev_program *p, size_t index)
{
	(void)pthread_mutex_lock(&p->lock);
	return &p->kernels[index];
}

void msd_cuda_kernel_unlock(struct msd_dev_program *p)
{
	(void)pthread_mutex_unlock(&p->lock);
}

/* A counter in the code; the blocks of a launch increment it. */
#define BARRIER "__tvm_global_barrier_state"
#define BARRIER_BYTES sizeof(uint32_t)

msd_err msd_cuda_reset_barrier(struct msd_dev_program *p, struct msd_diag *d)
{
	const struct msd_cuda *cuda = p->cuda;
	cu_address state = 0;
	size_t bytes = 0;
	msd_err err = msd_cuda_enter(cuda, d);

	if (err != MSD_OK)
		return err;
	const char *function = "cuModuleGetGlobal";
	int code = cuda->api->module_global(&state, &bytes, p->module, BARRIER);
	if (code == MSD_CU_SUCCESS && bytes != BARRIER_BYTES) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    BARRIER " has %zu bytes, and not %zu", bytes,
				    BARRIER_BYTES);
	}
	if (code == MSD_CU_SUCCESS) {
		function = "cuMemsetD8Async";
		code = cuda->api->fill(state, 0, bytes, msd_cuda_stream(cuda));
	}
	if (code == MSD_CU_SUCCESS)
		return MSD_OK;
	err = msd_cuda_error(d, function, code);
	return msd_diag_wrap(d, err, "the code's " BARRIER);
}

/* A blob as a loaded module: all kernels are looked up at once. */
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
		/* Also loads the kernel where the driver is lazy. */
		function = "cuFuncGetAttribute";
		code = api->function_get(
			&bytes, MSD_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, k->function);
	}
	free(name);
	if (code != MSD_CU_SUCCESS) {
		msd_err err = msd_cuda_error(d, function, code);
		return msd_diag_wrap(d, err, "kernel %.*s",
				     (int)(from->name.n < 128 ? from->name.n : 128),
				     (const char *)from->name.p);
	}
	k->static_shared = bytes > 0 ? (uint32_t)bytes : 0;
	return MSD_OK;
}

void msd_cuda_unload(struct msd_dev_program *p)
{
	if (p == NULL)
		return;
	/* What is queued may still run it. */
	if (p->module != NULL) {
		msd_cuda_reenter(p->cuda);
		(void)p->cuda->api->stream_sync(p->cuda->stream);
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

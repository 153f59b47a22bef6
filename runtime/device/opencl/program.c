/*
 * OpenCL kernels: one program per kernel, or one for all (source.h).
 *
 * Arguments are state of a kernel object. So a launch takes an idle object of its
 * kernel, or creates one, and two threads never share an object.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/opencl/opencl.h"
#include "runtime/device/opencl/source.h"

struct idle_kernel {
	struct idle_kernel *next;
	struct cl_kernel *kernel;
	bool has_values;
	uint64_t values[]; /* last values of the scalars, by argument */
};

struct program_kernel {
	char *name;                 /* NUL-terminated copy; owned */
	struct cl_program *program; /* owned by the first kernel that uses it */
	bool owns_program;
	_Atomic(struct idle_kernel *) spare; /* enough for a single thread */
	struct idle_kernel *idle; /* further ones; protected by the program's lock */
};

struct msd_dev_program {
	struct msd_opencl *cl;
	pthread_mutex_t lock;
	struct program_kernel *kernels; /* as in the blob */
	size_t n_kernels;
};

static msd_err kernel_create(struct msd_opencl *cl, const struct program_kernel *k,
			     struct cl_kernel **ret, struct msd_diag *d)
{
	int32_t code;

	*ret = cl->api->clCreateKernel(k->program, k->name, &code);
	if (code == CL_OK)
		return MSD_OK;
	*ret = NULL;
	if (code == CL_INVALID_KERNEL_NAME_ERR) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "the program has no kernel %s",
				    k->name);
	}
	msd_err err = msd_opencl_error(d, "clCreateKernel", code);
	return msd_diag_wrap(d, err, "kernel %s", k->name);
}

static msd_err kernel_take(struct msd_dev_program *p, struct program_kernel *k,
			   size_t n_args, struct idle_kernel **ret, struct msd_diag *d)
{
	struct idle_kernel *idle = atomic_exchange(&k->spare, NULL);

	if (idle == NULL) {
		(void)pthread_mutex_lock(&p->lock);
		idle = k->idle;
		if (idle != NULL)
			k->idle = idle->next;
		(void)pthread_mutex_unlock(&p->lock);
	}
	if (idle == NULL) {
		idle = calloc(1, sizeof(*idle) + n_args * sizeof(idle->values[0]));
		if (idle == NULL)
			return msd_diag_no_memory(d);
		msd_err err = kernel_create(p->cl, k, &idle->kernel, d);
		if (err != MSD_OK) {
			free(idle);
			return err;
		}
	}
	*ret = idle;
	return MSD_OK;
}

static void kernel_give_more(struct msd_dev_program *p, struct program_kernel *k,
			     struct idle_kernel *idle)
{
	(void)pthread_mutex_lock(&p->lock);
	idle->next = k->idle;
	k->idle = idle;
	(void)pthread_mutex_unlock(&p->lock);
}

static void kernel_give(struct msd_dev_program *p, struct program_kernel *k,
			struct idle_kernel *idle)
{
	struct idle_kernel *none = NULL;

	if (!atomic_compare_exchange_strong(&k->spare, &none, idle))
		kernel_give_more(p, k, idle);
}

/* The program for kernel @i: its own or the shared one. */
static msd_err program_for(struct msd_dev_program *p,
			   const struct msd_device_blob *blob, size_t i,
			   struct msd_diag *d)
{
	struct program_kernel *k = &p->kernels[i];
	struct msd_span source = blob->code;
	msd_err err;

	if (!msd_span_is(blob->format, "cl") || !msd_opencl_has_sections(blob->code)) {
		if (i > 0) {
			k->program = p->kernels[0].program;
			return MSD_OK;
		}
	} else if (!msd_opencl_section_find(blob->code, blob->kernels[i].name,
					    &source)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "the source has no section for kernel %s", k->name);
	}
	err = msd_span_is(blob->format, "cl")
		      ? msd_opencl_build_source(p->cl, source, &k->program, d)
		      : msd_opencl_build_binary(p->cl, source, &k->program, d);
	k->owns_program = err == MSD_OK;
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "kernel %s", k->name);
}

/* Creates the first kernel object, so that a kernel missing from the program is
 * detected at load. */
static msd_err kernel_load(struct msd_dev_program *p,
			   const struct msd_device_blob *blob, size_t i,
			   struct msd_diag *d)
{
	struct program_kernel *k = &p->kernels[i];
	struct idle_kernel *idle;

	k->name =
		strndup((const char *)blob->kernels[i].name.p, blob->kernels[i].name.n);
	if (k->name == NULL)
		return msd_diag_no_memory(d);
	msd_err err = program_for(p, blob, i, d);
	if (err == MSD_OK)
		err = kernel_take(p, k, blob->kernels[i].n_args, &idle, d);
	if (err == MSD_OK)
		kernel_give(p, k, idle);
	return err;
}

void msd_opencl_unload(struct msd_dev_program *p)
{
	if (p == NULL)
		return;
	const struct msd_opencl_api *api = p->cl->api;
	for (size_t i = 0; p->kernels != NULL && i < p->n_kernels; i++) {
		struct program_kernel *k = &p->kernels[i];
		struct idle_kernel *spare = atomic_exchange(&k->spare, NULL);
		if (spare != NULL)
			kernel_give_more(p, k, spare);
		while (k->idle != NULL) {
			struct idle_kernel *idle = k->idle;
			k->idle = idle->next;
			(void)api->clReleaseKernel(idle->kernel);
			free(idle);
		}
		free(k->name);
	}
	for (size_t i = 0; p->kernels != NULL && i < p->n_kernels; i++) {
		if (p->kernels[i].owns_program)
			(void)api->clReleaseProgram(p->kernels[i].program);
	}
	(void)pthread_mutex_destroy(&p->lock);
	free(p->kernels);
	free(p);
}

static bool has_bools(const struct msd_device_blob *blob)
{
	for (size_t i = 0; i < blob->n_kernels; i++) {
		for (size_t k = 0; k < blob->kernels[i].n_args; k++) {
			if (msd_dtype_is_bool(blob->kernels[i].args[k]))
				return true;
		}
	}
	return false;
}

static msd_err kernels_load(struct msd_dev_program *p,
			    const struct msd_device_blob *blob, struct msd_diag *d)
{
	struct msd_device_blob changed = *blob;
	msd_err err = MSD_OK;
	char *code = NULL;

	if (has_bools(blob) && msd_span_is(blob->format, "cl")) {
		code = malloc(blob->code.n + 1);
		if (code == NULL)
			return msd_diag_no_memory(d);
		memcpy(code, blob->code.p, blob->code.n);
		msd_opencl_bools_replace(code, blob->code.n);
		changed.code.p = (const uint8_t *)code;
	}
	for (size_t i = 0; err == MSD_OK && i < blob->n_kernels; i++)
		err = kernel_load(p, &changed, i, d);
	free(code);
	return err;
}

msd_err msd_opencl_load(struct msd_dev *dev, const struct msd_device_blob *blob,
			struct msd_dev_program **ret, struct msd_diag *d)
{
	struct msd_dev_program *p = calloc(1, sizeof(*p));

	if (p == NULL || pthread_mutex_init(&p->lock, NULL) != 0) {
		free(p);
		return msd_diag_no_memory(d);
	}
	p->cl = msd_opencl_of(dev);
	p->kernels = calloc(blob->n_kernels + 1, sizeof(*p->kernels));
	p->n_kernels = blob->n_kernels;
	msd_err err =
		p->kernels != NULL ? kernels_load(p, blob, d) : msd_diag_no_memory(d);
	if (err != MSD_OK) {
		msd_opencl_unload(p);
		return err;
	}
	*ret = p;
	return MSD_OK;
}

/* True if @value is already set for argument @i. Records it if not. */
static bool is_same(struct idle_kernel *idle, uint32_t i, const void *value, size_t n)
{
	uint64_t bits = 0;

	memcpy(&bits, value, n);
	if (idle->has_values && idle->values[i] == bits)
		return true;
	idle->values[i] = bits;
	return false;
}

static msd_err args_set(struct msd_opencl *cl, struct idle_kernel *idle,
			const struct msd_launch *launch, struct msd_diag *d)
{
	for (uint32_t i = 0; i < launch->kernel->n_args; i++) {
		const struct msd_dtype type = launch->kernel->args[i];
		const void *value = launch->values[i];
		size_t n = (type.bits + 7u) / 8u;
		struct cl_mem *mem;

		if (type.code == MSD_DT_HANDLE) {
			void *address;
			memcpy(&address, value, sizeof(address));
			msd_err err = msd_opencl_buffer(cl, address, &mem, d);
			if (err != MSD_OK)
				return msd_diag_wrap(d, err, "argument %u", i);
			value = &mem;
			n = sizeof(mem);
		} else if (is_same(idle, i, value, n)) {
			continue;
		}
		int32_t code = cl->api->clSetKernelArg(idle->kernel, i, n, value);
		if (code != CL_OK) {
			msd_err err = msd_opencl_error(d, "clSetKernelArg", code);
			return msd_diag_wrap(d, err, "argument %u", i);
		}
	}
	return MSD_OK;
}

static msd_err enqueue(struct msd_opencl *cl, struct cl_kernel *kernel,
		       const struct msd_launch *launch, struct msd_diag *d)
{
	size_t global[3];
	size_t local[3];
	uint32_t n_dims = 1;

	for (uint32_t i = 0; i < 3; i++) {
		local[i] = launch->block[i];
		global[i] = (size_t)launch->grid[i] * launch->block[i];
		if (global[i] > 1)
			n_dims = i + 1;
	}
	int32_t code = cl->api->clEnqueueNDRangeKernel(cl->queue, kernel, n_dims, NULL,
						       global, local, 0, NULL, NULL);
	if (code == CL_OK)
		return MSD_OK;
	size_t most = 0;
	(void)cl->api->clGetDeviceInfo(cl->place.device, CL_DEVICE_MAX_GROUP_INFO,
				       sizeof(most), &most, NULL);
	msd_err err = msd_opencl_error(d, "clEnqueueNDRangeKernel", code);
	return msd_diag_wrap(d, err,
			     "%zu x %zu x %zu items in groups of %zu x %zu x %zu (the "
			     "device has groups of %zu at most)",
			     global[0], global[1], global[2], local[0], local[1],
			     local[2], most);
}

msd_err msd_opencl_launch(struct msd_dev_program *p, size_t index,
			  const struct msd_launch *launch, struct msd_diag *d)
{
	struct program_kernel *k = &p->kernels[index];
	struct idle_kernel *idle;

	msd_err err = kernel_take(p, k, launch->kernel->n_args, &idle, d);
	if (err != MSD_OK)
		return err;
	err = args_set(p->cl, idle, launch, d);
	idle->has_values = err == MSD_OK;
	if (err == MSD_OK)
		err = enqueue(p->cl, idle->kernel, launch, d);
	kernel_give(p, k, idle);
	return err;
}

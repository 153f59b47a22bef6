/*
 * Launches of CUDA kernels. The extents and shared memory of the call become the
 * driver's launch configuration. Tags of the code (clusters, programmatic or
 * cooperative launches) become attributes. Large shared memory and large clusters
 * must be enabled per kernel; this is done when a launch needs them.
 */
#include <string.h>

#include "runtime/device/cuda/cuda.h"

/* More shared memory than this in total (static and dynamic), or more blocks per
 * cluster than this, must be enabled per kernel. */
#define SHARED_DEFAULT_BYTES (48u * 1024u)
#define PORTABLE_CLUSTER_BLOCKS 8u
#define MAX_ATTRIBUTES 4u
#define MAX_PARAMETER_BYTES 32764u /* total of a kernel */

static uint64_t volume(const uint32_t extent[static 3])
{
	return (uint64_t)extent[0] * extent[1] * extent[2];
}

static msd_err allow(const struct msd_cuda *cuda, struct cu_function *function,
		     int attribute, uint32_t value, struct msd_diag *d)
{
	int code = cuda->api->function_set(function, attribute, (int)value);

	if (code == MSD_CU_SUCCESS)
		return MSD_OK;
	msd_err err = msd_cuda_error(d, "cuFuncSetAttribute", code);
	if (attribute == MSD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
		return msd_diag_wrap(d, err, "%u bytes of dynamic shared memory",
				     value);
	}
	return msd_diag_wrap(d, err, "clusters of more than %u blocks",
			     PORTABLE_CLUSTER_BLOCKS);
}

/* Enable the kernel attributes that the launch needs; the caller has locked the
 * kernel. */
static msd_err prepare(const struct msd_cuda *cuda, struct msd_cuda_kernel *k,
		       const struct msd_launch *launch, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	if ((uint64_t)k->static_shared + launch->shared_bytes > SHARED_DEFAULT_BYTES &&
	    launch->shared_bytes > k->shared_allowed) {
		if (launch->shared_bytes > INT32_MAX) {
			return msd_diag_set(d, MSD_BAD_ARGUMENT,
					    "%u bytes of dynamic shared memory",
					    launch->shared_bytes);
		}
		err = allow(cuda, k->function,
			    MSD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
			    launch->shared_bytes, d);
		if (err == MSD_OK)
			k->shared_allowed = launch->shared_bytes;
	}
	if (err == MSD_OK && !k->has_large_clusters &&
	    (volume(launch->cluster) > PORTABLE_CLUSTER_BLOCKS ||
	     volume(launch->preferred_cluster) > PORTABLE_CLUSTER_BLOCKS)) {
		err = allow(cuda, k->function,
			    MSD_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1,
			    d);
		k->has_large_clusters = err == MSD_OK;
	}
	return err;
}

static void add_flag(struct cu_launch_attribute *list, uint32_t *n, int id)
{
	list[(*n)++] = (struct cu_launch_attribute){.id = id, .value.flag = 1};
}

static void add_extent(struct cu_launch_attribute *list, uint32_t *n, int id,
		       const uint32_t extent[static 3])
{
	struct cu_launch_attribute *a = &list[(*n)++];

	*a = (struct cu_launch_attribute){.id = id};
	memcpy(a->value.extent, extent, sizeof(a->value.extent));
}

static uint32_t attributes_fill(const struct msd_launch *launch,
				struct cu_launch_attribute list[static MAX_ATTRIBUTES])
{
	uint32_t n = 0;

	if (launch->is_cooperative)
		add_flag(list, &n, MSD_CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
	if (launch->is_programmatic) {
		add_flag(list, &n,
			 MSD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
	}
	if (volume(launch->cluster) > 1) {
		add_extent(list, &n, MSD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
			   launch->cluster);
	}
	if (volume(launch->preferred_cluster) > 1) {
		add_extent(list, &n,
			   MSD_CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
			   launch->preferred_cluster);
	}
	return n;
}

static msd_err enqueue(const struct msd_cuda *cuda, struct cu_function *function,
		       const struct msd_launch *launch, void **values,
		       struct msd_diag *d)
{
	struct cu_launch_attribute attributes[MAX_ATTRIBUTES];
	struct cu_launch_config config = {
		.shared_bytes = launch->shared_bytes,
		.stream = msd_cuda_stream(cuda),
		.attributes = attributes,
		.n_attributes = attributes_fill(launch, attributes),
	};
	const uint32_t *grid = launch->grid;
	const uint32_t *block = launch->block;
	const char *name = "cuLaunchKernel";
	int code;

	if (config.n_attributes == 0) {
		code = cuda->api->launch(function, grid[0], grid[1], grid[2], block[0],
					 block[1], block[2], launch->shared_bytes,
					 config.stream, values, NULL);
	} else if (cuda->api->launch_ex == NULL) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "cooperative, cluster and dependent launches need "
				    "a CUDA driver of 11.8 or later");
	} else {
		name = "cuLaunchKernelEx";
		memcpy(config.grid, grid, sizeof(config.grid));
		memcpy(config.block, block, sizeof(config.block));
		code = cuda->api->launch_ex(&config, function, values, NULL);
	}
	if (code == MSD_CU_SUCCESS)
		return MSD_OK;
	msd_err err = msd_cuda_error(d, name, code);
	return msd_diag_wrap(d, err,
			     "grid %u x %u x %u, block %u x %u x %u, %u bytes of "
			     "shared memory",
			     grid[0], grid[1], grid[2], block[0], block[1], block[2],
			     launch->shared_bytes);
}

/* The driver reads as many values as the code takes. If that number is unknown,
 * values that the module does not pass are zeros, not memory after the array. */
static msd_err enqueue_unchecked(const struct msd_cuda *cuda,
				 struct cu_function *function,
				 const struct msd_launch *launch, struct msd_diag *d)
{
	static const char zeros[MAX_PARAMETER_BYTES];
	void *values[MSD_MAX_KERNEL_ARGS];
	const size_t n = launch->kernel->n_args;

	memcpy(values, launch->values, n * sizeof(values[0]));
	for (size_t i = n; i < MSD_MAX_KERNEL_ARGS; i++)
		values[i] = (void *)(uintptr_t)zeros;
	return enqueue(cuda, function, launch, values, d);
}

msd_err msd_cuda_launch(struct msd_dev_program *program, size_t index,
			const struct msd_launch *launch, struct msd_diag *d)
{
	const struct msd_cuda *cuda = msd_cuda_program_device(program);
	msd_err err = msd_cuda_enter(cuda, d);

	if (err != MSD_OK)
		return err;
	struct msd_cuda_kernel *k = msd_cuda_kernel_lock(program, index);
	struct cu_function *function = k->function;
	const bool is_checked = k->is_checked;
	err = prepare(cuda, k, launch, d);
	msd_cuda_kernel_unlock(program);
	if (err != MSD_OK)
		return err;
	return is_checked ? enqueue(cuda, function, launch, launch->values, d)
			  : enqueue_unchecked(cuda, function, launch, d);
}

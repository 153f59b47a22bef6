/* Functions and their launches, with what a device of 9.0 refuses. Rules are named by
 * the function of the driver API's documentation that has them, or by the table
 * "Technical Specifications per Compute Capability" of the programming guide. */
#include <stdlib.h>
#include <string.h>

#include "artifact/gpu/code.h"
#include "stub.h"

/* Found by name alone: there is no header that declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* The table's rows. */
#define MOST_GRID_X 0x7fffffffu
#define MOST_GRID_YZ 65535u
#define MOST_BLOCK_XY 1024u
#define MOST_BLOCK_Z 64u
#define MOST_BLOCK 1024
#define MOST_SHARED (227 * 1024)
#define MOST_RESIDENT_THREADS 2048u
#define DEFAULT_SHARED (48 * 1024)
#define MULTIPROCESSORS 132u
#define PORTABLE_CLUSTER 8u
#define MOST_CLUSTER 16u

enum {
	ATTRIBUTE_MAX_THREADS = 0,
	ATTRIBUTE_SHARED = 1,
	ATTRIBUTE_DYNAMIC = 8,
	ATTRIBUTE_LARGE_CLUSTERS = 14,
	LAUNCH_COOPERATIVE = 2,
	LAUNCH_CLUSTER = 4,
	LAUNCH_PROGRAMMATIC = 6,
	LAUNCH_PREFERRED_CLUSTER = 11,
};

static bool facts_of(struct object *f, const char *name,
		     const struct msd_gpu_code *code)
{
	for (size_t i = 0; i < code->n_images; i++) {
		const struct msd_gpu_image *image = &code->images[i];
		/* Of a fatbin the driver takes what is for its device. */
		if (image->arch.sm != 0 &&
		    !msd_gpu_image_runs_on(image, STUB_CAPABILITY))
			continue;
		for (size_t k = 0; k < image->n_kernels; k++) {
			const struct msd_gpu_kernel *at = &image->kernels[k];
			if (strcmp(at->name, name) != 0)
				continue;
			f->n_params = (int)at->n_params;
			memcpy(f->param_sizes, at->param_sizes, sizeof(f->param_sizes));
			if (at->shared_bytes > 0)
				f->static_shared = (int)at->shared_bytes;
			if (at->max_threads[0] > 0) {
				f->max_threads =
					(int)(at->max_threads[0] * at->max_threads[1] *
					      at->max_threads[2]);
			}
			return true;
		}
	}
	return false;
}

/* The linker's result has the text in it. */
void facts_read(struct object *f, const char *name)
{
	const char *image = f->module->image;
	const char *text = memmem(image, f->module->image_bytes, ".version", 8);
	const size_t skip = text != NULL ? (size_t)(text - image) : 0;
	const struct msd_span whole = {(const uint8_t *)image, f->module->image_bytes};
	const struct msd_span part = {whole.p + skip, whole.n - skip};
	struct msd_gpu_code code = {0};

	f->max_dynamic = DEFAULT_SHARED;
	f->max_threads = MOST_BLOCK;
	f->n_params = -1;
	if (msd_gpu_code_read(whole, &code, NULL) == MSD_OK)
		(void)facts_of(f, name, &code);
	msd_gpu_code_finish(&code);
	code = (struct msd_gpu_code){0};
	if (f->n_params < 0 && skip > 0 &&
	    msd_gpu_code_read(part, &code, NULL) == MSD_OK)
		(void)facts_of(f, name, &code);
	msd_gpu_code_finish(&code);
	if (f->kernel != NULL && f->n_params >= 0 &&
	    (size_t)f->n_params != strlen(f->kernel->params))
		violation("%s takes %d parameters", name, f->n_params);
}

/* "Execution Control", cuFuncGetAttribute: CUfunction_attribute has them. */
STUB_API int cuFuncGetAttribute(int *ret, int which, struct object *f)
{
	ENTER(enter_context("cuFuncGetAttribute"));
	if (!object_ok(f, FUNCTION, "cuFuncGetAttribute"))
		return INVALID_HANDLE;
	*ret = which == ATTRIBUTE_SHARED ? f->static_shared : f->max_threads;
	return which == ATTRIBUTE_SHARED || which == ATTRIBUTE_MAX_THREADS
		       ? OK
		       : INVALID_VALUE;
}

/* "Execution Control", cuFuncSetAttribute: static and dynamic shared memory together
 * are at most CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN. */
STUB_API int cuFuncSetAttribute(struct object *f, int which, int value)
{
	ENTER(enter_context("cuFuncSetAttribute"));
	if (!object_ok(f, FUNCTION, "cuFuncSetAttribute"))
		return INVALID_HANDLE;
	if (which == ATTRIBUTE_DYNAMIC &&
	    (value < 0 || value + f->static_shared > MOST_SHARED))
		return INVALID_VALUE;
	if (which == ATTRIBUTE_LARGE_CLUSTERS && value != 0 && value != 1)
		return INVALID_VALUE;
	if (which == ATTRIBUTE_DYNAMIC)
		f->max_dynamic = value;
	if (which == ATTRIBUTE_LARGE_CLUSTERS)
		f->has_large_clusters = value != 0;
	return which == ATTRIBUTE_DYNAMIC || which == ATTRIBUTE_LARGE_CLUSTERS
		       ? OK
		       : INVALID_VALUE;
}

static size_t param_bytes(char type)
{
	return type == 'i' || type == 'f' ? 4 : type == 'T' ? 128 : 8;
}

/* "Execution Control", cuFuncGetParamInfo: an index that the function has not is an
 * invalid value. */
STUB_API int cuFuncGetParamInfo(struct object *f, size_t index, size_t *offset,
				size_t *size)
{
	ENTER(enter_context("cuFuncGetParamInfo"));
	if (!object_ok(f, FUNCTION, "cuFuncGetParamInfo"))
		return INVALID_HANDLE;
	const size_t n = f->kernel != NULL ? strlen(f->kernel->params)
			 : f->n_params >= 0 && f->n_params <= STUB_PARAM_SIZES
				 ? (size_t)f->n_params
				 : SIZE_MAX;
	if (n == SIZE_MAX || getenv("STUB_CUDA_NO_PARAMS") != NULL)
		return NOT_SUPPORTED;
	if (index >= n)
		return INVALID_VALUE;
	*offset = 0;
	for (size_t i = 0; i <= index; i++) {
		/* The code's own table is believed before ours. */
		*size = f->param_sizes[i] != 0 ? f->param_sizes[i]
			: f->kernel != NULL    ? param_bytes(f->kernel->params[i])
					       : 0;
		if (*size == 0)
			return NOT_SUPPORTED;
		*offset =
			(*offset + *size - 1) / *size * *size + (i < index ? *size : 0);
	}
	return OK;
}

/* Programming guide, "Technical Specifications per Compute Capability": extents of
 * grids and blocks; PTX manual, "Performance-Tuning Directives", .maxntid
 * (__launch_bounds__): more threads are a failed launch. cuLaunchKernel: shared memory
 * beyond 48 KiB has to be allowed first. */
static bool shape_ok(const struct object *f, const unsigned grid[3],
		     const unsigned block[3], unsigned shared)
{
	for (int i = 0; i < 3; i++) {
		if (grid[i] == 0 || grid[i] > (i == 0 ? MOST_GRID_X : MOST_GRID_YZ))
			return false;
		if (block[i] == 0 || block[i] > (i < 2 ? MOST_BLOCK_XY : MOST_BLOCK_Z))
			return false;
	}
	if ((uint64_t)block[0] * block[1] * block[2] > (uint64_t)f->max_threads)
		return false;
	/* The default counts both; what was allowed is dynamic alone. */
	return f->max_dynamic != DEFAULT_SHARED
		       ? shared <= (unsigned)f->max_dynamic
		       : (int64_t)shared + f->static_shared <= DEFAULT_SHARED;
}

static bool idle(const struct work *w)
{
	(void)w;
	return true;
}

static const struct kernel idle_kernel = {"idle", "", idle};
static const unsigned no_cluster[3] = {1, 1, 1};

static void params_read(struct work *w, void **params)
{
	for (size_t i = 0; w->kernel->params[i] != '\0'; i++) {
		const char type = w->kernel->params[i];
		memcpy(&w->params[i], params[i], type == 'T' ? 8 : param_bytes(type));
		if (type == 'T')
			memcpy(w->map, params[i], sizeof(w->map));
		if (type == 'p' && w->params[i].u64 != 0 &&
		    memory_at(w->params[i].u64, 1) == NULL) {
			violation("parameter %zu of %s is no memory", i,
				  w->kernel->name);
		}
	}
}

/* NOLINTNEXTLINE(readability-function-size): of both functions of the driver */
static int launch(struct object *f, const unsigned grid[3], const unsigned block[3],
		  const unsigned cluster[3], unsigned shared, struct object *stream,
		  void **params, uint32_t attributes)
{
	struct work w = {.task = KERNEL};

	if (!object_ok(f, FUNCTION, "launch") || !object_ok(stream, STREAM, "launch"))
		return INVALID_HANDLE;
	if (!f->module->is_alive) {
		violation("a kernel of an unloaded module is launched");
		return INVALID_HANDLE;
	}
	if (!shape_ok(f, grid, block, shared))
		return INVALID_VALUE;
	if (f->kernel == NULL && getenv("STUB_CUDA_IDLE") == NULL)
		return NOT_SUPPORTED; /* the stand-in does not know it */
	w.kernel = f->kernel != NULL ? f->kernel : &idle_kernel;
	params_read(&w, params);
	memcpy(w.grid, grid, sizeof(w.grid));
	memcpy(w.block, block, sizeof(w.block));
	memcpy(w.cluster, cluster, sizeof(w.cluster));
	w.shared = shared;
	w.barrier = f->module->global;
	note_launch(grid, block, shared, attributes);
	work_add(stream, &w);
	return OK;
}

/* "Execution Control", cuLaunchKernel: values are given by kernelParams or by extra,
 * not by both. */
/* NOLINTNEXTLINE(readability-function-size): the driver's signature */
STUB_API int cuLaunchKernel(struct object *f, unsigned gx, unsigned gy, unsigned gz,
			    unsigned bx, unsigned by, unsigned bz, unsigned shared,
			    struct object *stream, void **params, void **extra)
{
	const unsigned grid[3] = {gx, gy, gz};
	const unsigned block[3] = {bx, by, bz};

	ENTER(enter_context("cuLaunchKernel"));
	if (extra != NULL)
		return INVALID_VALUE;
	return launch(f, grid, block, no_cluster, shared, stream, params, 0);
}

struct attribute {
	int id;
	int pad;
	union {
		char bytes[64];
		int flag;
		unsigned extent[3];
	} value;
};

struct config {
	unsigned grid[3], block[3], shared;
	struct object *stream;
	struct attribute *attributes;
	unsigned n;
};

/* "Data types used by CUDA driver", CUlaunchAttributeID,
 * CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: extents divide the grid's; more than 8 blocks
 * have to be allowed, more than 16 there are not. */
static int cluster_check(const struct object *f, const struct config *c,
			 const unsigned e[3])
{
	const uint64_t blocks = (uint64_t)e[0] * e[1] * e[2];

	for (int k = 0; k < 3; k++) {
		if (e[k] == 0 || c->grid[k] % e[k] != 0)
			return INVALID_CLUSTER_SIZE;
	}
	if (blocks > MOST_CLUSTER ||
	    (blocks > PORTABLE_CLUSTER && !f->has_large_clusters))
		return INVALID_CLUSTER_SIZE;
	return OK;
}

/* The same, CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION: a multiple of the regular
 * cluster, of the same depth, and a divisor of the grid; without a regular one it is
 * without effect. */
static int preferred_check(const struct config *c, const unsigned e[3])
{
	const unsigned *regular = NULL;

	for (unsigned i = 0; i < c->n; i++) {
		if (c->attributes[i].id == LAUNCH_CLUSTER)
			regular = c->attributes[i].value.extent;
	}
	for (int k = 0; regular != NULL && k < 3; k++) {
		if (e[k] == 0 || e[k] % regular[k] != 0 || c->grid[k] % e[k] != 0)
			return INVALID_CLUSTER_SIZE;
	}
	return regular == NULL || e[2] == regular[2] ? OK : INVALID_CLUSTER_SIZE;
}

/* "Execution Control", cuLaunchCooperativeKernel: all blocks are resident at once. */
static int cooperative_check(const struct config *c)
{
	const uint64_t threads = (uint64_t)c->block[0] * c->block[1] * c->block[2];
	const uint64_t blocks = (uint64_t)c->grid[0] * c->grid[1] * c->grid[2];

	if (threads == 0 || threads > MOST_RESIDENT_THREADS)
		return INVALID_VALUE;
	return blocks <= MULTIPROCESSORS * (MOST_RESIDENT_THREADS / threads)
		       ? OK
		       : COOPERATIVE_LAUNCH_TOO_LARGE;
}

/* "Data types used by CUDA driver", CUlaunchAttributeID: which there are, and what
 * values they take. */
static int attribute_check(const struct object *f, const struct config *c,
			   const struct attribute *a)
{
	switch (a->id) {
	case LAUNCH_CLUSTER:
		return cluster_check(f, c, a->value.extent);
	case LAUNCH_PREFERRED_CLUSTER:
		return preferred_check(c, a->value.extent);
	case LAUNCH_COOPERATIVE:
		if (a->value.flag == 1)
			return cooperative_check(c);
		return a->value.flag == 0 ? OK : INVALID_VALUE;
	case LAUNCH_PROGRAMMATIC:
		return a->value.flag == 0 || a->value.flag == 1 ? OK : INVALID_VALUE;
	default:
		return INVALID_VALUE;
	}
}

/* "Execution Control", cuLaunchKernelEx: as cuLaunchKernel, with attributes, each of
 * which is checked. */
STUB_API int cuLaunchKernelEx(const struct config *c, struct object *f, void **params,
			      void **extra)
{
	const unsigned *cluster = no_cluster;
	uint32_t seen = 0;

	ENTER(enter_context("cuLaunchKernelEx"));
	if (extra != NULL || !object_ok(f, FUNCTION, "cuLaunchKernelEx"))
		return INVALID_VALUE;
	for (unsigned i = 0; i < c->n; i++) {
		const int code = attribute_check(f, c, &c->attributes[i]);
		if (code != OK)
			return code;
		seen |= 1u << c->attributes[i].id;
		if (c->attributes[i].id == LAUNCH_CLUSTER)
			cluster = c->attributes[i].value.extent;
	}
	return launch(f, c->grid, c->block, cluster, c->shared, c->stream, params,
		      seen);
}

/* The OpenCL functions, looked up in the ICD loader when the first device is
 * requested, and the error codes with their names. */
#include "runtime/device/opencl/api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libOpenCL.so.1"

static struct msd_opencl_api api;
static char absent[256]; /* reason why there is no loader; empty if there is one */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct {
	const char *name;
	size_t offset;
} fields[] = {
#define MSD_OPENCL_CODE_ROW(name, args) {#name, offsetof(struct msd_opencl_api, name)},
	MSD_OPENCL_CODE_MAP(MSD_OPENCL_CODE_ROW)
#undef MSD_OPENCL_CODE_ROW
#define MSD_OPENCL_OBJECT_ROW(type, name, args)                                        \
	{#name, offsetof(struct msd_opencl_api, name)},
		MSD_OPENCL_OBJECT_MAP(MSD_OPENCL_OBJECT_ROW)
#undef MSD_OPENCL_OBJECT_ROW
};

/* The library stays open: some drivers fail when they are unmapped. */
static void load(void)
{
	const char *path = secure_getenv("MODSERD_LIBOPENCL");
	void *library;

	if (path == NULL || path[0] == '\0')
		path = LIBRARY;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		const char *why = dlerror();
		(void)snprintf(absent, sizeof(absent), "no OpenCL loader: %s",
			       why != NULL ? why : path);
		return;
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		void *symbol = dlsym(library, fields[i].name);
		if (symbol == NULL) {
			(void)snprintf(absent, sizeof(absent),
				       "the OpenCL loader %s has no %s (OpenCL 1.2 is "
				       "needed)",
				       path, fields[i].name);
			return;
		}
		memcpy((char *)&api + fields[i].offset, &symbol, sizeof(symbol));
	}
}

const struct msd_opencl_api *msd_opencl_api(struct msd_diag *d)
{
	(void)pthread_once(&once, load);
	if (absent[0] == '\0')
		return &api;
	(void)msd_diag_set(d, MSD_UNSUPPORTED, "%s", absent);
	return NULL;
}

static const char *error_name(int32_t code)
{
	static const char *const names[] = {
		[0] = "CL_SUCCESS",
		[1] = "CL_DEVICE_NOT_FOUND",
		[2] = "CL_DEVICE_NOT_AVAILABLE",
		[3] = "CL_COMPILER_NOT_AVAILABLE",
		[4] = "CL_MEM_OBJECT_ALLOCATION_FAILURE",
		[5] = "CL_OUT_OF_RESOURCES",
		[6] = "CL_OUT_OF_HOST_MEMORY",
		[11] = "CL_BUILD_PROGRAM_FAILURE",
		[13] = "CL_MISALIGNED_SUB_BUFFER_OFFSET",
		[14] = "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
		[30] = "CL_INVALID_VALUE",
		[33] = "CL_INVALID_DEVICE",
		[34] = "CL_INVALID_CONTEXT",
		[36] = "CL_INVALID_COMMAND_QUEUE",
		[38] = "CL_INVALID_MEM_OBJECT",
		[42] = "CL_INVALID_BINARY",
		[44] = "CL_INVALID_PROGRAM",
		[45] = "CL_INVALID_PROGRAM_EXECUTABLE",
		[46] = "CL_INVALID_KERNEL_NAME",
		[47] = "CL_INVALID_KERNEL_DEFINITION",
		[48] = "CL_INVALID_KERNEL",
		[49] = "CL_INVALID_ARG_INDEX",
		[50] = "CL_INVALID_ARG_VALUE",
		[51] = "CL_INVALID_ARG_SIZE",
		[52] = "CL_INVALID_KERNEL_ARGS",
		[53] = "CL_INVALID_WORK_DIMENSION",
		[54] = "CL_INVALID_WORK_GROUP_SIZE",
		[55] = "CL_INVALID_WORK_ITEM_SIZE",
		[61] = "CL_INVALID_BUFFER_SIZE",
		[63] = "CL_INVALID_GLOBAL_WORK_SIZE",
	};
	const char *name = NULL;

	if (code == CL_PLATFORM_NOT_FOUND_ERR)
		return "CL_PLATFORM_NOT_FOUND_KHR";
	if (code <= 0 && code > -(int32_t)(sizeof(names) / sizeof(names[0])))
		name = names[-code];
	return name != NULL ? name : "an error";
}

msd_err msd_opencl_error(struct msd_diag *d, const char *function, int32_t code)
{
	msd_err err = MSD_CALL_FAILED;

	if (code == CL_ALLOCATION_FAILURE_ERR || code == CL_OUT_OF_HOST_MEMORY_ERR ||
	    code == CL_INVALID_BUFFER_SIZE_ERR) {
		err = MSD_NOMEM;
	} else if (code == CL_DEVICE_NOT_AVAILABLE_ERR ||
		   code == CL_INVALID_COMMAND_QUEUE_ERR ||
		   code == CL_NVIDIA_ILLEGAL_ACCESS_ERR) {
		err = MSD_GPU_FAULT;
	}
	return msd_diag_set(d, err, "%s: %s (%d)", function, error_name(code), code);
}

/* Append the CPU devices of @platform if @cpus, else its other devices. */
static void add_devices(struct cl_platform *platform, bool cpus,
			struct msd_opencl_place *places, uint32_t *n)
{
	struct cl_device *devices[MSD_MAX_DEVICES];
	uint32_t n_devices = 0;

	if (api.clGetDeviceIDs(platform, (uint64_t)(uint32_t)CL_TYPE_ALL,
			       MSD_MAX_DEVICES, devices, &n_devices) != CL_OK)
		return; /* a platform without devices returns an error */
	if (n_devices > MSD_MAX_DEVICES)
		n_devices = MSD_MAX_DEVICES;
	for (uint32_t i = 0; i < n_devices && *n < MSD_MAX_DEVICES; i++) {
		uint64_t type = 0;
		(void)api.clGetDeviceInfo(devices[i], CL_DEVICE_TYPE_INFO, sizeof(type),
					  &type, NULL);
		if (((type & CL_TYPE_CPU) != 0) == cpus) {
			places[(*n)++] =
				(struct msd_opencl_place){platform, devices[i]};
		}
	}
}

/* Folder in which loaders look for drivers. */
static const char *vendors(void)
{
	const char *path = secure_getenv("OCL_ICD_VENDORS");

	return path != NULL && path[0] != '\0' ? path : "/etc/OpenCL/vendors";
}

msd_err msd_opencl_places(struct msd_opencl_place ret[static MSD_MAX_DEVICES],
			  uint32_t *ret_n, struct msd_diag *d)
{
	struct cl_platform *platforms[MSD_MAX_DEVICES];
	uint32_t n_platforms = 0;

	*ret_n = 0;
	if (msd_opencl_api(d) == NULL)
		return MSD_UNSUPPORTED;
	int32_t code = api.clGetPlatformIDs(MSD_MAX_DEVICES, platforms, &n_platforms);
	if (code == CL_PLATFORM_NOT_FOUND_ERR || (code == CL_OK && n_platforms == 0)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "the OpenCL loader knows no platform (no driver's "
				    ".icd file that works in %s)",
				    vendors());
	}
	if (code != CL_OK)
		return msd_opencl_error(d, "clGetPlatformIDs", code);
	if (n_platforms > MSD_MAX_DEVICES)
		n_platforms = MSD_MAX_DEVICES;
	for (uint32_t i = 0; i < n_platforms; i++)
		add_devices(platforms[i], false, ret, ret_n);
	for (uint32_t i = 0; i < n_platforms; i++)
		add_devices(platforms[i], true, ret, ret_n);
	if (*ret_n == 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "%u OpenCL platforms, none with a device",
				    n_platforms);
	}
	return MSD_OK;
}

msd_err msd_opencl_place(uint32_t ordinal, struct msd_opencl_place *ret,
			 struct msd_diag *d)
{
	struct msd_opencl_place places[MSD_MAX_DEVICES];
	uint32_t n;
	msd_err err = msd_opencl_places(places, &n, d);

	if (err != MSD_OK)
		return err;
	if (ordinal >= n) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "no OpenCL device %u: there are %u", ordinal, n);
	}
	*ret = places[ordinal];
	return MSD_OK;
}

static void device_text(const struct msd_opencl_place *place, uint32_t what,
			char out[static MSD_DEVICE_TEXT_MAX])
{
	char text[1024] = "";
	size_t n = 0;

	if (api.clGetDeviceInfo(place->device, what, sizeof(text) - 1, text, &n) !=
	    CL_OK)
		text[0] = '\0';
	(void)snprintf(out, MSD_DEVICE_TEXT_MAX, "%.*s", (int)MSD_DEVICE_TEXT_MAX - 1,
		       text + strspn(text, " "));
}

/* A driver may have more dimensions than three. */
#define MAX_DIMENSIONS 16u

static void describe_limits(struct cl_device *device, struct msd_device_info *ret)
{
	size_t group = 0, items[MAX_DIMENSIONS] = {0};
	uint32_t mhz = 0;

	(void)api.clGetDeviceInfo(device, CL_DEVICE_MAX_GROUP_INFO, sizeof(group),
				  &group, NULL);
	(void)api.clGetDeviceInfo(device, CL_DEVICE_MAX_ITEMS_INFO, sizeof(items),
				  items, NULL);
	(void)api.clGetDeviceInfo(device, CL_DEVICE_CLOCK_MHZ_INFO, sizeof(mhz), &mhz,
				  NULL);
	(void)api.clGetDeviceInfo(device, CL_DEVICE_CACHE_INFO,
				  sizeof(ret->cache_bytes), &ret->cache_bytes, NULL);
	(void)api.clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEMORY_INFO,
				  sizeof(ret->shared_bytes), &ret->shared_bytes, NULL);
	ret->max_threads = group;
	for (int i = 0; i < 3; i++)
		ret->max_block[i] = items[i];
	ret->clock_khz = (uint64_t)mhz * 1000;
	ret->warp_threads = 1; /* TVM's assumption for every OpenCL device */
	ret->api_version = 120;
}

msd_err msd_opencl_describe(uint32_t ordinal, struct msd_device_info *ret,
			    struct msd_diag *d)
{
	struct msd_opencl_place place = {0};
	char platform[1024] = "";
	msd_err err = msd_opencl_place(ordinal, &place, d);

	if (err != MSD_OK)
		return err;
	*ret = (struct msd_device_info){.device = {MSD_DEV_OPENCL, (int32_t)ordinal}};
	device_text(&place, CL_DEVICE_NAME_INFO, ret->name);
	device_text(&place, CL_DEVICE_VERSION_INFO, ret->capability);
	device_text(&place, CL_DRIVER_VERSION_INFO, ret->driver);
	(void)api.clGetPlatformInfo(place.platform, CL_PLATFORM_NAME_INFO,
				    sizeof(platform) - 1, platform, NULL);
	(void)snprintf(ret->platform, sizeof(ret->platform), "%.*s",
		       (int)sizeof(ret->platform) - 1, platform);
	(void)api.clGetDeviceInfo(place.device, CL_DEVICE_MEMORY_INFO,
				  sizeof(ret->memory_bytes), &ret->memory_bytes, NULL);
	(void)api.clGetDeviceInfo(place.device, CL_DEVICE_COMPUTE_UNITS_INFO,
				  sizeof(ret->compute_units), &ret->compute_units,
				  NULL);
	describe_limits(place.device, ret);
	return MSD_OK;
}

#ifndef MSD_RUNTIME_DEVICE_OPENCL_API_H
#define MSD_RUNTIME_DEVICE_OPENCL_API_H
/*
 * The functions of the OpenCL ICD loader in use, as a table filled at the first use.
 * libOpenCL.so.1 is opened with dlopen, so that one binary runs with and without it.
 * Types and numbers are OpenCL's ABI (1.2), written out. The build needs neither
 * headers nor the library. Private to the OpenCL backend.
 */
#include "proto/base/diag.h"
#include "runtime/device/device.h"

struct cl_platform;
struct cl_device;
struct cl_context;
struct cl_queue;
struct cl_mem;
struct cl_program;
struct cl_kernel;
struct cl_event;

/* cl_buffer_region */
struct cl_region {
	size_t origin;
	size_t size;
};

enum {
	CL_OK = 0,
	CL_DEVICE_NOT_FOUND_ERR = -1,
	CL_DEVICE_NOT_AVAILABLE_ERR = -2,
	CL_ALLOCATION_FAILURE_ERR = -4,
	CL_OUT_OF_RESOURCES_ERR = -5,
	CL_OUT_OF_HOST_MEMORY_ERR = -6,
	CL_MISALIGNED_SUB_BUFFER_ERR = -13,
	CL_INVALID_COMMAND_QUEUE_ERR = -36,
	CL_INVALID_KERNEL_NAME_ERR = -46,
	CL_INVALID_BUFFER_SIZE_ERR = -61,
	CL_PLATFORM_NOT_FOUND_ERR = -1001,
	CL_NVIDIA_ILLEGAL_ACCESS_ERR = -9999, /* not in the standard */
};
enum {
	CL_TYPE_CPU = 1 << 1,
	CL_TYPE_ALL = -1,
	CL_PLATFORM_NAME_INFO = 0x0902,
	CL_DEVICE_TYPE_INFO = 0x1000,
	CL_DEVICE_COMPUTE_UNITS_INFO = 0x1002,
	CL_DEVICE_MAX_GROUP_INFO = 0x1004,
	CL_DEVICE_MAX_ITEMS_INFO = 0x1005, /* a size_t for each dimension */
	CL_DEVICE_CLOCK_MHZ_INFO = 0x100C,
	CL_DEVICE_BASE_ALIGN_INFO = 0x1019, /* in bits */
	CL_DEVICE_CACHE_INFO = 0x101E,
	CL_DEVICE_MEMORY_INFO = 0x101F,
	CL_DEVICE_LOCAL_MEMORY_INFO = 0x1023,
	CL_DEVICE_MAX_ALLOC_INFO = 0x1010,
	CL_DEVICE_NAME_INFO = 0x102B,
	CL_DRIVER_VERSION_INFO = 0x102D,
	CL_DEVICE_VERSION_INFO = 0x102F,
	CL_CONTEXT_PLATFORM_PROPERTY = 0x1084,
	CL_READ_WRITE_FLAG = 1 << 0,
	CL_REGION_TYPE = 0x1220,
	CL_PROGRAM_BINARY_SIZES_INFO = 0x1165,
	CL_PROGRAM_BINARIES_INFO = 0x1166,
	CL_BUILD_LOG_INFO = 0x1183,
};

/* X(name, arguments): functions that return a code. */
#define MSD_OPENCL_CODE_MAP(X)                                                         \
	X(clGetPlatformIDs, (uint32_t, struct cl_platform **, uint32_t *))             \
	X(clGetPlatformInfo,                                                           \
	  (struct cl_platform *, uint32_t, size_t, void *, size_t *))                  \
	X(clGetDeviceIDs,                                                              \
	  (struct cl_platform *, uint64_t, uint32_t, struct cl_device **, uint32_t *)) \
	X(clGetDeviceInfo, (struct cl_device *, uint32_t, size_t, void *, size_t *))   \
	X(clReleaseContext, (struct cl_context *))                                     \
	X(clReleaseCommandQueue, (struct cl_queue *))                                  \
	X(clFinish, (struct cl_queue *))                                               \
	X(clReleaseMemObject, (struct cl_mem *))                                       \
	X(clBuildProgram,                                                              \
	  (struct cl_program *, uint32_t, struct cl_device *const *, const char *,     \
	   void (*)(struct cl_program *, void *), void *))                             \
	X(clGetProgramInfo, (struct cl_program *, uint32_t, size_t, void *, size_t *)) \
	X(clGetProgramBuildInfo, (struct cl_program *, struct cl_device *, uint32_t,   \
				  size_t, void *, size_t *))                           \
	X(clReleaseProgram, (struct cl_program *))                                     \
	X(clReleaseKernel, (struct cl_kernel *))                                       \
	X(clSetKernelArg, (struct cl_kernel *, uint32_t, size_t, const void *))        \
	X(clEnqueueNDRangeKernel,                                                      \
	  (struct cl_queue *, struct cl_kernel *, uint32_t, const size_t *,            \
	   const size_t *, const size_t *, uint32_t, struct cl_event *const *,         \
	   struct cl_event **))                                                        \
	X(clEnqueueReadBuffer,                                                         \
	  (struct cl_queue *, struct cl_mem *, uint32_t, size_t, size_t, void *,       \
	   uint32_t, struct cl_event *const *, struct cl_event **))                    \
	X(clEnqueueWriteBuffer,                                                        \
	  (struct cl_queue *, struct cl_mem *, uint32_t, size_t, size_t, const void *, \
	   uint32_t, struct cl_event *const *, struct cl_event **))                    \
	X(clEnqueueCopyBuffer,                                                         \
	  (struct cl_queue *, struct cl_mem *, struct cl_mem *, size_t, size_t,        \
	   size_t, uint32_t, struct cl_event *const *, struct cl_event **))            \
	X(clEnqueueFillBuffer,                                                         \
	  (struct cl_queue *, struct cl_mem *, const void *, size_t, size_t, size_t,   \
	   uint32_t, struct cl_event *const *, struct cl_event **))

/* X(type, name, arguments): functions that return an object and an error code through
 * an extra last argument. */
#define MSD_OPENCL_OBJECT_MAP(X)                                                       \
	X(struct cl_context *, clCreateContext,                                        \
	  (const intptr_t *, uint32_t, struct cl_device *const *,                      \
	   void (*)(const char *, const void *, size_t, void *), void *, int32_t *))   \
	X(struct cl_queue *, clCreateCommandQueue,                                     \
	  (struct cl_context *, struct cl_device *, uint64_t, int32_t *))              \
	X(struct cl_mem *, clCreateBuffer,                                             \
	  (struct cl_context *, uint64_t, size_t, void *, int32_t *))                  \
	X(struct cl_mem *, clCreateSubBuffer,                                          \
	  (struct cl_mem *, uint64_t, uint32_t, const void *, int32_t *))              \
	X(struct cl_program *, clCreateProgramWithSource,                              \
	  (struct cl_context *, uint32_t, const char **, const size_t *, int32_t *))   \
	X(struct cl_program *, clCreateProgramWithBinary,                              \
	  (struct cl_context *, uint32_t, struct cl_device *const *, const size_t *,   \
	   const uint8_t **, int32_t *, int32_t *))                                    \
	X(struct cl_kernel *, clCreateKernel,                                          \
	  (struct cl_program *, const char *, int32_t *))

struct msd_opencl_api {
#define MSD_OPENCL_CODE_FIELD(name, args) int32_t(*name) args;
	MSD_OPENCL_CODE_MAP(MSD_OPENCL_CODE_FIELD)
#undef MSD_OPENCL_CODE_FIELD
#define MSD_OPENCL_OBJECT_FIELD(type, name, args) type(*name) args;
	MSD_OPENCL_OBJECT_MAP(MSD_OPENCL_OBJECT_FIELD)
#undef MSD_OPENCL_OBJECT_FIELD
};

/**
 * The table, valid for the life of the process. NULL: no loader, and @d
 * (MSD_UNSUPPORTED) lists what was tried.
 */
const struct msd_opencl_api *msd_opencl_api(struct msd_diag *d);
/** Translate @code of @function; the text has the function's name and the number. */
msd_err msd_opencl_error(struct msd_diag *d, const char *function, int32_t code);

/* A device and its platform, by our ordinal. Devices that are not CPUs are first;
 * within each group the loader's order applies. */
struct msd_opencl_place {
	struct cl_platform *platform;
	struct cl_device *device;
};
MSD_MUST_CHECK msd_err
msd_opencl_places(struct msd_opencl_place ret[static MSD_MAX_DEVICES], uint32_t *ret_n,
		  struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_opencl_place(uint32_t ordinal, struct msd_opencl_place *ret,
					struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_opencl_describe(uint32_t ordinal,
					   struct msd_device_info *ret,
					   struct msd_diag *d);

#endif

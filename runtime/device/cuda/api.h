#ifndef MSD_RUNTIME_DEVICE_CUDA_API_H
#define MSD_RUNTIME_DEVICE_CUDA_API_H
/*
 * The CUDA driver functions in use, as a table filled at the first use. libcuda.so.1
 * ($MODSERD_LIBCUDA names another file) is opened with dlopen, so that one binary
 * runs with and without a driver. Types and numbers are the driver's documented ABI,
 * written out. The build needs neither headers nor the library; a test compares them
 * with the toolkit's if one is installed. Private to the CUDA backend.
 */
#include "proto/base/diag.h"
#include "runtime/device/device.h"

struct cu_context;
struct cu_stream;
struct cu_module;
struct cu_event;
struct cu_function;
struct cu_link;
struct cu_graph;
struct cu_graph_exec;

typedef uint64_t cu_address; /* CUdeviceptr */

/* Enumerations of the driver, each passed as int as in the driver. */
typedef int cu_result;
typedef int cu_device_attribute;
typedef int cu_function_attribute;
typedef int cu_jit_option;
typedef int cu_jit_input;
typedef int cu_map_type;
typedef int cu_map_interleave;
typedef int cu_map_swizzle;
typedef int cu_map_promotion;
typedef int cu_map_fill;
typedef int cu_capture_mode;

/* CUtensorMap */
struct cu_tensor_map {
	_Alignas(64) uint64_t opaque[16];
};

/* CUlaunchAttribute; its value is a union of 64 bytes. */
struct cu_launch_attribute {
	int32_t id;
	int32_t pad;
	union {
		char bytes[64];
		int32_t flag;
		uint32_t extent[3]; /* extent of a cluster, in blocks */
	} value;
};

/* CUlaunchConfig */
struct cu_launch_config {
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared_bytes;
	struct cu_stream *stream;
	struct cu_launch_attribute *attributes;
	uint32_t n_attributes;
};

/* X(name without CUDA_ERROR_, number) */
#define MSD_CUDA_ERROR_MAP(X)                                                          \
	X(INVALID_VALUE, 1)                                                            \
	X(OUT_OF_MEMORY, 2)                                                            \
	X(STUB_LIBRARY, 34)                                                            \
	X(DEVICE_UNAVAILABLE, 46)                                                      \
	X(NO_DEVICE, 100)                                                              \
	X(INVALID_IMAGE, 200)                                                          \
	X(NO_BINARY_FOR_GPU, 209)                                                      \
	X(ECC_UNCORRECTABLE, 214)                                                      \
	X(INVALID_PTX, 218)                                                            \
	X(NVLINK_UNCORRECTABLE, 220)                                                   \
	X(JIT_COMPILER_NOT_FOUND, 221)                                                 \
	X(UNSUPPORTED_PTX_VERSION, 222)                                                \
	X(CONTAINED, 226)                                                              \
	X(INVALID_SOURCE, 300)                                                         \
	X(NOT_FOUND, 500)                                                              \
	X(NOT_READY, 600)                                                              \
	X(ILLEGAL_ADDRESS, 700)                                                        \
	X(LAUNCH_TIMEOUT, 702)                                                         \
	X(CONTEXT_IS_DESTROYED, 709)                                                   \
	X(ASSERT, 710)                                                                 \
	X(HARDWARE_STACK_ERROR, 714)                                                   \
	X(ILLEGAL_INSTRUCTION, 715)                                                    \
	X(MISALIGNED_ADDRESS, 716)                                                     \
	X(INVALID_ADDRESS_SPACE, 717)                                                  \
	X(INVALID_PC, 718)                                                             \
	X(LAUNCH_FAILED, 719)                                                          \
	X(TENSOR_MEMORY_LEAK, 721)                                                     \
	X(MPS_CLIENT_TERMINATED, 810)                                                  \
	X(EXTERNAL_DEVICE, 911)

enum {
	MSD_CU_SUCCESS = 0,
#define MSD_CUDA_ERROR_ENUM(name, number) MSD_CU_ERROR_##name = number,
	MSD_CUDA_ERROR_MAP(MSD_CUDA_ERROR_ENUM)
#undef MSD_CUDA_ERROR_ENUM
};

/* X(name without CU_, number): numbers passed to the driver. */
#define MSD_CUDA_NUMBER_MAP(X)                                                         \
	X(CTX_SCHED_BLOCKING_SYNC, 4)                                                  \
	X(EVENT_DEFAULT, 0)                                                            \
	X(EVENT_DISABLE_TIMING, 2)                                                     \
	X(DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                                   \
	X(DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2)                                         \
	X(DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 3)                                         \
	X(DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 4)                                         \
	X(DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)                             \
	X(DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                              \
	X(DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 12)                                \
	X(DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                             \
	X(DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                   \
	X(DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                          \
	X(DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                               \
	X(DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                               \
	X(FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                         \
	X(FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                             \
	X(FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 14)                        \
	X(JIT_ERROR_LOG_BUFFER, 5)                                                     \
	X(JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                                          \
	X(JIT_INPUT_PTX, 1)                                                            \
	X(LAUNCH_ATTRIBUTE_COOPERATIVE, 2)                                             \
	X(LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 4)                                       \
	X(LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 6)                       \
	X(LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, 11)                            \
	X(MEMHOSTREGISTER_PORTABLE, 1)                                                 \
	X(STREAM_DEFAULT, 0)                                                           \
	X(STREAM_CAPTURE_MODE_RELAXED, 2)                                              \
	X(TENSOR_MAP_DATA_TYPE_UINT8, 0)                                               \
	X(TENSOR_MAP_DATA_TYPE_UINT16, 1)                                              \
	X(TENSOR_MAP_DATA_TYPE_UINT32, 2)                                              \
	X(TENSOR_MAP_DATA_TYPE_INT32, 3)                                               \
	X(TENSOR_MAP_DATA_TYPE_UINT64, 4)                                              \
	X(TENSOR_MAP_DATA_TYPE_INT64, 5)                                               \
	X(TENSOR_MAP_DATA_TYPE_FLOAT16, 6)                                             \
	X(TENSOR_MAP_DATA_TYPE_FLOAT32, 7)                                             \
	X(TENSOR_MAP_DATA_TYPE_FLOAT64, 8)                                             \
	X(TENSOR_MAP_DATA_TYPE_BFLOAT16, 9)                                            \
	X(TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, 14)

enum {
#define MSD_CUDA_NUMBER_ENUM(name, number) MSD_CU_##name = number,
	MSD_CUDA_NUMBER_MAP(MSD_CUDA_NUMBER_ENUM)
#undef MSD_CUDA_NUMBER_ENUM
};

/*
 * X(field, symbol, arguments). Every function returns a cu_result. The suffixes are
 * part of the ABI: the symbols without them are functions of CUDA 3 with other
 * arguments.
 */
#define MSD_CUDA_API_MAP(X)                                                            \
	X(init, cuInit, (unsigned))                                                    \
	X(driver_version, cuDriverGetVersion, (int *))                                 \
	X(error_name, cuGetErrorName, (cu_result, const char **))                      \
	X(error_string, cuGetErrorString, (cu_result, const char **))                  \
	X(device_count, cuDeviceGetCount, (int *))                                     \
	X(device_get, cuDeviceGet, (int *, int))                                       \
	X(device_name, cuDeviceGetName, (char *, int, int))                            \
	X(device_memory, cuDeviceTotalMem_v2, (size_t *, int))                         \
	X(device_attribute, cuDeviceGetAttribute, (int *, cu_device_attribute, int))   \
	X(context_flags, cuDevicePrimaryCtxSetFlags_v2, (int, unsigned))               \
	X(context_retain, cuDevicePrimaryCtxRetain, (struct cu_context **, int))       \
	X(context_release, cuDevicePrimaryCtxRelease_v2, (int))                        \
	X(context_set, cuCtxSetCurrent, (struct cu_context *))                         \
	X(context_sync, cuCtxSynchronize, (void))                                      \
	X(event_create, cuEventCreate, (struct cu_event **, unsigned))                 \
	X(event_destroy, cuEventDestroy_v2, (struct cu_event *))                       \
	X(event_record, cuEventRecord, (struct cu_event *, struct cu_stream *))        \
	X(event_elapsed, cuEventElapsedTime,                                           \
	  (float *, struct cu_event *, struct cu_event *))                             \
	X(stream_create, cuStreamCreate, (struct cu_stream **, unsigned))              \
	X(stream_destroy, cuStreamDestroy_v2, (struct cu_stream *))                    \
	X(stream_query, cuStreamQuery, (struct cu_stream *))                           \
	X(stream_wait, cuStreamWaitEvent,                                              \
	  (struct cu_stream *, struct cu_event *, unsigned))                           \
	X(stream_sync, cuStreamSynchronize, (struct cu_stream *))                      \
	X(mem_info, cuMemGetInfo_v2, (size_t *, size_t *))                             \
	X(mem_alloc, cuMemAlloc_v2, (cu_address *, size_t))                            \
	X(mem_free, cuMemFree_v2, (cu_address))                                        \
	X(copy_to_device, cuMemcpyHtoDAsync_v2,                                        \
	  (cu_address, const void *, size_t, struct cu_stream *))                      \
	X(copy_to_host, cuMemcpyDtoHAsync_v2,                                          \
	  (void *, cu_address, size_t, struct cu_stream *))                            \
	X(copy_on_device, cuMemcpyDtoDAsync_v2,                                        \
	  (cu_address, cu_address, size_t, struct cu_stream *))                        \
	X(fill, cuMemsetD8Async,                                                       \
	  (cu_address, unsigned char, size_t, struct cu_stream *))                     \
	X(host_register, cuMemHostRegister_v2, (void *, size_t, unsigned))             \
	X(host_unregister, cuMemHostUnregister, (void *))                              \
	X(module_load, cuModuleLoadDataEx,                                             \
	  (struct cu_module **, const void *, unsigned, cu_jit_option *, void **))     \
	X(module_unload, cuModuleUnload, (struct cu_module *))                         \
	X(module_global, cuModuleGetGlobal_v2,                                         \
	  (cu_address *, size_t *, struct cu_module *, const char *))                  \
	X(module_function, cuModuleGetFunction,                                        \
	  (struct cu_function **, struct cu_module *, const char *))                   \
	X(function_get, cuFuncGetAttribute,                                            \
	  (int *, cu_function_attribute, struct cu_function *))                        \
	X(function_set, cuFuncSetAttribute,                                            \
	  (struct cu_function *, cu_function_attribute, int))                          \
	X(launch, cuLaunchKernel,                                                      \
	  (struct cu_function *, unsigned, unsigned, unsigned, unsigned, unsigned,     \
	   unsigned, unsigned, struct cu_stream *, void **, void **))                  \
	X(link_create, cuLinkCreate_v2,                                                \
	  (unsigned, cu_jit_option *, void **, struct cu_link **))                     \
	X(link_add, cuLinkAddData_v2,                                                  \
	  (struct cu_link *, cu_jit_input, void *, size_t, const char *, unsigned,     \
	   cu_jit_option *, void **))                                                  \
	X(link_complete, cuLinkComplete, (struct cu_link *, void **, size_t *))        \
	X(link_destroy, cuLinkDestroy, (struct cu_link *))

/* The same for functions that older drivers lack: NULL there. */
#define MSD_CUDA_API_LATER_MAP(X)                                                      \
	X(parameter, cuFuncGetParamInfo,                                               \
	  (struct cu_function *, size_t, size_t *, size_t *))                          \
	X(capture_begin, cuStreamBeginCapture_v2,                                      \
	  (struct cu_stream *, cu_capture_mode))                                       \
	X(capture_end, cuStreamEndCapture, (struct cu_stream *, struct cu_graph **))   \
	X(graph_instantiate, cuGraphInstantiateWithFlags,                              \
	  (struct cu_graph_exec **, struct cu_graph *, unsigned long long))            \
	X(graph_launch, cuGraphLaunch, (struct cu_graph_exec *, struct cu_stream *))   \
	X(graph_exec_destroy, cuGraphExecDestroy, (struct cu_graph_exec *))            \
	X(graph_destroy, cuGraphDestroy, (struct cu_graph *))                          \
	X(launch_ex, cuLaunchKernelEx,                                                 \
	  (const struct cu_launch_config *, struct cu_function *, void **, void **))   \
	X(tensor_map_tiled, cuTensorMapEncodeTiled,                                    \
	  (struct cu_tensor_map *, cu_map_type, uint32_t, void *, const uint64_t *,    \
	   const uint64_t *, const uint32_t *, const uint32_t *, cu_map_interleave,    \
	   cu_map_swizzle, cu_map_promotion, cu_map_fill))

struct msd_cuda_api {
#define MSD_CUDA_API_FIELD(field, symbol, arguments) cu_result(*field) arguments;
	MSD_CUDA_API_MAP(MSD_CUDA_API_FIELD)
	MSD_CUDA_API_LATER_MAP(MSD_CUDA_API_FIELD)
#undef MSD_CUDA_API_FIELD
};

/**
 * The table, valid for the life of the process, with the driver initialised. NULL: no
 * driver, or it does not start, and @d (MSD_UNSUPPORTED) lists what was tried.
 */
const struct msd_cuda_api *msd_cuda_api(struct msd_diag *d);
/** "13.0", the CUDA version of the driver; "" without a driver or if it is unknown. */
void msd_cuda_driver_version(char ret[static MSD_DEVICE_TEXT_MAX]);
/** The major version; 0 without a driver or if it is unknown. */
int msd_cuda_driver_major(void);

/**
 * Translate @code of @function. The text has the function's name, the number, and our
 * explanation if the driver's is unclear. Errors: MSD_NOMEM; MSD_BAD_ARTIFACT
 * (damaged code, or a kernel that is not in it); MSD_UNSUPPORTED (code that is not
 * for this device or driver); MSD_GPU_FAULT (the context is lost, and only a new
 * process gets another); else MSD_CALL_FAILED.
 */
msd_err msd_cuda_error(struct msd_diag *d, const char *function, int code);

#endif

/* What runtime/device/cuda/api.h says of the driver's ABI, against the toolkit's
 * header.
 */
#include <criterion/criterion.h>

#include "runtime/device/cuda/api.h"
#include "runtime/device/cuda/nvrtc.h"

#ifdef MSD_HAS_CUDA_HEADER
#include <cuda.h>
#include <nvrtc.h>

/* Older headers lack the newer names. */
#if CUDA_VERSION >= 13000
#define SAME_ERROR(name, number)                                                       \
	_Static_assert((int)CUDA_ERROR_##name == (number), #name);
MSD_CUDA_ERROR_MAP(SAME_ERROR)
#define SAME_NUMBER(name, number) _Static_assert((int)CU_##name == (number), #name);
MSD_CUDA_NUMBER_MAP(SAME_NUMBER)
#endif

_Static_assert(sizeof(cu_address) == sizeof(CUdeviceptr), "CUdeviceptr");
#if CUDA_VERSION >= 12000
_Static_assert(sizeof(struct cu_tensor_map) == sizeof(CUtensorMap), "CUtensorMap");
#endif
_Static_assert(sizeof(struct cu_launch_attribute) == sizeof(CUlaunchAttribute), "size");
_Static_assert(offsetof(struct cu_launch_attribute, value) ==
		       offsetof(CUlaunchAttribute, value),
	       "value");
_Static_assert(sizeof(struct cu_launch_config) == sizeof(CUlaunchConfig), "size");
_Static_assert(offsetof(struct cu_launch_config, block) ==
		       offsetof(CUlaunchConfig, blockDimX),
	       "block");
_Static_assert(offsetof(struct cu_launch_config, shared_bytes) ==
		       offsetof(CUlaunchConfig, sharedMemBytes),
	       "shared");
_Static_assert(offsetof(struct cu_launch_config, stream) ==
		       offsetof(CUlaunchConfig, hStream),
	       "stream");
_Static_assert(offsetof(struct cu_launch_config, attributes) ==
		       offsetof(CUlaunchConfig, attrs),
	       "attributes");
_Static_assert(offsetof(struct cu_launch_config, n_attributes) ==
		       offsetof(CUlaunchConfig, numAttrs),
	       "count");

/* The header renames functions to the symbols of their ABI, e.g. cuMemAlloc_v2. */
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

Test(cuda_abi, symbols_are_those_of_the_header)
{
	cr_expect_str_eq(TEXT(cuMemAlloc), "cuMemAlloc_v2");
	cr_expect_str_eq(TEXT(cuMemFree), "cuMemFree_v2");
	cr_expect_str_eq(TEXT(cuMemcpyHtoDAsync), "cuMemcpyHtoDAsync_v2");
	cr_expect_str_eq(TEXT(cuMemcpyDtoHAsync), "cuMemcpyDtoHAsync_v2");
	cr_expect_str_eq(TEXT(cuMemcpyDtoDAsync), "cuMemcpyDtoDAsync_v2");
	cr_expect_str_eq(TEXT(cuDevicePrimaryCtxRelease),
			 "cuDevicePrimaryCtxRelease_v2");
	cr_expect_str_eq(TEXT(cuDeviceTotalMem), "cuDeviceTotalMem_v2");
	cr_expect_str_eq(TEXT(cuStreamDestroy), "cuStreamDestroy_v2");
	cr_expect_str_eq(TEXT(cuMemHostRegister), "cuMemHostRegister_v2");
	cr_expect_str_eq(TEXT(cuLinkCreate), "cuLinkCreate_v2");
	cr_expect_str_eq(TEXT(cuEventDestroy), "cuEventDestroy_v2");
	cr_expect_str_eq(TEXT(cuMemGetInfo), "cuMemGetInfo_v2");
	cr_expect_str_eq(TEXT(cuModuleGetGlobal), "cuModuleGetGlobal_v2");
	cr_expect_str_eq(TEXT(cuLinkAddData), "cuLinkAddData_v2");
	cr_expect_str_eq(TEXT(cuStreamBeginCapture), "cuStreamBeginCapture_v2");
}

/*
 * Every function's type is the header's: the names of our types are read as the names
 * of its own, and then parameter by parameter, enumerations and pointers included.
 */
#define cu_context CUctx_st
#define cu_stream CUstream_st
#define cu_event CUevent_st
#define cu_module CUmod_st
#define cu_function CUfunc_st
#define cu_link CUlinkState_st
#define cu_graph CUgraph_st
#define cu_graph_exec CUgraphExec_st
#define cu_tensor_map CUtensorMap_st
#define cu_launch_config CUlaunchConfig_st
#define cu_address CUdeviceptr
#define cu_result CUresult
#define cu_device_attribute CUdevice_attribute
#define cu_function_attribute CUfunction_attribute
#define cu_jit_option CUjit_option
#define cu_jit_input CUjitInputType
#define cu_map_type CUtensorMapDataType
#define cu_map_interleave CUtensorMapInterleave
#define cu_map_swizzle CUtensorMapSwizzle
#define cu_map_promotion CUtensorMapL2promotion
#define cu_map_fill CUtensorMapFloatOOBfill
#define cu_capture_mode CUstreamCaptureMode
#define nvrtc_program _nvrtcProgram
#define IS_FUNCTION(symbol, arguments)                                                 \
	__builtin_types_compatible_p(__typeof__(symbol), CUresult arguments)
#define SAME_FUNCTION(field, symbol, arguments)                                        \
	_Static_assert(IS_FUNCTION(symbol, arguments), #symbol);
#define SAME_COMPILER(field, symbol, arguments)                                        \
	_Static_assert(__builtin_types_compatible_p(__typeof__(symbol),                \
						    nvrtcResult arguments),            \
		       #symbol);
MSD_CUDA_API_MAP(SAME_FUNCTION)
#if CUDA_VERSION >= 12040
MSD_CUDA_API_LATER_MAP(SAME_FUNCTION)
#endif
MSD_NVRTC_MAP(SAME_COMPILER)

/* Pointers are all of one size, and these are others. */
Test(cuda_abi, types_that_differ_are_told_apart)
{
	cr_expect(IS_FUNCTION(cuMemFree, (CUdeviceptr)));
	cr_expect_not(IS_FUNCTION(cuMemFree, (CUdeviceptr, int)));
	cr_expect_not(IS_FUNCTION(cuMemFree, (void *)));
	cr_expect_not(IS_FUNCTION(cuStreamSynchronize, (CUcontext)));
	cr_expect_not(IS_FUNCTION(cuDeviceGetAttribute, (int *, int, int)));
}
#else
Test(cuda_abi, is_compared_with_the_toolkits_header)
{
	printf("skipped: no cuda.h below /usr/local/cuda/include\n");
}
#endif

/* What runtime/device/cuda/api.h says of the driver's ABI, against the toolkit's
 * header.
 */
#include <criterion/criterion.h>

#include "runtime/device/cuda/api.h"

#ifdef MSD_HAS_CUDA_HEADER
#include <cuda.h>

#define SAME_ERROR(name, number)                                                       \
	_Static_assert((int)CUDA_ERROR_##name == (number), #name);
MSD_CUDA_ERROR_MAP(SAME_ERROR)
#define SAME_NUMBER(name, number) _Static_assert((int)CU_##name == (number), #name);
MSD_CUDA_NUMBER_MAP(SAME_NUMBER)

_Static_assert(sizeof(cu_address) == sizeof(CUdeviceptr), "CUdeviceptr");
_Static_assert(sizeof(struct cu_tensor_map) == sizeof(CUtensorMap), "CUtensorMap");
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
	cr_expect_str_eq(TEXT(cuLinkAddData), "cuLinkAddData_v2");
}

/* Every function has as many and as wide parameters as the header's. */
#define SAME_FUNCTION(field, symbol, arguments)                                        \
	_Static_assert(sizeof(((struct msd_cuda_api *)0)->field) == sizeof(&symbol),   \
		       #symbol);
MSD_CUDA_API_MAP(SAME_FUNCTION)
MSD_CUDA_API_LATER_MAP(SAME_FUNCTION)
#else
Test(cuda_abi, is_compared_with_the_toolkits_header)
{
	printf("skipped: no cuda.h below /usr/local/cuda/include\n");
}
#endif

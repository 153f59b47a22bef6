#ifndef MSD_ARTIFACT_PROVIDES_SLOTS_H
#define MSD_ARTIFACT_PROVIDES_SLOTS_H
/*
 * Pointer globals of libraries that the loader fills: X(name, function), with
 * functions of runtime/abi, whose slots.c builds its table from the list; provides.c
 * uses the names.
 */

#define MSD_SLOT_MAP(X)                                                                \
	/* 0.6 - 0.20 */                                                               \
	X("__TVMFuncCall", msd_classic_func_call)                                      \
	X("__TVMAPISetLastError", msd_classic_set_last_error)                          \
	/* 0.6 - 0.25 */                                                               \
	X("__TVMBackendGetFuncFromEnv", msd_ffi_lookup)                                \
	/* all */                                                                      \
	X("__TVMBackendAllocWorkspace", msd_workspace_alloc)                           \
	X("__TVMBackendFreeWorkspace", msd_workspace_free)                             \
	X("__TVMBackendParallelLaunch", msd_pool_launch)                               \
	X("__TVMBackendParallelBarrier", msd_pool_barrier)                             \
	/* 0.21 - 0.23; 0.24 and later have it as an undefined symbol */               \
	X("__TVMFFIErrorSetRaisedFromCStr", msd_ffi_raise)                             \
	X("__TVMFFIErrorSetRaisedFromCStrParts", msd_ffi_raise_parts)                  \
	/* 0.21 and later */                                                           \
	X("__TVMFFIFunctionCall", msd_ffi_function_call)                               \
	/* 0.26 and later */                                                           \
	X("__TVMFFIEnvModLookupFromImports", msd_ffi_lookup)                           \
	X("__TVMFFIHandleInitOnce", msd_ffi_handle_init_once)

#endif

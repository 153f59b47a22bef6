#ifndef MSD_RUNTIME_ABI_EXPORTS_H
#define MSD_RUNTIME_ABI_EXPORTS_H
/*
 * Symbols that TVM libraries leave undefined and that the loading process must
 * provide. The C target and system libraries call the API by name. The error hook of
 * tvm-ffi is such a symbol since 0.24. Code of 0.6 - 0.10 needs conversions of half
 * floats. Only this object exports symbols; link msd_runtime_host to get it, with the
 * linker options that keep it (exports.list).
 */
#include "runtime/abi/classic.h"
#include "runtime/abi/typed.h"
#include "runtime/pool/pool.h"

#define MSD_EXPORT __attribute__((visibility("default")))

/* tvm-ffi (0.21 and later) */
MSD_EXPORT int TVMFFIFunctionCall(void *fn, const struct msd_any *args, int32_t n,
				  struct msd_any *ret);
MSD_EXPORT void *TVMFFIEnvGetStream(int32_t device_type, int32_t device_id);
MSD_EXPORT int TVMFFIEnvSetStream(int32_t device_type, int32_t device_id, void *stream,
				  void **ret_before);
MSD_EXPORT int TVMFFIEnvModLookupFromImports(void *ctx, const char *name, void **ret);
MSD_EXPORT int TVMFFIEnvModRegisterSystemLibSymbol(const char *name, void *symbol);
MSD_EXPORT int TVMFFIHandleInitOnce(void **handle, int (*init)(void **ret));
MSD_EXPORT void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message);
MSD_EXPORT void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts,
						  int32_t n);
MSD_EXPORT void TVMFFIErrorSetRaised(void *error);
MSD_EXPORT int TVMFFIStringFromByteArray(const struct msd_typed_bytes *in,
					 struct msd_any *ret);
MSD_EXPORT int TVMFFIBytesFromByteArray(const struct msd_typed_bytes *in,
					struct msd_any *ret);
MSD_EXPORT const struct msd_typed_info *TVMFFIGetTypeInfo(int32_t type);
MSD_EXPORT const struct msd_typed_bytes *
TVMFFIBacktrace(const char *file, int line, const char *function, int crosses);

/* both ABIs; only classic code passes the last parameter of the list hooks */
MSD_EXPORT int TVMBackendAnyListSetPackedArg(void *list, int index, void *args,
					     void *codes, int arg);
MSD_EXPORT int TVMBackendAnyListResetItem(void *list, int index);
MSD_EXPORT int TVMBackendAnyListMoveFromPackedReturn(void *list, int index, void *args,
						     void *codes, int ret);
MSD_EXPORT int TVMBackendGetFuncFromEnv(void *ctx, const char *name, void **ret);
MSD_EXPORT void *TVMBackendAllocWorkspace(int device_type, int device_id,
					  uint64_t n_bytes, int dtype_code_hint,
					  int dtype_bits_hint);
MSD_EXPORT int TVMBackendFreeWorkspace(int device_type, int device_id, void *p);
MSD_EXPORT int TVMBackendParallelLaunch(msd_parallel_lambda f, void *data,
					int num_task);
MSD_EXPORT int TVMBackendParallelBarrier(int task_id, struct msd_parallel_env *env);

/* classic (0.6 - 0.20) */
MSD_EXPORT int TVMFuncCall(void *fn, union msd_classic_value *args, int *codes, int n,
			   union msd_classic_value *ret, int *ret_code);
MSD_EXPORT void TVMAPISetLastError(const char *message);
MSD_EXPORT int TVMBackendRunOnce(void **handle, int (*f)(void *data), void *data,
				 int n_bytes);
MSD_EXPORT int TVMBackendRegisterSystemLibSymbol(const char *name, void *symbol);
MSD_EXPORT uint16_t __gnu_f2h_ieee(float v);
MSD_EXPORT float __gnu_h2f_ieee(uint16_t v);

#endif

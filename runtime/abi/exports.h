#ifndef MSD_RUNTIME_ABI_EXPORTS_H
#define MSD_RUNTIME_ABI_EXPORTS_H
/*
 * Symbols that TVM libraries leave undefined and that the loading process must
 * provide. The C target and system libraries call the API by name. The error hook of
 * tvm-ffi is such a symbol since 0.24. Code of 0.6 - 0.10 needs conversions of half
 * floats. Only this object exports symbols; link msd_runtime_host to get it, with the
 * linker options that keep it (exports.list).
 */
#include "runtime/abi/classic_function.h"
#include "runtime/abi/tensors.h"
#include "runtime/pool/pool.h"
#include "runtime/value/types.h"

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

/* Code that was built with the headers of tvm-ffi (exports_ffi.c) */
struct msd_ffi_version {
	uint32_t major, minor, patch;
};
/* TVMFFICustomAllocator: the 8 bytes before an object hold the function that frees it.
 */
struct msd_ffi_allocator {
	void *(*allocate)(size_t n_bytes, size_t align, int32_t type, void *ctx);
	void *ctx;
};
MSD_EXPORT void TVMFFIGetVersion(struct msd_ffi_version *ret);
MSD_EXPORT struct msd_ffi_allocator *TVMFFIGetCustomAllocator(void);
MSD_EXPORT int TVMFFISetCustomAllocator(struct msd_ffi_allocator *allocator);
MSD_EXPORT int TVMFFIHandleDeinitOnce(void **handle, int (*deinit)(void *handle));

MSD_EXPORT int TVMFFIObjectIncRef(void *obj);
MSD_EXPORT int TVMFFIObjectDecRef(void *obj);
MSD_EXPORT int TVMFFIObjectCreateOpaque(void *handle, int32_t type,
					void (*deleter)(void *handle), void **ret);
MSD_EXPORT int TVMFFIAnyViewToOwnedAny(const struct msd_any *v, struct msd_any *ret);
MSD_EXPORT int TVMFFIStringFromByteArray(const struct msd_bytes *in,
					 struct msd_any *ret);
MSD_EXPORT int TVMFFIBytesFromByteArray(const struct msd_bytes *in,
					struct msd_any *ret);
MSD_EXPORT int TVMFFIDataTypeFromString(const struct msd_bytes *name,
					struct msd_dtype *ret);
MSD_EXPORT int TVMFFIDataTypeToString(const struct msd_dtype *dtype,
				      struct msd_any *ret);
MSD_EXPORT int TVMFFIBigIntFromByteArray(const struct msd_bytes *words,
					 struct msd_any *ret);
MSD_EXPORT struct msd_bytes TVMFFIBigIntGetContentByteArray(const struct msd_any *v);

MSD_EXPORT void TVMFFIErrorSetRaised(void *error);
MSD_EXPORT void TVMFFIErrorMoveFromRaised(void **ret);
MSD_EXPORT int TVMFFIErrorCreate(const struct msd_bytes *kind,
				 const struct msd_bytes *message,
				 const struct msd_bytes *backtrace, void **ret);
MSD_EXPORT int TVMFFIErrorCreateWithCauseAndExtraContext(
	const struct msd_bytes *kind, const struct msd_bytes *message,
	const struct msd_bytes *backtrace, void *cause, void *context, void **ret);
MSD_EXPORT const struct msd_bytes *TVMFFIBacktrace(const char *file, int line,
						   const char *function, int crosses);

MSD_EXPORT int TVMFFIFunctionCreate(void *self, msd_safe_call call,
				    void (*deleter)(void *self), void **ret);
MSD_EXPORT int TVMFFIFunctionGetGlobal(const struct msd_bytes *name, void **ret);
MSD_EXPORT int TVMFFIFunctionSetGlobal(const struct msd_bytes *name, void *fn,
				       int may_replace);
MSD_EXPORT int TVMFFIFunctionSetGlobalFromMethodInfo(const struct msd_method_info *info,
						     int may_replace);

MSD_EXPORT int32_t TVMFFITypeGetOrAllocIndex(const struct msd_bytes *key, int32_t index,
					     int32_t depth, int32_t n_children,
					     int32_t may_overflow, int32_t parent);
MSD_EXPORT int TVMFFITypeKeyToIndex(const struct msd_bytes *key, int32_t *ret);
MSD_EXPORT const struct msd_type_info *TVMFFIGetTypeInfo(int32_t type);
MSD_EXPORT int TVMFFITypeRegisterField(int32_t type, const struct msd_field_info *info);
MSD_EXPORT int TVMFFITypeRegisterMethod(int32_t type,
					const struct msd_method_info *info);
MSD_EXPORT int TVMFFITypeRegisterMetadata(int32_t type,
					  const struct msd_type_metadata *metadata);
MSD_EXPORT int TVMFFITypeRegisterAttr(int32_t type, const struct msd_bytes *name,
				      const struct msd_any *value);
MSD_EXPORT const struct msd_type_column *
TVMFFIGetTypeAttrColumn(const struct msd_bytes *name);

MSD_EXPORT int TVMFFITensorFromDLPack(struct msd_dlpack_old *from, int32_t align,
				      int32_t must_be_compact, void **ret);
MSD_EXPORT int TVMFFITensorToDLPack(void *tensor, struct msd_dlpack_old **ret);
MSD_EXPORT int TVMFFITensorFromDLPackVersioned(struct msd_dlpack *from, int32_t align,
					       int32_t must_be_compact, void **ret);
MSD_EXPORT int TVMFFITensorToDLPackVersioned(void *tensor, struct msd_dlpack **ret);
MSD_EXPORT int TVMFFITensorCreateUnsafeView(void *source, const struct msd_dltensor *t,
					    void **ret);
MSD_EXPORT int TVMFFIEnvTensorAlloc(struct msd_dltensor *prototype, void **ret);
MSD_EXPORT int TVMFFIEnvSetDLPackManagedTensorAllocator(msd_dlpack_alloc alloc,
							int is_global,
							msd_dlpack_alloc *ret_before);
MSD_EXPORT msd_dlpack_alloc TVMFFIEnvGetDLPackManagedTensorAllocator(void);
MSD_EXPORT int TVMFFIEnvCheckSignals(void);
MSD_EXPORT int TVMFFIEnvRegisterCAPI(const char *name, void *symbol);
MSD_EXPORT int TVMFFIEnvModRegisterContextSymbol(const char *name, void *symbol);

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
MSD_EXPORT int TVMFuncCreateFromCFunc(msd_classic_c_function call, void *resource,
				      void (*finish)(void *resource), void **ret);
MSD_EXPORT int TVMFuncFree(void *fn);
MSD_EXPORT int TVMFuncRegisterGlobal(const char *name, void *fn, int may_replace);
MSD_EXPORT int TVMFuncGetGlobal(const char *name, void **ret);
MSD_EXPORT int TVMCFuncSetReturn(void *ret, union msd_classic_value *values, int *codes,
				 int n);
MSD_EXPORT void TVMAPISetLastError(const char *message);
MSD_EXPORT int TVMBackendRunOnce(void **handle, int (*f)(void *data), void *data,
				 int n_bytes);
MSD_EXPORT int TVMBackendRegisterSystemLibSymbol(const char *name, void *symbol);
MSD_EXPORT uint16_t __gnu_f2h_ieee(float v);
MSD_EXPORT float __gnu_h2f_ieee(uint16_t v);

#endif

#ifndef MSD_RUNTIME_ABI_FFI_H
#define MSD_RUNTIME_ABI_FFI_H
/*
 * What compiled code calls back into, in the form of tvm-ffi (0.21 and later; the
 * lookup is the same in the classic era). Function handles are struct msd_function,
 * library contexts are struct msd_abi_context. All return 0, or -1 with the thread's
 * error set.
 */
#include "runtime/value/value.h"

/** Call the function whose handle is @fn. 0, or -1 with the error raised. */
int msd_ffi_function_call(void *fn, const struct msd_any *args, int32_t n,
			  struct msd_any *ret);
/** Find @name in the imports of the context, then among the runtime's own functions.
 * The handle in *@ret is borrowed and lives as long as the library is mapped. */
int msd_ffi_lookup(void *ctx, const char *name, void **ret);
/** Fill *@handle by @init once, whoever comes first. */
int msd_ffi_handle_init_once(void **handle, int (*init)(void **ret));
/** Run @f once for *@handle, which is zero before. */
int msd_ffi_run_once(void **handle, int (*f)(void *data), void *data, int n_bytes);
void msd_ffi_raise(const char *kind, const char *message);
/** The message is the concatenation of those of the @n parts that are not NULL. */
void msd_ffi_raise_parts(const char *kind, const char **parts, int32_t n);

#endif

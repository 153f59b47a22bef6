#ifndef MSD_RUNTIME_ABI_FFI_H
#define MSD_RUNTIME_ABI_FFI_H
/*
 * Functions that compiled code calls in the tvm-ffi ABI (0.21 and later; the lookup
 * is the same in the classic ABI). Function handles are struct msd_function, library
 * contexts are struct msd_abi_context. All return 0, or -1 with the thread's error
 * set.
 */
#include "runtime/value/value.h"

/** Call the function with handle @fn. Returns 0, or -1 with the error raised. */
int msd_ffi_function_call(void *fn, const struct msd_any *args, int32_t n,
			  struct msd_any *ret);
/**
 * Find @name in the imports of the context, then among the runtime's own functions.
 * The handle in *@ret is borrowed and valid while the library is mapped.
 */
int msd_ffi_lookup(void *ctx, const char *name, void **ret);
/** Initialise *@handle with @init once; the first caller does it. */
int msd_ffi_handle_init_once(void **handle, int (*init)(void **ret));
/** Run @f once for *@handle, which is initially zero. */
int msd_ffi_run_once(void **handle, int (*f)(void *data), void *data, int n_bytes);
void msd_ffi_raise(const char *kind, const char *message);
/**
 * Raise an error. The message is the concatenation of the @n parts that are not NULL.
 */
void msd_ffi_raise_parts(const char *kind, const char **parts, int32_t n);

#endif

#ifndef MSD_RUNTIME_ABI_FFI021_H
#define MSD_RUNTIME_ABI_FFI021_H

#include "runtime/value/value.h"
/*
 * Calls of TVM 0.21: values as in tvm-ffi, but objects have another header and other
 * type numbers, and small strings do not exist. Objects are passed as their contents.
 */

/** msd_safe_call of a struct msd_thunk with a 0.21 packed function as code. */
int msd_ffi021_thunk(void *self, const struct msd_any *args, int32_t n,
		     struct msd_any *ret);

/**
 * Give @v the type and header that code of 0.21 expects, and convert back. Only
 * tensors are converted.
 */
void msd_ffi021_put_object(struct msd_any *v);
void msd_ffi021_take_object(struct msd_any *v);
/** __TVMFFIFunctionCall of 0.21. */
int msd_ffi021_function_call(void *fn, const struct msd_any *args, int32_t n,
			     struct msd_any *ret);

#endif

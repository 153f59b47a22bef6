#ifndef MSD_RUNTIME_ABI_CLASSIC_FUNCTION_H
#define MSD_RUNTIME_ABI_CLASSIC_FUNCTION_H
/* Functions that classic libraries make of C functions, and register. They are in the
 * same registry as those of tvm-ffi. All return 0, or -1 with the error raised. */
#include "runtime/abi/classic.h"

/* TVMPackedCFunc: gives its result to msd_classic_set_return(). */
typedef int (*msd_classic_c_function)(union msd_classic_value *args, int *codes, int n,
				      void *ret, void *resource);

/** @finish(@resource), if it is not NULL, is called with the last reference. */
int msd_classic_function_create(msd_classic_c_function call, void *resource,
				void (*finish)(void *resource), void **ret);
int msd_classic_function_free(void *fn);
int msd_classic_set_return(void *ret, union msd_classic_value *values, int *codes,
			   int n);
int msd_classic_register(const char *name, void *fn, int may_replace);
/** *@ret is a reference, or NULL. */
int msd_classic_get_global(const char *name, void **ret);

#endif

#ifndef MSD_RUNTIME_LIBRARY_GETTERS_H
#define MSD_RUNTIME_LIBRARY_GETTERS_H
/*
 * Functions of a library that describe its functions. In 0.22 and later
 * `__tvm_ffi__metadata_f` returns a text with f's types and `__tvm_ffi__doc_f` its
 * documentation. They are foreign code: call them under the rules of the probe.
 */
#include "runtime/library/library.h"

/**
 * Read the signature and the documentation of @f, if the library has them and they
 * are not yet known. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_getters_ask(const struct msd_lib *lib,
				       struct msd_lib_func *f, struct msd_diag *d);
/** True if the library has such a function for @f. */
bool msd_getters_have(const struct msd_lib *lib, const struct msd_lib_func *f);
/** True if the symbol @name is such a function. */
bool msd_getters_is(const char *name);

#endif

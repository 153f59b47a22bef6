#ifndef MSD_RUNTIME_LIBRARY_GETTERS_H
#define MSD_RUNTIME_LIBRARY_GETTERS_H
/*
 * What a library tells of its functions by functions of its own: in 0.22 and later
 * `__tvm_ffi__metadata_f` gives a text with f's types and `__tvm_ffi__doc_f` what its
 * author says of it. They are foreign code: who asks does it as the probe does.
 */
#include "runtime/library/library.h"

/** Ask for the signature and the description of @f, as far as the library tells them
 * and they are not known. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_getters_ask(const struct msd_lib *lib,
				       struct msd_lib_func *f, struct msd_diag *d);
/** Has the library such a function of @f? */
bool msd_getters_have(const struct msd_lib *lib, const struct msd_lib_func *f);
/** Is @name, a function's by its symbol, that of such a function? */
bool msd_getters_is(const char *name);

#endif

#ifndef MSD_RUNTIME_LIBRARY_SCHEMA_H
#define MSD_RUNTIME_LIBRARY_SCHEMA_H
/* The type schema that tvm-ffi writes for a function, as a signature: `greet(str,
 * Optional[int]) -> str`. Its parameters have no names. */
#include "proto/base/diag.h"
#include "runtime/module/module.h"

/**
 * Read @metadata, the JSON text of a function's metadata. *@ret stays unchanged if
 * the text does not describe the parameters, which is not an error. Errors:
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_schema_read(struct msd_span metadata, const char *name,
				       struct msd_signature *ret, struct msd_diag *d);

#endif

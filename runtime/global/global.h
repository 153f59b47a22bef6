#ifndef MSD_RUNTIME_GLOBAL_GLOBAL_H
#define MSD_RUNTIME_GLOBAL_GLOBAL_H
/*
 * Packed functions that the runtime itself provides, by TVM's names (vm.builtin.*,
 * __tvm_set_device, ...). One static table per file, listed in global.c; adding a
 * function is one row.
 */
#include "runtime/value/value.h"

struct msd_global {
	const char *name; /* NULL ends a table */
	msd_safe_call call;
};
extern const struct msd_global msd_globals_device[]; /* __tvm_set_device */
extern const struct msd_global msd_globals_cuda[];   /* runtime.cuTensorMap... */
/** Function by name, or NULL. Process lifetime. */
struct msd_function *msd_global_find(const char *name);

#endif

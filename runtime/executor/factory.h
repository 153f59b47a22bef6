#ifndef MSD_RUNTIME_EXECUTOR_FACTORY_H
#define MSD_RUNTIME_EXECUTOR_FACTORY_H
/* Functions of TVM's executor factories other than creating an executor. */
#include "proto/base/diag.h"
#include "runtime/value/value.h"

/**
 * Read the model name of the factory; the caller frees it. NULL if it is missing; TVM
 * then uses "default". Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_factory_name(struct msd_cur *c, char **ret,
					struct msd_diag *d);
/**
 * Return that name in a tuple, because a factory has one model: 0, or -1 with the
 * error raised.
 */
int msd_factory_names(const char *model, struct msd_any *ret);
/**
 * Hint: the replacement for @name, a function of a factory for @model. Static, or
 * NULL.
 */
const char *msd_factory_tell(const char *model, const char *name);

#endif

#ifndef MSD_RUNTIME_EXECUTOR_FACTORY_H
#define MSD_RUNTIME_EXECUTOR_FACTORY_H
/* What TVM's factories of executors answer besides making one. */
#include "proto/diag.h"
#include "runtime/value/value.h"

/** Read the name of the model that executors are made of, which the caller frees; NULL
 * where there is none, which TVM calls "default". Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_factory_name(struct msd_cur *c, char **ret,
					struct msd_diag *d);
/** That name in a tuple, for a factory has one model: 0, or -1 with the error raised.
 */
int msd_factory_names(const char *model, struct msd_any *ret);
/** What there is in place of @name, one of a factory's of @model; static, or NULL. */
const char *msd_factory_tell(const char *model, const char *name);

#endif

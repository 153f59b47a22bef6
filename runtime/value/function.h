#ifndef MSD_RUNTIME_VALUE_FUNCTION_H
#define MSD_RUNTIME_VALUE_FUNCTION_H
/* Functions as objects: a C callback, or another name of an existing function. */
#include "runtime/value/value.h"

/** A callable of @call(@self, ...). @finish(@self), if it is not NULL, is called with
 * the last reference. NULL: memory is short. */
struct msd_function *msd_function_new(void *self, msd_safe_call call,
				      void (*finish)(void *self));
/** A callable with our fields and @name, copied, that calls @target. NULL: memory is
 * short. */
struct msd_function *msd_function_alias(struct msd_function *target,
					struct msd_span name);

#endif

#ifndef MSD_RUNTIME_VALUE_REGISTRY_H
#define MSD_RUNTIME_VALUE_REGISTRY_H
/*
 * Functions by name that all libraries of the process share: the registered ones, then
 * the packed functions of the runtime (runtime/packed/global.h). Any thread may use
 * it.
 *
 * Compiled code keeps the address of a function that it looked up. Therefore a
 * function stays in memory when it is replaced or removed.
 */
#include "runtime/value/value.h"

#define MSD_MAX_REGISTERED                                                             \
	65536u /* registrations, replaced and removed ones included */

/** Set the look-up of the runtime's own functions, which come after registered ones. */
void msd_registry_provide(struct msd_function *(*find)(const char *name));
/** The function called @name, valid as long as the process; NULL: none. */
struct msd_function *msd_registry_find(struct msd_span name);
enum {
	MSD_REGISTERED_MAY_REPLACE = 1,
	MSD_REGISTERED_FOR_CLIENTS = 2, /* until another replaces it */
};
/**
 * Register @fn, which gets a reference. Returns 0, or -1 with the error raised: the
 * name is taken and may not be replaced, or there are too many.
 */
int msd_registry_set(struct msd_span name, struct msd_function *fn, unsigned flags);
/** The registered function @name, if clients may call it; NULL: none. */
struct msd_function *msd_registry_find_allowed(struct msd_span name);
/** Remove a registered function; false if there is none of that name. */
bool msd_registry_remove(struct msd_span name);
/** The names of registered functions as an array of str; NULL: memory is short. */
struct msd_array *msd_registry_names(void);

#endif

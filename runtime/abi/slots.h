#ifndef MSD_RUNTIME_ABI_SLOTS_H
#define MSD_RUNTIME_ABI_SLOTS_H
#include <stdbool.h>
#include <stddef.h>

/*
 * The pointer globals `__TVM...` through which compiled code calls the runtime. They
 * are weak data of the library, zero until the loader fills them. A call through an
 * empty one jumps to NULL, so the loader rejects, by name, a library with a global
 * that is not in the table.
 */

/** The function for the global @name, or NULL. */
void *msd_slot_value(const char *name);
/** The name of the global in row @i, registered ones last; NULL after the last row. */
const char *msd_slot_name(size_t i);
/** True if @name has the form of such a global, known or not, or is registered. */
bool msd_slot_is_name(const char *name);
/**
 * Register a value for the global @name of libraries that are opened later. Returns 0,
 * or -1 with the error raised.
 */
int msd_slot_register(const char *name, void *value);

#endif

#ifndef MSD_RUNTIME_ABI_SLOTS_H
#define MSD_RUNTIME_ABI_SLOTS_H
#include <stdbool.h>
#include <stddef.h>

/*
 * The pointer globals `__TVM...` through which compiled code calls the runtime: weak
 * data of the library, zero until the loader fills them. An empty one that is used is a
 * jump to NULL, so a library with one that is not in the table is refused by name.
 */

/** The function that belongs into the global @name, or NULL. */
void *msd_slot_value(const char *name);
/** The name of the global in row @i of the table, NULL behind the last. */
const char *msd_slot_name(size_t i);
/** True for names of such globals, known or not. */
bool msd_slot_is_name(const char *name);

#endif

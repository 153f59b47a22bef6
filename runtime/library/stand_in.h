#ifndef MSD_RUNTIME_LIBRARY_STAND_IN_H
#define MSD_RUNTIME_LIBRARY_STAND_IN_H
/*
 * Libraries built with tvm-ffi's headers need libtvm_ffi.so. This process provides its
 * C functions itself, and two runtimes in one process would not know each other's
 * objects. So the process opens an empty library of that name, and the loader of the
 * system takes it whenever a library needs the name; a real one is never opened.
 */
#include <stdbool.h>

/** True if this process stands in for the needed library @name. */
bool msd_stand_in_is(const char *name);
/** Open the empty library once; false if the system refused it. */
bool msd_stand_in_open(void);

#endif

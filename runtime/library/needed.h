#ifndef MSD_RUNTIME_LIBRARY_NEEDED_H
#define MSD_RUNTIME_LIBRARY_NEEDED_H
/*
 * What the libraries that a library needs have for its callers. TVM looks names up in
 * the whole that dlopen gave: a function that only a needed library exports is the
 * module's all the same. It is found by its name and not listed, for what else is in
 * the needed libraries is nobody's function.
 */
#include "runtime/library/library.h"

/** Fill the pointer globals and the context that needed libraries alone have. */
void msd_needed_bind(struct msd_lib *lib, struct msd_node *env);
/** The function @name of a needed library, good until the library is unmapped; NULL
 * when there is none. Several threads may ask. */
struct msd_function *msd_needed_find(struct msd_lib *lib, const char *name);
void msd_needed_finish(struct msd_lib *lib);

#endif

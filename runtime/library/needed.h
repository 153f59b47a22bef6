#ifndef MSD_RUNTIME_LIBRARY_NEEDED_H
#define MSD_RUNTIME_LIBRARY_NEEDED_H
/*
 * Functions in the libraries that a library needs. TVM looks names up in everything
 * that dlopen loaded, so a function that only a needed library exports also belongs
 * to the module. It is found by name but not listed, because needed libraries also
 * contain unrelated functions.
 */
#include "runtime/library/library.h"

/** Fill the pointer globals and the context that exist only in needed libraries. */
void msd_needed_bind(struct msd_lib *lib, struct msd_node *env);
/**
 * The function @name of a needed library, valid until the library is unmapped; NULL
 * if there is none. Several threads may call.
 */
struct msd_function *msd_needed_find(struct msd_lib *lib, const char *name);
void msd_needed_finish(struct msd_lib *lib);

#endif

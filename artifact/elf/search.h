#ifndef MSD_ARTIFACT_ELF_SEARCH_H
#define MSD_ARTIFACT_ELF_SEARCH_H
/*
 * Where a library says that what it needs lies: by an absolute name, or in an absolute
 * folder of its search path. What it says by $ORIGIN or by a relative name has no
 * meaning for a library that is opened as bytes.
 */
#include <stdbool.h>
#include <stddef.h>

#define MSD_SEARCH_MAX 4096

/** The @i-th file that may be the needed library @name, by @search_path (DT_RUNPATH or
 * DT_RPATH; NULL: none). False: there are no more. */
bool msd_search_place(const char *search_path, const char *name, size_t i,
		      char out[static MSD_SEARCH_MAX]);

#endif

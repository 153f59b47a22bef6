#ifndef MSD_ARTIFACT_ELF_SEARCH_H
#define MSD_ARTIFACT_ELF_SEARCH_H
/*
 * Find needed libraries at absolute paths: an absolute name, or an absolute directory
 * of the search path. $ORIGIN and relative names have no meaning for a library that
 * is opened as bytes.
 */
#include <stdbool.h>
#include <stddef.h>

#define MSD_SEARCH_MAX 4096

/**
 * The @i-th candidate path of the needed library @name, from @search_path (DT_RUNPATH
 * or DT_RPATH; NULL: none). False: there are no more.
 */
bool msd_search_place(const char *search_path, const char *name, size_t i,
		      char out[static MSD_SEARCH_MAX]);

#endif

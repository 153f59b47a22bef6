#ifndef MSD_RUNTIME_DEVICE_CUDA_TOOLKIT_H
#define MSD_RUNTIME_DEVICE_CUDA_TOOLKIT_H
/*
 * Where an installed CUDA toolkit keeps its libraries and headers. Private to the
 * compilation of source.
 */
#include <limits.h>
#include <stdbool.h>

#define MSD_TOOLKIT_INCLUDES 2u

/* Directories of headers; empty texts: fewer. */
struct msd_toolkit_headers {
	char include[MSD_TOOLKIT_INCLUDES][PATH_MAX];
};

/** A directory with the toolkit's headers and libraries; NULL: none is installed. */
const char *msd_cuda_home(void);
/**
 * Find the headers that belong to the compiler in the file @library, which is of
 * @version (12090: 12.9): those beside it come first, then the toolkit's; of the same
 * release where there are any, else of the same major version. A compiler refuses the
 * headers of another one. False: there are none.
 */
bool msd_toolkit_headers_find(const char *library, int version,
			      struct msd_toolkit_headers *ret);

#endif

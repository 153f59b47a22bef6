#ifndef MSD_RUNTIME_DEVICE_CUDA_TOOLKIT_H
#define MSD_RUNTIME_DEVICE_CUDA_TOOLKIT_H
/* Locate the libraries and headers of an installed CUDA toolkit. Private to the
 * compilation of source. */
#include <limits.h>
#include <stdbool.h>

#define MSD_TOOLKIT_INCLUDES 2u

/* Header directories; empty texts are unused. */
struct msd_toolkit_headers {
	char include[MSD_TOOLKIT_INCLUDES][PATH_MAX];
};

/** A directory with the toolkit's headers and libraries; NULL: none is installed. */
const char *msd_cuda_home(void);
/**
 * Find the headers that belong to the compiler in the file @library of @version
 * (12090: 12.9). Headers next to the library are tried first, then the toolkit's; the
 * same release is preferred, else the same major version. A compiler rejects headers
 * of another major version. False: there are none.
 */
bool msd_toolkit_headers_find(const char *library, int version,
			      struct msd_toolkit_headers *ret);

#endif

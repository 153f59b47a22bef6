#ifndef MSD_HTTP_SCATTER_H
#define MSD_HTTP_SCATTER_H
/* A list of buffers to fill with bytes that arrive later. */
#include <stdint.h>
#include <sys/uio.h>

#include "proto/base/bytes.h"

/* The unfilled part. The iovec entries are borrowed and shrink as they fill. All
 * zeros: no buffers. */
struct msd_scatter {
	struct iovec *pieces;
	uint32_t n;
};

/**
 * The next @n bytes were already read into the buffers; bytes beyond them are
 * ignored.
 */
void msd_scatter_came(struct msd_scatter *s, size_t n);
/** Copy the next bytes into the buffers; bytes beyond them are dropped. */
void msd_scatter_put(struct msd_scatter *s, struct msd_span bytes);

#endif

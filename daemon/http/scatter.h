#ifndef MSD_HTTP_SCATTER_H
#define MSD_HTTP_SCATTER_H
/* Places that bytes which are still to come go to, one behind the other. */
#include <stdint.h>
#include <sys/uio.h>

#include "proto/bytes.h"

/* What is not filled yet; the pieces are another's, and made shorter as they fill. All
 * zeros: there are none. */
struct msd_scatter {
	struct iovec *pieces;
	uint32_t n;
};

/** The next @n bytes lie in their places already; what is beyond them is nobody's. */
void msd_scatter_came(struct msd_scatter *s, size_t n);
/** Copy the next bytes; those that have no place are dropped. */
void msd_scatter_put(struct msd_scatter *s, struct msd_span bytes);

#endif

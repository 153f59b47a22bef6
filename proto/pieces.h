#ifndef MSD_PROTO_PIECES_H
#define MSD_PROTO_PIECES_H
/* Write bytes from several buffers as one sequence. */
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/**
 * Read up to @most bytes of the @n @pieces from offset @skip. *@ret points to them:
 * directly if @most bytes are contiguous, otherwise into @room (of @most bytes),
 * where they are joined. Returns their number; 0 at the end.
 */
size_t msd_pieces_next(const struct iovec *pieces, size_t n, size_t skip, uint8_t *room,
		       size_t most, const uint8_t **ret);

#endif

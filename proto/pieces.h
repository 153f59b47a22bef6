#ifndef MSD_PROTO_PIECES_H
#define MSD_PROTO_PIECES_H
/* Bytes that lie in several places, to be written as one. */
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/**
 * The next bytes of @n @pieces from byte @skip on, @most at most: *@ret is where they
 * lie when they are @most in one piece, else @room of @most bytes, into which they are
 * put together. Returns how many they are; 0 at the end.
 */
size_t msd_pieces_next(const struct iovec *pieces, size_t n, size_t skip, uint8_t *room,
		       size_t most, const uint8_t **ret);

#endif

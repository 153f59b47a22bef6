#ifndef MSD_PROTO_FD_READ_H
#define MSD_PROTO_FD_READ_H
/* Reads an open file from its position to its end. */
#include "proto/base/bytes.h"

/**
 * Append the rest of @fd to @ret, which the caller frees on failure, too. Errors:
 * MSD_IO (errno is set), MSD_NOMEM, and MSD_TOO_LARGE: @ret has more than @max_bytes
 * bytes.
 */
MSD_MUST_CHECK msd_err msd_fd_read(int fd, size_t max_bytes, struct msd_buf *ret);

#endif

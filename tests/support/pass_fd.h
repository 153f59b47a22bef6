#ifndef MSD_TESTS_PASS_FD_H
#define MSD_TESTS_PASS_FD_H
/* A descriptor on its way through a unix socket, by hand: what tests send is written by
 * none of the code that they test. */
#include <sys/types.h>
#include <sys/uio.h>

/** sendmsg() of @n pieces to @to with @fd beside the first byte; -1: without one. */
ssize_t pass_fd(int to, struct iovec *pieces, size_t n, int fd, int flags);

#endif

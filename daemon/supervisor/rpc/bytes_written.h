#ifndef MSD_SUPERVISOR_BYTES_WRITTEN_H
#define MSD_SUPERVISOR_BYTES_WRITTEN_H
/* Its own file, because the kernel's header with these fields and that of the C library
 * exclude each other. */
#include <stdint.h>

/**
 * Return the bytes that all processes have written to the TCP socket @fd, whether the
 * peer has them or not. UINT64_MAX: unknown.
 */
uint64_t msd_bytes_written(int fd);

#endif

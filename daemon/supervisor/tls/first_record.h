#ifndef MSD_SUPERVISOR_TLS_FIRST_RECORD_H
#define MSD_SUPERVISOR_TLS_FIRST_RECORD_H
/*
 * Check that the first record of a handshake has arrived completely. OpenSSL's state
 * of 44 KiB is allocated only after that. A client that starts a thousand handshakes
 * with a few bytes each uses only kernel buffers.
 */
#include <stdbool.h>

/**
 * True if the caller must wait for the rest of the first TLS record on @fd. @fd
 * becomes readable when the record is complete, or when no more data will arrive.
 * *@low is kept between calls, 0 before the first. When it returns false, @fd is
 * readable after each byte again.
 */
bool msd_tls_first_record_waits(int fd, int *low);
/** Discard the bytes received on @fd: unread bytes would turn a close into a reset. */
void msd_tls_first_record_drop(int fd);

#endif

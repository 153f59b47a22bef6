#ifndef MSD_SUPERVISOR_TLS_PROTOCOL_SNIFF_H
#define MSD_SUPERVISOR_TLS_PROTOCOL_SNIFF_H

/* Detect clients that use another protocol on a TLS port. */

#include <stdbool.h>

#include "proto/base/diag.h"

/**
 * Peek at the first byte on the socket @fd. MSD_OK: it may be TLS. MSD_WAIT: no byte
 * has arrived. MSD_IO: the peer has disconnected. MSD_PROTOCOL: it is another
 * protocol, and the peer got an error in that protocol if it is known.
 */
MSD_MUST_CHECK msd_err msd_tls_sniff_protocol(int fd, struct msd_diag *d);

/*
 * Check that the first record of a handshake has arrived completely. OpenSSL's state
 * of 44 KiB is allocated only after that. A client that starts a thousand handshakes
 * with a few bytes each uses only kernel buffers.
 */

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

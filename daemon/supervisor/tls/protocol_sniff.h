#ifndef MSD_SUPERVISOR_TLS_PROTOCOL_SNIFF_H
#define MSD_SUPERVISOR_TLS_PROTOCOL_SNIFF_H
/* Detect clients that use another protocol on a TLS port. */
#include "proto/base/diag.h"

/**
 * Peek at the first byte on the socket @fd. MSD_OK: it may be TLS. MSD_WAIT: no byte
 * has arrived. MSD_IO: the peer has disconnected. MSD_PROTOCOL: it is another
 * protocol, and the peer got an error in that protocol if it is known.
 */
MSD_MUST_CHECK msd_err msd_tls_sniff_protocol(int fd, struct msd_diag *d);

#endif

#ifndef MSD_SUPERVISOR_TLS_STRANGER_H
#define MSD_SUPERVISOR_TLS_STRANGER_H
/* Who connects to a port that speaks TLS and does not speak it. */
#include "proto/diag.h"

/**
 * Look at the first byte that has come on the socket @fd, without taking it. MSD_OK: it
 * may be TLS. MSD_WAIT: nothing has come. MSD_IO: the peer is gone. MSD_PROTOCOL: it is
 * something else, and was told so in its own language if that is known.
 */
MSD_MUST_CHECK msd_err msd_tls_stranger_look(int fd, struct msd_diag *d);

#endif

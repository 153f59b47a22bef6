#ifndef MSD_CLIENT_PROTOCOL_SNIFF_H
#define MSD_CLIENT_PROTOCOL_SNIFF_H
/* Detects by the first bytes that a peer is not modserd. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/**
 * True if bytes that begin with @first are not a frame. False while there are too few
 * bytes to decide.
 */
bool msd_stranger_is(struct msd_span first);
/** Returns MSD_PROTOCOL, and names the likely kind of server in @d. */
MSD_MUST_CHECK msd_err msd_stranger_fail(struct msd_span first, struct msd_diag *d);

#endif

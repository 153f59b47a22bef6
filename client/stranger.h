#ifndef MSD_CLIENT_STRANGER_H
#define MSD_CLIENT_STRANGER_H
/* A peer that is not modserd, told by the first bytes that it sends. */
#include "proto/bytes.h"
#include "proto/diag.h"

/** Whether bytes that begin with @first are no frame. They may be few: false while it
 * cannot be told. */
bool msd_stranger_is(struct msd_span first);
/** MSD_PROTOCOL, with who it seems to be. */
MSD_MUST_CHECK msd_err msd_stranger_fail(struct msd_span first, struct msd_diag *d);

#endif

#ifndef MSD_SUPERVISOR_UPLOAD_FIND_H
#define MSD_SUPERVISOR_UPLOAD_FIND_H
/* module.upload find: a client need not send an artifact that the store has. */
#include "daemon/supervisor/edge/methods/method.h"

/**
 * Reply to the call later with an upload of the stored artifact with the digest
 * @sha256 of MSD_DIGEST_BYTES. Errors at once: MSD_UNSUPPORTED (no store), MSD_BUSY
 * (limits.max_uploads lookups of all clients run), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_upload_find_stored(struct msd_method_call *c,
					      struct msd_span sha256,
					      struct msd_diag *d);

#endif

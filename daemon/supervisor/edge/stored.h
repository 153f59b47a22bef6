#ifndef MSD_SUPERVISOR_STORED_H
#define MSD_SUPERVISOR_STORED_H
/* module.upload find: what the store has need not be sent. */
#include "daemon/supervisor/edge/method.h"

/** Answer the call, later, with an upload of what the store has under @sha256, of
 * MSD_DIGEST_BYTES. Errors at once: MSD_UNSUPPORTED (there is no store), MSD_BUSY
 * (limits.max_uploads of all clients are being looked for), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_stored_find(struct msd_method_call *c,
				       struct msd_span sha256, struct msd_diag *d);

#endif

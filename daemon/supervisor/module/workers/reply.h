#ifndef MSD_SUPERVISOR_REPLY_H
#define MSD_SUPERVISOR_REPLY_H
/* Forward a worker's response to the client. */
#include "daemon/supervisor/module/workers/process.h"
#include "daemon/supervisor/request/request.h"

/** True if the response carries a result, not an error. */
bool msd_reply_is_ok(const struct msd_in *in);
/** Store the response's error in @d; a malformed one is MSD_INTERNAL. */
void msd_reply_error(const struct msd_in *in, struct msd_diag *d);
/**
 * Forward @in to @r's client, or drop it if no client waits. Tensors in the worker's
 * out segments become inline tensors, written straight from there. Their slots are
 * released when the last byte is sent. False: the response breaks the protocol.
 */
MSD_MUST_CHECK bool msd_reply_forward(struct msd_req *r, struct msd_process *p,
				      struct msd_in *in, struct msd_diag *d);

#endif

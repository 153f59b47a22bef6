#ifndef MSD_SUPERVISOR_REPLY_H
#define MSD_SUPERVISOR_REPLY_H
/* A worker's response, on its way to the client. */
#include "daemon/supervisor/module/process.h"
#include "daemon/supervisor/request/request.h"

/** True when the response carries a result, not an error. */
bool msd_reply_is_ok(const struct msd_in *in);
/** The response's error as a diag; a malformed one is MSD_INTERNAL. */
void msd_reply_error(const struct msd_in *in, struct msd_diag *d);
/**
 * Forward @in to @r's client, or drop it when nobody waits. Tensors in the worker's out
 * segments become inline ones, written straight from there; the slots are given back
 * when the last byte is out. False when the response is not one a worker may give.
 */
MSD_MUST_CHECK bool msd_reply_forward(struct msd_req *r, struct msd_process *p,
				      struct msd_in *in, struct msd_diag *d);

#endif

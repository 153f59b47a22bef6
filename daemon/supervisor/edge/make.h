#ifndef MSD_SUPERVISOR_MAKE_H
#define MSD_SUPERVISOR_MAKE_H
/*
 * Requests that have a worker make an object, or work on one: tensor.alloc,
 * tensor.copy, tensor.fill, module.instance. What was made becomes the session's
 * (object.h).
 */
#include "daemon/supervisor/request/request.h"

/** Fill @r's module and params, and who takes the answer. Errors: MSD_BAD_REQUEST,
 * MSD_NOT_FOUND, MSD_STALE_HANDLE. */
MSD_MUST_CHECK msd_err msd_make_write(struct msd_req *r, struct msd_in *in,
				      struct msd_diag *d);

#endif

#ifndef MSD_SUPERVISOR_OBJECT_CREATE_H
#define MSD_SUPERVISOR_OBJECT_CREATE_H
/* Requests to a worker that create an object or use one: tensor.alloc, tensor.copy,
 * tensor.fill, module.instance, object.describe. A created object belongs to the
 * session (object.h). */
#include "daemon/supervisor/request/request.h"

/**
 * Set the module, the parameters and the response handler of @r. Errors:
 * MSD_BAD_REQUEST, MSD_NOT_FOUND, MSD_STALE_HANDLE.
 */
MSD_MUST_CHECK msd_err msd_object_create_write(struct msd_req *r, struct msd_in *in,
					       struct msd_diag *d);

#endif

#ifndef MSD_SUPERVISOR_REPLY_OBJECTS_H
#define MSD_SUPERVISOR_REPLY_OBJECTS_H
/*
 * Objects in the result of a worker's response. The client gets them all, with handles
 * of its own, or the worker frees them all.
 */
#include "daemon/supervisor/module/workers/process.h"
#include "daemon/supervisor/request/request.h"

/**
 * Give the objects in the result of @in to the client of @r, and write the client's
 * handles into @result, a copy of the result. Errors: MSD_UNSUPPORTED, if the client
 * takes no objects or maps; those of msd_client_ops.take_objects; MSD_PROTOCOL.
 */
MSD_MUST_CHECK msd_err msd_reply_objects_give(struct msd_req *r,
					      const struct msd_in *in, uint8_t *result,
					      struct msd_diag *d);
/**
 * No client gets the objects in the result of @in: @p frees them. Errors:
 * MSD_PROTOCOL.
 */
MSD_MUST_CHECK msd_err msd_reply_objects_free(struct msd_process *p,
					      const struct msd_in *in,
					      struct msd_diag *d);

#endif

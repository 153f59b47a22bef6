#ifndef MSD_SUPERVISOR_CALL_H
#define MSD_SUPERVISOR_CALL_H
/*
 * From a client's `call` to a request that a worker understands: the target resolved to
 * "module:function", inline tensors moved to the module's in segments, handles of
 * resident tensors replaced by the worker's.
 */
#include "daemon/supervisor/edge/session.h"

/**
 * Prepare the request of @in's body. *@ret belongs to the session and to its module's
 * `receiving` list; @in's payload (if any) goes to (*ret)->slot once msd_call_place()
 * found room. On failure nothing is left.
 */
MSD_MUST_CHECK msd_err msd_call_prepare(struct msd_session *s, struct msd_in *in,
					enum msd_method method, struct msd_req **ret,
					struct msd_diag *d);
/**
 * Reserve memory for arguments and declared outputs together, and point the arguments
 * there. MSD_WAIT: no room now, ask again when others are done. Other errors are final.
 */
MSD_MUST_CHECK msd_err msd_call_place(struct msd_session *s, struct msd_req *r,
				      uint64_t payload_bytes, struct msd_diag *d);
/** Reserve again what msd_req_reduce() has given back of @r, whose payload has come as
 * far as @came_bytes: its slot may be another one then. Errors as msd_call_place(). */
MSD_MUST_CHECK msd_err msd_call_restore(struct msd_session *s, struct msd_req *r,
					uint64_t payload_bytes, uint64_t came_bytes,
					struct msd_diag *d);
/** It was prepared, and is refused with @err, which its client is told by the caller.
 */
void msd_call_drop(struct msd_req *r, msd_err err);
/** Everything has come: to the module's queue. Takes @r. */
void msd_call_submit(struct msd_req *r);

#endif

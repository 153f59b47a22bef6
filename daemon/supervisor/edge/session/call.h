#ifndef MSD_SUPERVISOR_CALL_H
#define MSD_SUPERVISOR_CALL_H
/*
 * Converts a client's `call` to a request that a worker understands: the target
 * becomes "module:function", inline tensors move to the module's input segments, and
 * handles of resident tensors become the worker's handles.
 */
#include "daemon/supervisor/edge/session/session.h"

/**
 * Prepare the request in the body of @in. *@ret belongs to the session and is in its
 * module's `receiving` list. The payload of @in, if any, goes to (*ret)->slot after
 * msd_call_reserve() found room. On failure no request is left.
 */
MSD_MUST_CHECK msd_err msd_call_prepare(struct msd_session *s, struct msd_in *in,
					enum msd_method method, struct msd_req **ret,
					struct msd_diag *d);
/* A call that the frontend has written itself, so that none of it is read again. Its
 * tensors are listed in msd_session.inlines. */
struct msd_call_made {
	uint64_t id;
	struct msd_module *module;
	struct msd_span function; /* named by the module's facts */
	struct msd_buf *params;   /* taken */
	uint64_t payload_bytes;
	uint64_t out_bytes; /* of declared outputs */
	bool has_deadline;
	uint64_t deadline_ms;
};

/** Like msd_call_prepare(), for @made. */
MSD_MUST_CHECK msd_err msd_call_prepare_made(struct msd_session *s,
					     struct msd_call_made *made,
					     struct msd_req **ret, struct msd_diag *d);
/**
 * Reserve memory for arguments and declared outputs together, and point the arguments
 * there. MSD_WAIT: no room now; call again when other requests are done. Other errors
 * are final.
 */
MSD_MUST_CHECK msd_err msd_call_reserve(struct msd_session *s, struct msd_req *r,
					uint64_t payload_bytes, struct msd_diag *d);
/**
 * Reserve again the memory that msd_req_reduce() released from @r. @came_bytes of its
 * payload have been received. Its slot may move. Errors: those of msd_call_reserve().
 */
MSD_MUST_CHECK msd_err msd_call_restore(struct msd_session *s, struct msd_req *r,
					uint64_t payload_bytes, uint64_t came_bytes,
					struct msd_diag *d);
/** Drop a prepared request with the error @err. The caller tells the client. */
void msd_call_drop(struct msd_req *r, msd_err err);
/** The payload is complete: put @r into the module's queue. Takes @r. */
void msd_call_submit(struct msd_req *r);

#endif

#ifndef MSD_SUPERVISOR_REQUEST_TARGET_H
#define MSD_SUPERVISOR_REQUEST_TARGET_H
/* Reads the target of a request from its body before the request starts: the module
 * and the function that the authorization check needs. */
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/rights/acl.h"

/**
 * Read the target of a request for @method. It borrows from the body or from the
 * session's handles. The target is empty if the method takes no name or the handle is
 * stale; the handler then rejects the request. Errors: MSD_BAD_REQUEST (a required
 * name is missing).
 */
MSD_MUST_CHECK msd_err msd_request_target_read(struct msd_session *s,
					       const struct msd_in *in,
					       enum msd_method method,
					       struct msd_acl_target *ret,
					       struct msd_diag *d);
/** True if a request for @method names a module. */
bool msd_request_target_has_name(enum msd_method method);

#endif

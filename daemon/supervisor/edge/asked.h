#ifndef MSD_SUPERVISOR_ASKED_H
#define MSD_SUPERVISOR_ASKED_H
/* What a request is for, read from its body before anything is done for it: the module
 * and the function that rights are asked for. */
#include "daemon/supervisor/edge/session.h"
#include "daemon/supervisor/rights/acl.h"

/**
 * The target of a request for @method, borrowed from the body or from the session's
 * handles. Of a method that names none, and of a handle that is stale, it is empty: who
 * handles that refuses it. Errors: MSD_BAD_REQUEST: there has to be a name, and is not.
 */
MSD_MUST_CHECK msd_err msd_asked_read(struct msd_session *s, const struct msd_in *in,
				      enum msd_method method,
				      struct msd_acl_target *ret, struct msd_diag *d);
/** Does a request for it name a module? */
bool msd_asked_has_name(enum msd_method method);

#endif

#ifndef MSD_SUPERVISOR_DENIED_H
#define MSD_SUPERVISOR_DENIED_H
/* Handles a request that was rejected for a missing right, for all protocols: it is
 * counted, kept for the operator (rights/denials.h) and logged at a bounded rate. */
#include "daemon/supervisor/edge/session/session.h"

/**
 * Record that @s with the grant @g was denied @method on @target. Only with an ACL
 * file.
 */
void msd_denied_note(struct msd_session *s, const struct msd_grant *g,
		     enum msd_method method, const struct msd_acl_target *target);

#endif

#ifndef MSD_SUPERVISOR_DENIED_H
#define MSD_SUPERVISOR_DENIED_H
/*
 * What becomes of the knowledge that a request was refused for want of a right, by
 * whatever protocol it came: counted and kept for the operator (rights/denials.h), and
 * told to the log at a bounded rate.
 */
#include "daemon/supervisor/edge/session.h"

/** @s, who has @g, was refused @method of @target. With a file of rights only. */
void msd_denied_note(struct msd_session *s, const struct msd_grant *g,
		     enum msd_method method, const struct msd_acl_target *target);

#endif

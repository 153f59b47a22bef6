#ifndef MSD_SUPERVISOR_AUDIT_H
#define MSD_SUPERVISOR_AUDIT_H
/* Who has changed what for others, as lines of the log at a bounded rate: modules that
 * come and go, the configuration. */
#include "daemon/supervisor/edge/session.h"
#include "daemon/wire/conn.h"
#include "proto/method.h"

/** @s may ask for @method with the parameters of @in, and does. */
void msd_audit(struct msd_session *s, const struct msd_in *in, enum msd_method method);

#endif

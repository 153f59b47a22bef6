#ifndef MSD_SUPERVISOR_METHODS_H
#define MSD_SUPERVISOR_METHODS_H
/* The table of the methods that the supervisor answers itself. */
#include "daemon/supervisor/edge/session/session.h"

/** Run an authorized request, or a cancel, that is not forwarded to a worker. */
void msd_method_run(struct msd_session *s, struct msd_in *in, enum msd_method method);

#endif

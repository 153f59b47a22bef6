#ifndef MSD_SUPERVISOR_SANDBOX_FIGURE_H
#define MSD_SUPERVISOR_SANDBOX_FIGURE_H
/* The sandbox entry of server.info. */
#include "daemon/supervisor/edge/edge.h"

/**
 * Append the kernel's sandbox features, the daemon's profile, and the paths that
 * modules may read. The data is from a worker and from the daemon's options. nil if
 * no worker could report it.
 */
void msd_sandbox_figure_put(const struct msd_edge *e, struct msd_buf *b);

#endif

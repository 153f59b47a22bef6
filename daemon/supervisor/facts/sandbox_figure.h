#ifndef MSD_SUPERVISOR_SANDBOX_FIGURE_H
#define MSD_SUPERVISOR_SANDBOX_FIGURE_H
/* What server.info says of sandboxes. */
#include "daemon/supervisor/edge/edge.h"

/** Append what workers have of the kernel for it, the daemon's profile, and what
 * modules may read: by the worker's own word and by the daemon's options. nil when no
 * worker could be asked. */
void msd_sandbox_figure_put(const struct msd_edge *e, struct msd_buf *b);

#endif

#ifndef MSD_SUPERVISOR_MODULE_METRICS_H
#define MSD_SUPERVISOR_MODULE_METRICS_H
/* What the metrics tell of the modules, by their names. */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/facts/exposition.h"

/** All families of modules; of those that @view lets through, NULL: all. */
void msd_module_metrics_put(struct msd_exposition *x, const struct msd_edge *e,
			    const struct msd_view *view);

#endif

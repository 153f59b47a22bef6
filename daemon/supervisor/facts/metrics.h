#ifndef MSD_SUPERVISOR_METRICS_H
#define MSD_SUPERVISOR_METRICS_H
/*
 * What a scrape of Prometheus gets of the daemon and its modules, for every front that
 * can be asked for it.
 */
#include "daemon/supervisor/edge/edge.h"

#define MSD_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define MSD_METRICS_TYPE_OPEN                                                          \
	"application/openmetrics-text; version=1.0.0; charset=utf-8"

/** Append the whole exposition, as of now: version 0.0.4, or OpenMetrics; of modules
 * those that @view lets through, NULL: all. Out of memory is `bad` of @out. On the
 * loop's thread; nothing waits. */
void msd_metrics_write(struct msd_edge *e, const struct msd_view *view,
		       struct msd_buf *out, bool is_openmetrics);

#endif

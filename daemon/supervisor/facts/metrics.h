#ifndef MSD_SUPERVISOR_METRICS_H
#define MSD_SUPERVISOR_METRICS_H
/* The text of a Prometheus scrape, with the metrics of the daemon and its modules,
 * for each frontend. */
#include "daemon/supervisor/facts/module_metrics.h"

#define MSD_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define MSD_METRICS_TYPE_OPEN                                                          \
	"application/openmetrics-text; version=1.0.0; charset=utf-8"
#define MSD_METRICS_PIECE (128u * 1024u) /* bytes: about 150 us */
#define MSD_METRICS_ATTEMPTS 8u

/* Position in the exposition. All zeros: not started. */
struct msd_metrics_at {
	struct msd_module_metrics_at modules;
	bool has_begun;
	uint64_t generation; /* the module registry's, at the start */
	size_t before_bytes; /* bytes of the caller, at the start of the buffer */
	unsigned n_begun;    /* number of restarts */
};

/**
 * Append the exposition from @at on to @out, with current values: version 0.0.4, or
 * OpenMetrics. @view selects the modules; NULL: all. Returns true if it is complete.
 * Returns false after about MSD_METRICS_PIECE bytes, so that the loop can serve other
 * requests. If a module was added or removed in between, it starts again, so that no
 * sample is duplicated. After MSD_METRICS_ATTEMPTS restarts it writes everything at
 * once. Out of memory sets `bad` of @out. Call it on the loop's thread; it does not
 * wait.
 */
bool msd_metrics_go_on(struct msd_edge *e, const struct msd_view *view,
		       struct msd_metrics_at *at, struct msd_buf *out,
		       bool is_openmetrics);

#endif

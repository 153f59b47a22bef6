#ifndef MSD_SUPERVISOR_METRICS_H
#define MSD_SUPERVISOR_METRICS_H
/*
 * What a scrape of Prometheus gets of the daemon and its modules, for every front that
 * can be asked for it.
 */
#include "daemon/supervisor/facts/module_metrics.h"

#define MSD_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define MSD_METRICS_TYPE_OPEN                                                          \
	"application/openmetrics-text; version=1.0.0; charset=utf-8"
#define MSD_METRICS_PIECE (128u * 1024u) /* bytes: some 150 us */
#define MSD_METRICS_ATTEMPTS 8u

/* How far it is written. All zeros: it has not begun. */
struct msd_metrics_at {
	struct msd_module_metrics_at modules;
	bool has_begun;
	uint64_t generation; /* of the house, when it had */
	size_t before_bytes; /* of the caller's, at the beginning of the buffer */
	unsigned n_begun;    /* how often it was written anew */
};

/** Append the exposition from @at on to @out as of now: version 0.0.4, or OpenMetrics;
 * of modules those that @view lets through, NULL: all. True: it is whole; false: some
 * MSD_METRICS_PIECE bytes more are there, and others may be served. When a module came
 * or went meanwhile all is written anew, so that no sample is told twice; after
 * MSD_METRICS_ATTEMPTS of that at once. Out of memory is `bad` of @out. On the loop's
 * thread; nothing waits. */
bool msd_metrics_go_on(struct msd_edge *e, const struct msd_view *view,
		       struct msd_metrics_at *at, struct msd_buf *out,
		       bool is_openmetrics);

#endif

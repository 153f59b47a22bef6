#ifndef MSD_SUPERVISOR_FIGURES_H
#define MSD_SUPERVISOR_FIGURES_H

/*
 * Figures about the daemon as a whole: one row each, for server.info and the metrics.
 * A row has a key, or the name of a family, or both. It is a number, or it has a @put
 * function and a key only.
 */

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/facts/exposition.h"

struct msd_figure {
	const char *key; /* of server.info; NULL: not in server.info */
	uint64_t (*read)(const struct msd_edge *e);
	/** Append a value that is not a number; @read is NULL then. */
	void (*put)(struct msd_edge *e, const struct msd_figure *f, struct msd_buf *b);
	struct msd_family family; /* no name: not in the metrics */
};

struct msd_figures {
	const struct msd_figure *row;
	size_t n;
};

/** About the daemon, in the order of server.info. */
extern const struct msd_figures msd_figures_daemon;
/** Resources held by all connections: the map `held`. */
extern const struct msd_figures msd_figures_held;
/** About the HTTP frontend, if enabled: the map `http`. */
extern const struct msd_figures msd_figures_http;
/** About sessions of TVM's RPC, if enabled: the map `tvm_rpc`. */
extern const struct msd_figures msd_figures_rpc;
/** Append the reply of server.info. */
void msd_figures_put_info(struct msd_edge *e, struct msd_buf *ret);

/* The sandbox entry of server.info. */

/**
 * Append the kernel's sandbox features, the daemon's profile, and the paths that
 * modules may read. The data is from a worker and from the daemon's options. nil if
 * no worker could report it.
 */
void msd_sandbox_figure_put(const struct msd_edge *e, struct msd_buf *b);

#endif

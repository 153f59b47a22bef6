#ifndef MSD_SUPERVISOR_FIGURES_H
#define MSD_SUPERVISOR_FIGURES_H
/*
 * The facts about the daemon as a whole: a row each, of which server.info and the
 * metrics are made. A row has a key, or the name of a family, or both; it is a number,
 * or it is put as what it is and has a key alone.
 */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/facts/exposition.h"

struct msd_figure {
	const char *key; /* of server.info; NULL: it does not tell of it */
	uint64_t (*read)(const struct msd_edge *e);
	/** What is not a number; then @read is NULL. */
	void (*put)(struct msd_edge *e, const struct msd_figure *f, struct msd_buf *b);
	struct msd_family family; /* without a name: the metrics do not tell of it */
};

struct msd_figures {
	const struct msd_figure *row;
	size_t n;
};

/** About the daemon, in the order in which server.info tells them. */
extern const struct msd_figures msd_figures_daemon;
/** What all connections hold: its `held`. */
extern const struct msd_figures msd_figures_held;
/** Of the HTTP front, where there is one: its `http`. */
extern const struct msd_figures msd_figures_http;
/** Append the answer of server.info. */
void msd_figures_put_info(struct msd_edge *e, struct msd_buf *ret);

#endif

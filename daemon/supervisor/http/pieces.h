#ifndef MSD_SUPERVISOR_PIECES_H
#define MSD_SUPERVISOR_PIECES_H
/* A reply about all modules: if it is longer than a chunk, it is written in several
 * loop iterations, so that other clients are served in between. */
#include "daemon/supervisor/facts/metrics.h"
#include "daemon/supervisor/http/asking.h"
#include "daemon/supervisor/http/roll.h"

/* Position in the reply; each kind has its own. All zeros: not started. */
struct msd_pieces_at {
	struct msd_metrics_at metrics;
	bool is_openmetrics;
	struct msd_roll_at roll;
};

/** Append the next chunk to the body of @a; returns true if it is complete. */
typedef bool msd_pieces_make(struct msd_asking *a, struct msd_pieces_at *at);

/** Answer @a, whose head is set, with the output of @make from @at on. */
void msd_pieces_begin(struct msd_asking *a, msd_pieces_make *make,
		      struct msd_pieces_at at);
/** The same for a list of modules; @ready_only: only modules that serve. */
void msd_pieces_roll(struct msd_asking *a, const struct msd_roll *roll,
		     bool ready_only);
/** Stop writing, if it is in progress: the client is gone. */
void msd_pieces_end(struct msd_caller *c);

#endif

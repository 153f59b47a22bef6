#ifndef MSD_SUPERVISOR_PIECES_H
#define MSD_SUPERVISOR_PIECES_H
/* An answer about all modules: what is more than a piece is made in turns of the loop,
 * between which others are served. */
#include "daemon/supervisor/facts/metrics.h"
#include "daemon/supervisor/http/asking.h"
#include "daemon/supervisor/http/roll.h"

/* How far it is made: each kind has its own. All zeros: it is not begun. */
struct msd_pieces_at {
	struct msd_metrics_at metrics;
	bool is_openmetrics;
	struct msd_roll_at roll;
};

/** Append the next piece to the body of @a; true: it is whole. */
typedef bool msd_pieces_make(struct msd_asking *a, struct msd_pieces_at *at);

/** Answer @a, whose head is there, with what @make makes from @at on. */
void msd_pieces_begin(struct msd_asking *a, msd_pieces_make *make,
		      struct msd_pieces_at at);
/** The same of a list of modules; @ready_only: of those that serve. */
void msd_pieces_roll(struct msd_asking *a, const struct msd_roll *roll,
		     bool ready_only);
/** Nobody waits for it any more, if it is on. */
void msd_pieces_end(struct msd_caller *c);

#endif

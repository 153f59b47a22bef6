#ifndef MSD_SUPERVISOR_CHUNKED_ANSWER_H
#define MSD_SUPERVISOR_CHUNKED_ANSWER_H
/* A reply about all modules: if it is longer than a chunk, it is written by a task,
 * so that other clients are served in between. */
#include "daemon/supervisor/facts/metrics.h"
#include "daemon/supervisor/http/exchange.h"
#include "daemon/supervisor/http/page/module_listing.h"

/* Position in the reply; each kind has its own. All zeros: not started. */
struct msd_chunked_answer_position {
	struct msd_metrics_at metrics;
	bool is_openmetrics;
	struct msd_module_listing_position roll;
};

/** Append the next chunk to the body of @a; returns true if it is complete. */
typedef bool msd_chunked_answer_make(struct msd_http_exchange *a,
				     struct msd_chunked_answer_position *at);

/** Answer @a, whose head is set, with the output of @make from @at on. */
void msd_chunked_answer_begin(struct msd_http_exchange *a,
			      msd_chunked_answer_make *make,
			      struct msd_chunked_answer_position at);
/** The same for a list of modules; @ready_only: only modules that serve. */
void msd_chunked_answer_roll(struct msd_http_exchange *a,
			     const struct msd_module_listing *roll, bool ready_only);
/** Stop writing, if it is in progress: the client is gone. */
void msd_chunked_answer_end(struct msd_http_session *c);

#endif

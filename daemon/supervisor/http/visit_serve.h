#ifndef MSD_SUPERVISOR_VISIT_SERVE_H
#define MSD_SUPERVISOR_VISIT_SERVE_H
/* The requests of an HTTP connection, and their replies, which are appended to its
 * `out`. */
#include "daemon/supervisor/http/visit_state.h"
#include "proto/bytes.h"

/** Serve @in within its share of the loop iteration; the unserved rest stays in @in. */
void msd_visit_serve(struct msd_visit *v, struct msd_span *in);
/** The deferred reply is ready. */
void msd_visit_answer_later(struct msd_visit *v);
/** The call of its request has taken the available part of the body. */
void msd_visit_settle_body(struct msd_visit *v);
/** Read no more requests; replies are still written. */
void msd_visit_end_requests(struct msd_visit *v);

#endif

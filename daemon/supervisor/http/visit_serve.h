#ifndef MSD_SUPERVISOR_VISIT_SERVE_H
#define MSD_SUPERVISOR_VISIT_SERVE_H
/* The requests of a visit, and their answers, which go to its `out`. */
#include "daemon/supervisor/http/visit_state.h"
#include "proto/bytes.h"

/** Serve @in as far as the turn goes; what is left of it stays in it. */
void msd_visit_serve(struct msd_visit *v, struct msd_span *in);
/** The answer that was to come later is there. */
void msd_visit_answer_later(struct msd_visit *v);
/** The call of its request has what it wants of the body that is there. */
void msd_visit_settle_body(struct msd_visit *v);
/** Nothing more is read; what is answered is still written. */
void msd_visit_end_requests(struct msd_visit *v);

#endif

#ifndef MSD_RUNTIME_PLAN_TIMED_H
#define MSD_RUNTIME_PLAN_TIMED_H
/* Timed runs of a plan. */
#include "proto/base/diag.h"

struct msd_clock;
struct msd_plan;

/**
 * Start a clock of the next runs of @plan; msd_plan_clock_stop() stops and returns it.
 * The caller frees it with free(). Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_plan_clock_start(struct msd_plan *plan, struct msd_diag *d);
/** NULL: none was started. */
struct msd_clock *msd_plan_clock_stop(struct msd_plan *plan);

#endif

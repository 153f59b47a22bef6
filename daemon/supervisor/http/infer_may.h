#ifndef MSD_SUPERVISOR_INFER_MAY_H
#define MSD_SUPERVISOR_INFER_MAY_H
/* Who may make a call by `infer`, and how one that is refused is counted. */
#include "daemon/supervisor/http/caller.h"

struct msd_infer;

/** As for any call, before anything is done for it; whether the model is there or not,
 * who may not is told the same. False: it was answered. */
bool msd_infer_may_call(struct msd_asking *a);
/** Its user may ask for so much in a second. False: it was answered. */
bool msd_infer_may_spend(struct msd_asking *a, const struct msd_infer *i);
/** A call of the model of @a, which may be none, is answered with @err before it is a
 * request. */
void msd_infer_count_refused(struct msd_asking *a, msd_err err);

#endif

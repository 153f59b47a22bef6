#ifndef MSD_SUPERVISOR_INFER_RIGHTS_H
#define MSD_SUPERVISOR_INFER_RIGHTS_H
/* Authorization of calls by `infer`, and accounting of rejected calls. */
#include "daemon/supervisor/http/http_session.h"

struct msd_infer;

/**
 * Authorize the call before any work is done for it. A client without the right gets
 * the same reply whether the model exists or not. Returns false if it was answered
 * with an error.
 */
bool msd_infer_rights_call(struct msd_http_exchange *a);
/** Check the user's rate limit. Returns false if it was answered with an error. */
bool msd_infer_rights_spend(struct msd_http_exchange *a, const struct msd_infer *i);
/**
 * Count a call of the model of @a, which may not exist, that is answered with @err
 * before it becomes a request.
 */
void msd_infer_count_refused(struct msd_http_exchange *a, msd_err err);

#endif

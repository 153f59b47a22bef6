#ifndef MSD_SUPERVISOR_VISIT_BODY_H
#define MSD_SUPERVISOR_VISIT_BODY_H
/* How large the body of a visit's request may be, and whether a part of it is looked at
 * before the rest has come. */
#include "daemon/supervisor/http/visit_state.h"

/** Its reader has a head: say how much may follow. */
void msd_visit_bound_body(struct msd_visit *v);
/** Write to @ret why its body is refused: the limit, and how more can be sent. */
void msd_visit_say_bound(const struct msd_visit *v, char *ret, size_t n);

#endif

#ifndef MSD_FETCH_SOURCE_CHECK_H
#define MSD_FETCH_SOURCE_CHECK_H
/* Whether anything could be pulled from a source, without asking it. */
#include "proto/diag.h"
#include "store/trust.h"

/** What a pull of @uri would refuse before it asks anybody. @insecure: plain http to
 * other machines is allowed. MSD_BAD_REQUEST, MSD_REFUSED, MSD_NOT_VERIFIED (the policy
 * is "digest", and nothing is promised), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_source_check(const char *uri, enum msd_policy policy,
					bool insecure, struct msd_diag *d);

#endif

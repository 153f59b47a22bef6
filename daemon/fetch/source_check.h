#ifndef MSD_FETCH_SOURCE_CHECK_H
#define MSD_FETCH_SOURCE_CHECK_H
/* Check a source's URI and policy without contacting it. */
#include "proto/base/diag.h"
#include "store/trust.h"

/**
 * Return the errors of a pull of @uri that need no network. @insecure allows plain
 * http to other machines. MSD_BAD_REQUEST, MSD_REFUSED, MSD_NOT_VERIFIED (the policy
 * is "digest", and @uri has no digest), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_source_check(const char *uri, enum msd_policy policy,
					bool insecure, struct msd_diag *d);

#endif

#ifndef MSD_CLIENT_CAUSE_H
#define MSD_CLIENT_CAUSE_H
/* Explains why a connection failed, with advice. The same errno can mean a daemon
 * that was never started, a daemon that exited, or another user's daemon. */
#include "proto/address.h"
#include "proto/base/diag.h"

#define MSD_HINT_MAX 512u

/**
 * Describe in @d and @ret_hint why the connection to @a failed with @error, an errno.
 * Checks the file system. Returns MSD_DEADLINE or MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_cause_of(const struct msd_address *a, int error,
				    char ret_hint[static MSD_HINT_MAX],
				    struct msd_diag *d);
/** The same for a host name that did not resolve; @failed is getaddrinfo()'s code. */
MSD_MUST_CHECK msd_err msd_cause_of_name(const struct msd_address *a, int failed,
					 char ret_hint[static MSD_HINT_MAX],
					 struct msd_diag *d);

#endif

#ifndef MSD_CLIENT_CAUSE_H
#define MSD_CLIENT_CAUSE_H
/*
 * Why there is no connection, and what to do about it: the same errno means a daemon
 * that was never started, one that has ended, or one that is another user's.
 */
#include "proto/address.h"
#include "proto/diag.h"

#define MSD_HINT_MAX 512u

/** Say in @d and @ret_hint why connecting to @a has failed with @error, an errno. Looks
 * at what the file system has there. Returns MSD_DEADLINE or MSD_IO. */
MSD_MUST_CHECK msd_err msd_cause_of(const struct msd_address *a, int error,
				    char ret_hint[static MSD_HINT_MAX],
				    struct msd_diag *d);
/** Likewise of a host whose name is not known, @failed being getaddrinfo()'s. */
MSD_MUST_CHECK msd_err msd_cause_of_name(const struct msd_address *a, int failed,
					 char ret_hint[static MSD_HINT_MAX],
					 struct msd_diag *d);

#endif

#ifndef MSD_CLIENT_CONNECT_H
#define MSD_CLIENT_CONNECT_H
/* Creates a client from one address: connect.c. */
#include "client/cause.h"
#include "client/modser.h"

/**
 * Connect to @a until @deadline_ns; UINT64_MAX: no bound. On failure @hint may
 * contain advice.
 */
MSD_MUST_CHECK msd_err msd_client_connect(const struct msd_address *a,
					  uint64_t deadline_ns, modser_client **ret,
					  char hint[static MSD_HINT_MAX],
					  struct msd_diag *d);

#endif

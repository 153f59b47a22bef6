#ifndef MSD_CLIENT_CONNECT_H
#define MSD_CLIENT_CONNECT_H
/* From one address to a client: connect.c. */
#include "client/cause.h"
#include "client/modser.h"

/** Connect to @a until @deadline_ns; UINT64_MAX: no bound. On failure @hint may say
 * what to do. */
MSD_MUST_CHECK msd_err msd_client_connect(const struct msd_address *a,
					  uint64_t deadline_ns, modser_client **ret,
					  char hint[static MSD_HINT_MAX],
					  struct msd_diag *d);

#endif

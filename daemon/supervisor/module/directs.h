#ifndef MSD_SUPERVISOR_DIRECTS_H
#define MSD_SUPERVISOR_DIRECTS_H
/* Clients' channels (direct.h) of all modules. */
#include "daemon/supervisor/module/house.h"
#include "proto/diag.h"

/** Take them back. */
void msd_directs_end(struct msd_house *house);
/** The same, and none is given for a while: somebody wants to see each call. */
void msd_directs_hold_off(struct msd_house *house);
/**
 * Whether what the requests of one more may hold, that of @who, leaves room for others:
 * half of the tensor bytes of all requests is the channels' together, and half of that
 * one user's. Errors: MSD_BUSY.
 */
MSD_MUST_CHECK msd_err msd_directs_check_bytes(const struct msd_house *house,
					       struct msd_peer_id who,
					       struct msd_diag *d);
/** Count what workers have told of their calls since the last time. */
void msd_directs_count(struct msd_house *house);

#endif

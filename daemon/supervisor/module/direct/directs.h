#ifndef MSD_SUPERVISOR_DIRECTS_H
#define MSD_SUPERVISOR_DIRECTS_H
/* Direct channels (direct.h) of all modules. */
#include "daemon/supervisor/module/life/registry.h"
#include "proto/base/diag.h"

/** Take all channels back. */
void msd_directs_end(struct msd_module_registry *registry);
/** Take all channels back, and give none for a while: a client watches single calls. */
void msd_directs_hold_off(struct msd_module_registry *registry);
/**
 * Check that the requests of one more channel, for @who, leave room for other
 * requests. All channels together may hold half of the tensor bytes of all requests,
 * and one user half of that. Errors: MSD_BUSY.
 */
MSD_MUST_CHECK msd_err
msd_directs_check_bytes(const struct msd_module_registry *registry,
			struct msd_peer_id who, struct msd_diag *d);
/** Count the calls that workers have reported since the last time. */
void msd_directs_count(struct msd_module_registry *registry);

#endif

#ifndef MSD_RPC_SESSION_ARRAYS_H
#define MSD_RPC_SESSION_ARRAYS_H
/* Arrays of a client: memory of the host or of a device, and copies between it and the
 * client. */
#include "daemon/rpc_session/session.h"

/**
 * Allocate @bytes, and add them. Errors: MSD_NOMEM (also over the limit of the
 * session), msd_rpc_devices_reach(), msd_rpc_table_add().
 */
MSD_MUST_CHECK msd_err msd_rpc_arrays_alloc(struct msd_rpc_session *s,
					    struct msd_device device, uint64_t bytes,
					    uint64_t *ret, struct msd_diag *d);
/** Copy between two arrays. Errors: msd_rpc_table_reach(), those of the devices. */
MSD_MUST_CHECK msd_err msd_rpc_arrays_copy(struct msd_rpc_session *s,
					   const struct msd_rpc_tensor *from,
					   const struct msd_rpc_tensor *to,
					   struct msd_diag *d);
/**
 * Read the data of the COPY_TO @p from the client. Errors: as copy, MSD_NOMEM; MSD_IO
 * with an empty @d: the client has gone.
 */
MSD_MUST_CHECK msd_err msd_rpc_arrays_take(struct msd_rpc_session *s,
					   const struct msd_rpc_packet *p,
					   struct msd_diag *d);
/** Answer the COPY_FROM @p. Errors: as take. */
MSD_MUST_CHECK msd_err msd_rpc_arrays_send(struct msd_rpc_session *s,
					   const struct msd_rpc_packet *p,
					   struct msd_diag *d);

#endif
